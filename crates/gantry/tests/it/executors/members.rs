//! Tests of the members of executors: callback groups without their nodes, and nodes and groups that come and go during
//! a spin.

use super::{listening::Blocker, *};

behaviours! {
    with_a_far_end: [],
    alone: [
        groups_of_a_node_run_in_two_executors,
        a_group_that_is_not_added_with_its_node_runs_by_itself,
        a_group_is_in_one_executor,
        a_group_that_runs_with_its_node_is_free_when_its_run_has_ended,
        nodes_and_groups_come_and_go_while_it_spins,
        a_callback_adds_and_removes_nodes,
        an_executor_that_lost_its_nodes_spins_on,
        a_handle_of_a_dropped_executor_adds_nothing,
    ],
}

/// A node with a callback in its default group and a callback in another group, and a function that publishes to both.
fn two_groups(case: &Case, group: impl FnOnce(CallbackGroup) -> CallbackGroup) -> (Listener, CallbackGroup, Feed) {
    let listener = Listener::new();
    let group = group(listener.node.create_callback_group(CallbackGroupType::MutuallyExclusive));
    listener.hear(case, "node", all());
    let sender = listener.sender.clone();
    group
        .create_subscription_with_callback::<Point>(&case.topic("group"), all(), move |point| {
            let _ = sender.send(("group", point.x as usize));
        })
        .unwrap();
    let feed = Feed::new(&listener.node, ["node", "group"].map(|name| case.topic(name)));
    (listener, group, feed)
}

/// Publishers to several topics.
struct Feed(Vec<Publisher<Point>>);

impl Feed {
    fn new<const N: usize>(node: &Node, topics: [String; N]) -> Feed {
        Feed(topics.iter().map(|topic| node.create_publisher::<Point>(topic, all()).unwrap()).collect())
    }

    fn publish(&mut self, number: usize) {
        for publisher in &mut self.0 {
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            publisher.publish_copy(&Point { x: number as f64, y: 0.0 }).unwrap();
        }
    }
}

fn groups_of_a_node_run_in_two_executors(case: &Case) {
    let (mut executor, mut other) = (case.executor(), case.executor());
    let (listener, group, mut feed) = two_groups(case, |group| group);
    other.add_callback_group(&group).unwrap();
    executor.add_node(&listener.node).unwrap();
    let both = |executor: &mut dyn Tested, other: &mut dyn Tested| {
        drain(executor);
        let of_executor = listener.rest();
        drain(other);
        (of_executor, listener.rest())
    };
    feed.publish(1);
    assert_eq!(both(&mut *executor, &mut *other), (vec![("node", 1)], vec![("group", 1)]));
    // The group goes back to the executor of its node, with the messages that have arrived meanwhile.
    feed.publish(2);
    other.remove_callback_group(&group);
    drain(&mut *executor);
    let mut heard = listener.rest();
    heard.sort_unstable();
    assert_eq!(heard, [("group", 2), ("node", 2)]);
    assert!(other.spin_once(Duration::ZERO).unwrap_err().to_string().contains("no node"));
    // The executor that first ran the group is dropped while the other executor runs the group.
    executor.remove_node(&listener.node);
    other.add_callback_group(&group).unwrap();
    executor.add_node(&listener.node).unwrap();
    spinning(&mut *executor, || {
        feed.publish(3);
        assert_eq!(listener.next(), ("node", 3));
        drop(other);
        assert_eq!(listener.next(), ("group", 3));
    });
}

fn a_group_that_is_not_added_with_its_node_runs_by_itself(case: &Case) {
    let (mut executor, mut other) = (case.executor(), case.executor());
    let (listener, group, mut feed) = two_groups(case, |group| group.automatically_add_to_executor_with_node(false));
    executor.add_node(&listener.node).unwrap();
    feed.publish(1);
    drain(&mut *executor);
    assert_eq!(listener.rest(), [("node", 1)]);
    other.add_callback_group(&group).unwrap(); // after its node was added to `executor`
    spinning(&mut *other, || assert_eq!(listener.next(), ("group", 1)));
    other.remove_callback_group(&group);
    executor.add_callback_group(&group).unwrap(); // to the executor that has its node
    feed.publish(2);
    drain(&mut *executor);
    let mut heard = listener.rest();
    heard.sort_unstable();
    assert_eq!(heard, [("group", 2), ("node", 2)]);
}

