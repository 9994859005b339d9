//! Tests of the ROS graph: nodes, endpoints, their connections, and the notification of changes.

use crate::{child::*, support::*};
use gantry_shm::{
    ConnectionState, Generation, GraphRecord, NodeDetails, Participant, Publisher, PublisherOptions, Qos, Role,
    SeenPublishers, TypeDescription, Watcher,
};
use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Wake, Waker},
    time::Duration,
};

tests![
    a_node_is_in_the_graph_as_long_as_its_record,
    a_killed_process_leaves_the_graph_with_a_notification,
    each_endpoint_pair_has_a_connection_state,
    a_pair_that_is_not_mapped_has_a_reason,
    a_subscription_of_a_stopped_process_is_not_mapped_until_it_goes_on,
    copies_are_counted_for_each_endpoint,
    the_drop_of_a_waker_may_use_what_it_waited_for,
    announced_publishers_are_counted_when_they_come_and_go,
];

/// A watcher that stores the newest generation.
struct Newest(Generation, AtomicU64);

impl Watcher for Newest {
    fn update(&self) {
        self.1.fetch_max(self.0.get().unwrap(), SeqCst);
    }

    fn due_ns(&self) -> Option<u64> {
        None
    }
}

/// A waker that calls a function when it is dropped.
struct AtDrop<F: Fn() + Send + Sync + 'static>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for AtDrop<F> {
    fn wake(self: Arc<Self>) {}
}

impl<F: Fn() + Send + Sync + 'static> Drop for AtDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn waker_at_drop(function: impl Fn() + Send + Sync + 'static) -> Option<Waker> {
    Some(Waker::from(Arc::new(AtDrop(function))))
}

fn the_drop_of_a_waker_may_use_what_it_waited_for() {
    let root = Root::new();
    let participant = root.join();
    let (done, dropped) = std::sync::mpsc::channel();
    // The subscription is dropped on another thread: if a waker were dropped under a lock, that thread would block for
    // ever.
    std::thread::spawn(move || {
        let mut subscription = subscription(&participant, STREAM_BYTES, stream_qos());
        for _ in 0..2 {
            let (matches, done) = (subscription.matches(), done.clone());
            let look = move || {
                matches.look(SeenPublishers::default()).unwrap();
                done.send("subscription").unwrap();
            };
            subscription.set_waker(waker_at_drop(look)).unwrap(); // the second call drops the first waker
        }
        drop(subscription);
    });
    let names: Vec<_> = std::iter::from_fn(|| dropped.recv_timeout(PATIENCE).ok()).take(2).collect();
    assert_eq!(names, ["subscription", "subscription"]);
}

/// Announced publishers do not raise the generation of the topic, by which other endpoints are counted.
fn announced_publishers_are_counted_when_they_come_and_go() {
    let root = Root::new();
    let (participant, observer) = (root.join(), root.join());
    let reader = subscription(&participant, STREAM_BYTES, stream_qos());
    let topic = reader.description().topic.clone();
    let count = |role| observer.count_endpoints(&topic, role).unwrap();
    let mut records = Vec::new();
    for there in 1..=20 {
        let message_type = TypeDescription::default();
        records
            .push(GraphRecord::publisher(participant.clone(), "/node", &topic, message_type, Qos::default()).unwrap());
        assert_eq!((count(Role::Publisher), count(Role::Subscription)), (there, 1));
    }
    while records.pop().is_some() {
        assert_eq!((count(Role::Publisher), count(Role::Subscription)), (records.len(), 1));
    }
}

fn nodes(participant: &Participant) -> Vec<String> {
    let graph = participant.graph().unwrap().into_iter().map(|entry| entry.description);
    let mut names: Vec<_> = graph.filter(|entry| entry.role == Role::Node).map(|node| node.node.clone()).collect();
    names.sort_unstable();
    names
}

fn states(participant: &Participant) -> Vec<ConnectionState> {
    participant.connections("/chatter").unwrap().into_iter().map(|pair| pair.state).collect()
}

fn a_node_is_in_the_graph_as_long_as_its_record() {
    let root = Root::new();
    let participant = root.join();
    let newest = participant.watch("", Role::Node, |generation| Newest(generation, AtomicU64::new(0))).unwrap();
    let expect_update = |before: u64| eventually("the watcher is updated", || newest.1.load(SeqCst) > before);
    let before = participant.graph_generation().unwrap();
    let first = GraphRecord::node(participant.clone(), "/eye", NodeDetails::default()).unwrap();
    expect_update(before);
    assert!(participant.wait_for_graph_change(before, Duration::ZERO).unwrap());
    let details = NodeDetails { rmw_implementation: "rmw_gantry".to_owned(), enclave: "/left".to_owned() };
    let second = GraphRecord::node(participant.clone(), "/eye", details.clone()).unwrap();
    let said = participant.endpoints_of("").unwrap().into_iter().map(|entry| entry.description.node_details().unwrap());
    let said: Vec<_> = said.collect();
    assert!(said.len() == 2 && said.contains(&details) && said.contains(&NodeDetails::default()), "{said:?}");
    assert_eq!(nodes(&participant), ["/eye", "/eye"], "two of one name are two");
    drop(first);
    assert_eq!(nodes(&participant), ["/eye"]);
    let report = participant.inspect().unwrap();
    assert_eq!((&report.processes[0].nodes[..], report.topics.len()), (&["/eye".to_owned()][..], 0));
    let seen = participant.graph_generation().unwrap();
    assert_eq!(newest.0.get().unwrap(), seen);
    assert!(!participant.wait_for_graph_change(seen, Duration::ZERO).unwrap());
    drop(second);
    expect_update(seen);
    assert_eq!(nodes(&participant), [""; 0]);
}

