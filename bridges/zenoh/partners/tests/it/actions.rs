//! Tests of an action whose client and server are in different networks. Gantry has no actions: the action's services
//! and topics cross two bridges of one domain.

use crate::{
    messages::bridge,
    support::{Bridge, in_host},
    with_hiroz, with_ros2_client,
};
use hiroz::{Builder, action::server::ExecutingGoal};
use hiroz_msgs::action_tutorials_interfaces::{FibonacciFeedback, FibonacciGoal, FibonacciResult, action::Fibonacci};
use ros2_client::{
    ActionTypeName, RmwRequestId,
    action_msgs::{GoalInfo, GoalStatus, GoalStatusEnum},
    builtin_interfaces::Time,
    zenoh::{ActionServer, GoalId},
};
use serde::{Deserialize, Serialize};
use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
    time::Duration,
};
use test_support::{PATIENCE, eventually};

const ORDER: i32 = 8;
const SEQUENCE: [i32; 9] = [0, 1, 1, 2, 3, 5, 8, 13, 21];

#[derive(Clone, Serialize, Deserialize)]
struct Goal {
    order: i32,
}

/// The type of the result and of the feedback.
#[derive(Clone, Serialize, Deserialize)]
struct Sequence {
    sequence: Vec<i32>,
}

fn fibonacci() -> ActionTypeName {
    ActionTypeName::new("action_tutorials_interfaces", "Fibonacci")
}

/// Checks that each step arrived once and in order. The first step may arrive several times.
fn check_feedback(feedback: &[Vec<i32>]) {
    let later: Vec<_> = feedback.iter().skip_while(|step| **step == SEQUENCE[..2]).cloned().collect();
    assert_eq!(later, steps().skip(1).collect::<Vec<_>>());
}

/// Starts a bridge to each of two networks in the test's host. With `--hub`, each bridge shows its network the nodes of
/// the other network.
fn bridges() -> [(Bridge, u16); 2] {
    ["one", "two"].map(|network| bridge(&["--hub", "--network", network]))
}

/// True if the client has received feedback. Until then, the server repeats the first feedback: a VOLATILE sample is
/// lost before both bridges have seen the client's subscription.
static HAS_FEEDBACK: AtomicBool = AtomicBool::new(false);

/// The time between two repetitions of the first feedback.
const PERIOD: Duration = Duration::from_millis(10);

/// The sequence after each step.
fn steps() -> impl Iterator<Item = Vec<i32>> {
    (2..=SEQUENCE.len()).map(|length| SEQUENCE[..length].to_vec())
}

#[test]
fn a_client_of_ros2_client_uses_a_server_of_hiroz() {
    in_host("actions::a_client_of_ros2_client_uses_a_server_of_hiroz", |_| {
        let [(_one, one), (_two, two)] = bridges();
        let runtime = with_hiroz::runtime();
        let context = with_hiroz::context(one);
        let node = context.create_node("server").build().unwrap();
        let _server = runtime.block_on(async {
            let server = node.create_action_server::<Fibonacci>("/fibonacci").build().unwrap();
            server.with_handler(|goal: ExecutingGoal<Fibonacci>| async move {
                assert_eq!(goal.goal.order, ORDER);
                let publish = |partial_sequence| goal.publish_feedback(FibonacciFeedback { partial_sequence }).unwrap();
                while !HAS_FEEDBACK.load(SeqCst) {
                    steps().take(1).for_each(publish);
                    tokio::time::sleep(PERIOD).await;
                }
                steps().skip(1).for_each(publish);
                goal.succeed(FibonacciResult { sequence: SEQUENCE.to_vec() }).unwrap();
            })
        });

        let far = with_ros2_client::context(two);
        let far_node = with_ros2_client::far_node(&far, "client");
        let client = far_node
            .create_action_client::<Goal, Sequence, Sequence>(&with_ros2_client::name("fibonacci"), &fibonacci())
            .unwrap();
        with_ros2_client::expect_node(&far, "/server");
        eventually("the feedback comes over both bridges", || far.publisher_count("/fibonacci/_action/feedback") == 1);
        // `send_goal` fails at once if no server is there yet, so the call is repeated.
        let mut accepted = None;
        eventually("the server accepts the goal", || {
            accepted = client.send_goal(Goal { order: ORDER }).ok();
            accepted.is_some()
        });
        let (goal_id, is_accepted) = accepted.unwrap();
        assert!(is_accepted);
        let mut feedback = Vec::new();
        eventually("all feedback", || {
            while let Some((of_goal, step)) = client.take_feedback() {
                assert_eq!(of_goal, goal_id);
                HAS_FEEDBACK.store(true, SeqCst);
                feedback.push(step.sequence);
            }
            feedback.last().is_some_and(|last| *last == SEQUENCE)
        });
        check_feedback(&feedback);
        let (status, result) = client.get_result(goal_id).unwrap();
        assert_eq!((status, result.sequence), (GoalStatusEnum::Succeeded as i8, SEQUENCE.to_vec()));
    });
}