fn a_group_is_in_one_executor(case: &Case) {
    let (mut executor, mut other) = (case.executor(), case.executor());
    let (listener, group, _) = two_groups(case, |group| group);
    let refused = |executor: &mut dyn Tested| {
        let why = executor.add_callback_group(&group).unwrap_err().to_string();
        assert!(why.contains("a callback group of node /tester is already in an executor"), "{why}");
    };
    executor.add_node(&listener.node).unwrap();
    refused(&mut *other);
    refused(&mut *executor);
    executor.remove_node(&listener.node);
    other.add_callback_group(&group).unwrap();
    refused(&mut *executor);
    let stranger = Node::builder("stranger").domain_id(77).build().unwrap();
    let why = other.add_node(&stranger).unwrap_err().to_string();
    assert!(why.contains("/stranger is in domain 77 and the executor is in domain 0"), "{why}");
    other.remove_callback_group(&group);
    other.add_node(&stranger).unwrap();
    executor.add_callback_group(&group).unwrap();
}

/// A group that is no longer added with its node can be added to another executor after its current run.
fn a_group_that_runs_with_its_node_is_free_when_its_run_has_ended(case: &Case) {
    let (mut executor, mut other, node) = (case.executor(), case.executor(), node());
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    let mut blocker = Blocker::new(case, &group, "blocks");
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, move || {
        blocker.start();
        let group = group.automatically_add_to_executor_with_node(false);
        let why = other.add_callback_group(&group).unwrap_err().to_string();
        assert!(why.contains("a callback group of node /tester is already in an executor"), "{why}");
        drop(blocker);
        eventually("the group is free", || other.add_callback_group(&group).is_ok());
    });
}

fn nodes_and_groups_come_and_go_while_it_spins(case: &Case) {
    let (mut executor, stays) = (case.executor(), Listener::new());
    executor.add_node(&stays.node).unwrap();
    let handle = executor.handle();
    assert!(!handle.is_spinning());
    let mut another = case.executor();
    spinning(&mut *executor, || {
        for number in 1..=10 {
            let (listener, group, mut feed) = two_groups(case, |group| group);
            if number % 2 == 0 {
                handle.add_callback_group(&group).unwrap(); // the group before or after its node
            }
            handle.add_node(&listener.node).unwrap();
            feed.publish(number);
            let mut heard = listener.take(2);
            heard.sort_unstable();
            assert_eq!(heard, [("group", number), ("node", number)]);
            assert!(handle.is_spinning());
            handle.remove_node(&listener.node);
            handle.remove_callback_group(&group);
            // Another executor may have the node as soon as the first executor has released it.
            eventually("the node is free", || another.add_node(&listener.node).is_ok());
            // The first executor may keep the group a little longer, because the group has its own thread there.
            feed.publish(100 + number);
            let mut heard = Vec::new();
            eventually("all of it came", || {
                drain(&mut *another);
                heard.extend(listener.rest());
                heard.len() == 2
            });
            heard.sort_unstable();
            assert_eq!(heard, [("group", 100 + number), ("node", 100 + number)]);
            another.remove_node(&listener.node);
        }
    });
    assert!(!handle.is_spinning());
}

fn a_callback_adds_and_removes_nodes(case: &Case) {
    let (mut executor, node, (sender, told)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let (handle, mut last) = (executor.handle(), None::<Node>);
    node.create_timer_with_callback(ms(1), move |_| {
        assert!(handle.is_spinning());
        last.take().iter().for_each(|node| handle.remove_node(node));
        let (node, sender) = (super::node(), sender.clone());
        let once = Timer::one_shot(&Clock::steady(), Duration::from_micros(10)).unwrap();
        node.add_callback(once, move |_, _| {
            let _ = sender.send(());
        });
        handle.add_node(&node).unwrap();
        last = Some(node);
    })
    .unwrap();
    spinning(&mut *executor, || told.take(5));
}

fn an_executor_that_lost_its_nodes_spins_on(case: &Case) {
    let (mut executor, first, next) = (case.executor(), Listener::new(), Listener::new());
    executor.add_node(&first.node).unwrap();
    let handle = executor.handle();
    spinning(&mut *executor, || {
        eventually("it spins", || handle.is_spinning());
        handle.remove_node(&first.node);
        let mut other = SingleThreadedExecutor::new();
        eventually("the node is free", || other.add_node(&first.node).is_ok());
        next.node
            .create_timer_with_callback(ms(1), {
                let sender = next.sender.clone();
                move |_| sender.send(("tick", 0)).unwrap_or_default()
            })
            .unwrap();
        handle.add_node(&next.node).unwrap();
        next.take(3);
    });
}

fn a_handle_of_a_dropped_executor_adds_nothing(case: &Case) {
    let (executor, node) = (&mut case.executor(), node());
    let handle = executor.handle();
    handle.add_node(&node).unwrap(); // before any spin
    assert!(!executor.spin_once(Duration::ZERO).unwrap());
    *executor = case.executor();
    let why = handle.add_node(&node).unwrap_err().to_string();
    assert!(why.contains("the executor of this handle was dropped"), "{why}");
    handle.cancel();
    handle.wake();
    executor.add_node(&node).unwrap();
}