fn a_killed_process_leaves_the_graph_with_a_notification() {
    let root = Root::new();
    let participant = root.join();
    let mut child = root.child("check", &[]);
    assert_eq!(child.line(), "ready");
    let listeners = || participant.endpoints_of("/chatter").unwrap();
    let [listener] = &listeners()[..] else { panic!("{:?}", listeners()) };
    assert_eq!((listener.description.role, &*listener.description.node), (Role::Subscription, "/listener"));
    assert!(listener.process.ends_with(&format!("(pid {})", child.child.id())), "{}", listener.process);
    let seen = participant.graph_generation().unwrap();
    child.kill();
    assert_eq!(listeners(), [], "a dead process has no endpoints, with or without a notification");
    assert!(participant.wait_for_graph_change(seen, PATIENCE).unwrap());
}

fn each_endpoint_pair_has_a_connection_state() {
    let root = Root::new();
    let participant = root.join();
    let qos = Qos::default().keep_last(2);
    let _offer = publisher(&participant, 64, qos.best_effort());
    // All endpoints are in one process, so the process does not show to which subscription a reader record belongs.
    let _fast = subscription(&participant, 64, qos.best_effort().keep_last(1));
    let _fussy = subscription(&participant, 64, qos.reliable());
    let _slow = subscription(&participant, 64, qos.best_effort().keep_last(9));
    let _stranger = subscription(&participant, 128, qos.best_effort());
    let states = states(&participant);
    let [ConnectionState::ZeroCopy, qos, ConnectionState::ZeroCopy, stranger] = &states[..] else {
        panic!("{states:?}")
    };
    assert!(matches!(qos, ConnectionState::IncompatibleQos(_)), "{qos:?}");
    assert!(matches!(stranger, ConnectionState::IncompatibleType(_)), "{stranger:?}");
    assert!(qos.to_string().starts_with("not connected: ") && qos.to_string().contains("RELIABLE"), "{qos}");
    assert!(stranger.to_string().contains("64") && stranger.to_string().contains("128"), "{stranger}");
    assert_eq!(states[0].to_string(), "zero-copy");
}

fn a_pair_that_is_not_mapped_has_a_reason() {
    let root = Root::new();
    let participant = root.join();
    let _publisher = publisher(&participant, 64, Qos::default());
    let file = root.files().into_iter().find(|path| path.extension().is_some_and(|end| end == "pub")).unwrap();
    std::fs::remove_file(file).unwrap();
    let _subscription = subscription(&participant, 64, Qos::default());
    let states = states(&participant);
    let [ConnectionState::Unmapped(why)] = &states[..] else { panic!("{states:?}") };
    let we = format!("(pid {}) does not exist", std::process::id());
    assert!(why.contains(&we) && why.contains("restart"), "{why}");
}

fn a_subscription_of_a_stopped_process_is_not_mapped_until_it_goes_on() {
    let root = Root::new();
    let participant = root.join();
    let mut child = root.child("check", &[]);
    assert_eq!(child.line(), "ready");
    kill_process(child.pid(), Signal::STOP).unwrap();
    waitpid(Some(child.pid()), WaitOptions::UNTRACED).unwrap(); // waits until all threads of the child are stopped
    let publisher = publisher(&participant, STREAM_BYTES, stream_qos());
    let stopped = states(&participant);
    kill_process(child.pid(), Signal::CONT).unwrap();
    let [ConnectionState::Unmapped(why)] = &stopped[..] else { panic!("{stopped:?}") };
    assert!(why.contains(&format!("(pid {}) has not mapped", child.child.id())), "{why}");
    eventually("it maps the publisher", || states(&participant) == [ConnectionState::ZeroCopy]);
    drop(publisher);
    child.finish();
}

fn copies_are_counted_for_each_endpoint() {
    let root = Root::new();
    let participant = root.join();
    let mut talker = publisher(&participant, 64, Qos::default());
    let mut listener = subscription(&participant, 64, Qos::default());
    let counts = || {
        let pair = participant.connections("/chatter").unwrap().remove(0);
        (pair.publisher.copied_samples, pair.subscription.copied_samples)
    };
    assert_eq!(counts(), (0, 0));
    (0..3).for_each(|_| talker.count_copy());
    listener.count_copy();
    assert_eq!(counts(), (3, 1));
    // The new publisher uses the memory block of the old one, but its count of copies must start at zero.
    let message_type = bytes_type(64);
    drop(talker);
    let again = Publisher::new(
        participant.clone(),
        "/talker",
        "/chatter",
        message_type,
        Qos::default(),
        PublisherOptions::default(),
    );
    assert_eq!((again.is_ok(), counts()), (true, (0, 1)));
}