/// Serves goals of the action until the process ends.
fn serve(server: &ActionServer<Goal, Sequence, Sequence>) {
    let mut done = Vec::new();
    let mut waiting: Vec<(RmwRequestId, GoalId)> = Vec::new();
    loop {
        if let Some((request, goal_id, goal)) = server.try_receive_goal() {
            assert_eq!(goal.order, ORDER);
            server.respond_goal(request, true).unwrap();
            let publish = |sequence| assert!(server.publish_feedback(goal_id, Sequence { sequence }).is_ok());
            while !HAS_FEEDBACK.load(SeqCst) {
                steps().take(1).for_each(publish);
                thread::sleep(PERIOD);
            }
            steps().skip(1).for_each(publish);
            let goal_info = GoalInfo { goal_id, stamp: Time::ZERO };
            server.publish_status(vec![GoalStatus { goal_info, status: GoalStatusEnum::Succeeded }]).unwrap();
            done.push(goal_id);
        }
        waiting.extend(server.try_receive_result_request());
        waiting.retain(|(request, goal_id)| {
            let is_done = done.contains(goal_id);
            if is_done {
                let result = Sequence { sequence: SEQUENCE.to_vec() };
                server.respond_result(*request, GoalStatusEnum::Succeeded as i8, result).unwrap();
            }
            !is_done
        });
        thread::yield_now();
    }
}

#[test]
fn a_client_of_hiroz_uses_a_server_of_ros2_client() {
    in_host("actions::a_client_of_hiroz_uses_a_server_of_ros2_client", |_| {
        let [(_one, one), (_two, two)] = bridges();
        let far = with_ros2_client::context(one);
        let far_node = with_ros2_client::far_node(&far, "server");
        let server = far_node.create_action_server(&with_ros2_client::name("fibonacci"), &fibonacci()).unwrap();
        thread::spawn(move || serve(&server));

        let runtime = with_hiroz::runtime();
        let context = with_hiroz::context(two);
        let node = context.create_node("client").build().unwrap();
        runtime.block_on(async {
            let client = node.create_action_client::<Fibonacci>("/fibonacci").build().unwrap();
            assert!(client.wait_for_server(PATIENCE).await);
            let mut goal = client.send_goal(FibonacciGoal { order: ORDER }).await.unwrap();
            let (mut stream, mut feedback) = (goal.feedback().unwrap(), Vec::new());
            while feedback.last().is_none_or(|last| *last != SEQUENCE) {
                feedback.push(stream.recv().await.unwrap().partial_sequence);
                HAS_FEEDBACK.store(true, SeqCst);
            }
            // ros2-client publishes feedback as BEST_EFFORT with depth 1, so newer feedback may replace older feedback.
            assert!(feedback.is_sorted(), "{feedback:?}");
            assert!(feedback.iter().all(|found| steps().any(|step| step == *found)), "{feedback:?}");
            assert_eq!(goal.result().await.unwrap().sequence, SEQUENCE);
        });
    });
}
