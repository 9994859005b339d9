//! Tests of the plans of workers.

use super::read;
use crate::{
    cli,
    topology::{NodeOptions, Processes, Topology},
};
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    pacing::Pace,
    run_spec::{PassBy, RunSpec, Threshold},
    worker::protocol::Plan,
};

const MS: i64 = SECOND_NS / 1000;

/// A topology with two publishers on one topic, which have different rates, and with two executors.
const TWO_RATES: &str = r#"{ "nodes": [
    { "node_name": "a", "executor_id": 5,
      "publishers": [ { "topic_name": "t", "msg_type": "stamped10b", "freq_hz": 10 } ],
      "subscribers": [ { "topic_name": "own", "msg_type": "stamped10b", "msg_pass_by": "unique_ptr" } ] },
    { "node_name": "b", "executor_id": 2,
      "publishers": [ { "topic_name": "t", "msg_type": "stamped10b", "freq_hz": 100, "msg_pass_by": "loaned_msg" },
                      { "topic_name": "own", "msg_type": "stamped10b", "freq_hz": 50 } ],
      "subscribers": [ { "topic_name": "t", "msg_type": "stamped10b" }, { "topic_name": "own", "msg_type": "stamped10b" } ] } ] }"#;

fn spec() -> RunSpec {
    let options = cli::parse(["perf_test", "-p", "3", "-s", "3"].map(Into::into)).unwrap().options;
    let spec = cli::resolve(&options).unwrap().spec;
    RunSpec { executor: Some("single".to_owned()), ..spec }
}

/// Node options with this division into processes and this kind of pointer for messages.
fn nodes(processes: Processes, pass_by: Option<PassBy>) -> NodeOptions {
    let late = Threshold { part_of_period: Some(0.2), absolute_ns: Some(5_000_000) };
    NodeOptions { processes, pass_by, late, too_late: Threshold::TOO_LATE }
}

fn endpoints(plans: &[Plan]) -> Vec<&EndpointPlan> {
    plans.iter().flat_map(|plan| &plan.endpoints).collect()
}

#[test]
fn endpoints_expect_the_others_of_their_topic_and_keep_to_its_schedule() {
    let plans = read(TWO_RATES).unwrap().plans(&spec(), &nodes(Processes::File, None), "id");
    let all = endpoints(&plans);
    let of = |endpoint| *all.iter().find(|plan| plan.endpoint == endpoint).unwrap();
    let (slow, fast) = (of(Endpoint::Publisher(0)), of(Endpoint::Publisher(1)));
    assert_eq!((slow.expected, fast.expected, slow.private), (1, 1, true));
    // A timer expires for the first time after a whole period.
    assert_eq!((slow.phase_ns, fast.phase_ns), (100 * MS, 10 * MS));
    assert_eq!((&*slow.topic, &*slow.node, slow.executor, fast.executor), ("/perf_test_id/t", "/a", 0, 1));
    let (own, mixed) = (of(Endpoint::Subscription(0)), of(Endpoint::Subscription(1)));
    assert_eq!(
        (own.publishers, own.expected, own.pace, own.phase_ns),
        (1, 1, Pace { messages: 1, per_ns: 20 * MS }, 20 * MS)
    );
    // Publishers with different rates have no common schedule. The limits of lateness follow from the shorter period.
    assert_eq!(
        (mixed.publishers, mixed.pace.messages, mixed.late_ns, mixed.too_late_ns),
        (2, 0, 2_000_000, 10_000_000)
    );
    assert_eq!((own.late_ns, own.too_late_ns), (4_000_000, 20_000_000));
    assert_eq!([slow, fast, own, mixed].map(|plan| plan.rate_hz), [10.0, 100.0, 50.0, 110.0]);
}

#[test]
fn each_split_into_processes_has_the_same_endpoints() {
    let topology = read(TWO_RATES).unwrap();
    let numbered = |processes| {
        let plans = topology.plans(&spec(), &nodes(processes, None), "id");
        let mut all: Vec<(Endpoint, String)> =
            endpoints(&plans).into_iter().map(|plan| (plan.endpoint, plan.topic.clone())).collect();
        all.sort();
        (plans.iter().map(|plan| plan.name.clone()).collect::<Vec<String>>(), all)
    };
    let (files, of_files) = numbered(Processes::File);
    let (nodes, of_nodes) = numbered(Processes::Node);
    let (one, of_one) = numbered(Processes::One);
    assert_eq!((of_files.len(), of_files == of_nodes, of_files == of_one), (6, true, true));
    assert_eq!((files, nodes, one), (vec!["robot".into()], vec!["/a".into(), "/b".into()], vec!["all nodes".into()]));
}

#[test]
fn processes_of_one_name_have_numbers() {
    let files = [("x/robot.json", TWO_RATES), ("y/robot.json", TWO_RATES), ("robot_2.json", TWO_RATES)];
    let topology = Topology::of_texts(&files).unwrap();
    let names = |processes| -> Vec<String> {
        topology.plans(&spec(), &nodes(processes, None), "id").into_iter().map(|plan| plan.name).collect()
    };
    assert_eq!(names(Processes::File), ["robot", "robot_3", "robot_2"]);
    assert_eq!(names(Processes::Node), ["/a", "/b", "/a_2", "/b_2", "/a_3", "/b_3"]);
    let note = "2 names belong to several nodes, as /a to 3: the tables tell such nodes apart by their topics only";
    assert_eq!(topology.notes, [note]);
}

#[test]
fn a_way_of_passing_by_replaces_those_of_all_endpoints() {
    let topology = Topology::of_texts(&[("robot.json", TWO_RATES)]).unwrap();
    let ways = |pass_by| -> Vec<PassBy> {
        let plans = topology.plans(&spec(), &nodes(Processes::One, pass_by), "id");
        endpoints(&plans).iter().map(|plan| plan.pass_by).collect()
    };
    let (unique, shared, loaned) = (PassBy::UniquePtr, PassBy::SharedPtr, PassBy::LoanedMsg);
    // In each node the publishers come first, then the subscriptions.
    assert_eq!(ways(None), [unique, unique, loaned, unique, shared, shared]);
    assert_eq!(ways(Some(unique)), [unique; 6]);
    assert_eq!(ways(Some(loaned)), [loaned, shared, loaned, loaned, shared, shared]);
}
