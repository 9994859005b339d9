//! Tests of the graph, as nodes of the same process and of other processes see it. Each test has its own domain, so
//! that it can check the whole graph.

use crate::support::*;
use gantry::{
    ConnectionState, EndpointType, EngineError, Error, GraphEntity, GraphEvent, GraphEvents, Node, Qos, TakeSource,
    TypeDescription, Waitable,
};
use gantry_msgs::std_srvs::srv::Trigger;
use gantry_shm::{Participant, PublisherOptions};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    task::{Wake, Waker},
    time::{Duration, Instant},
};

tests![
    nodes_are_seen_until_their_last_clone_is_dropped,
    topics_are_shown_with_types_and_ends,
    services_are_shown_as_services,
    a_node_is_shown_with_its_own_endpoints,
    endpoints_are_printed_with_hash_and_gid,
    events_name_entities_that_came_and_left,
    events_call_their_waker,
    news_of_changes_are_one_until_they_are_taken,
    no_change_is_missed_between_a_look_and_a_wait,
    a_killed_process_disappears,
    explanations_name_the_state_of_each_connection,
    nodes_of_an_rmw_are_told_from_others,
    nodes_that_do_not_exist_are_an_error,
    ends_in_two_processes_are_explained,
    nodes_use_their_remapped_names,
];

fn node_in(domain_id: u32, name: &str) -> Node {
    Node::builder(name).domain_id(domain_id).build().unwrap()
}

/// Waits for the next `count` events.
fn next(events: &mut GraphEvents, node: &Node, count: usize) -> Vec<GraphEvent> {
    let (deadline, mut taken) = (Instant::now() + PATIENCE, Vec::new());
    while taken.len() < count {
        match events.take().unwrap() {
            Some(event) => taken.push(event),
            None => {
                assert!(Instant::now() < deadline, "no more than {taken:?}");
                node.wait_for_graph_change(PATIENCE).unwrap();
            }
        }
    }
    taken
}

fn news_of_changes_are_one_until_they_are_taken() {
    let node = node_in(115, "observer");
    let (mut changes, (sender, woken)) = (node.graph_changes().unwrap(), channel());
    assert_eq!(changes.take().unwrap(), None, "nothing changed since it was made");
    changes.set_waker(Some(Waker::from(Arc::new(Woken(sender)))));
    for _ in 0..20 {
        let came = (node_in(115, "one"), node_in(115, "two"));
        woken.recv_timeout(PATIENCE).unwrap();
        assert_eq!((changes.take().unwrap(), changes.take().unwrap()), (Some(()), None));
        drop(came);
        woken.recv_timeout(PATIENCE).unwrap();
        assert!(changes.is_ready().unwrap());
        assert_eq!((changes.take().unwrap(), changes.take().unwrap()), (Some(()), None));
        while woken.try_recv().is_ok() {} // the second change may also have called it
        changes.take().unwrap();
    }
}

fn nodes_are_seen_until_their_last_clone_is_dropped() {
    let observer = node_in(100, "observer");
    assert_eq!(observer.node_names().unwrap(), ["/observer"], "without any endpoint");
    let node = Node::builder("eye").namespace("/left").domain_id(100).build().unwrap();
    let clone = node.clone();
    let twin = Node::builder("eye").namespace("left").domain_id(100).build().unwrap();
    assert_eq!(observer.node_names().unwrap(), ["/left/eye", "/left/eye", "/observer"], "two of one name");
    drop(node);
    drop(twin);
    assert_eq!(observer.node_names().unwrap(), ["/left/eye", "/observer"]);
    drop(clone);
    assert_eq!(observer.node_names().unwrap(), ["/observer"]);
    assert_eq!(node_in(101, "elsewhere").node_names().unwrap(), ["/elsewhere"], "another domain");
}

fn topics_are_shown_with_types_and_ends() {
    let node = Node::builder("eye").namespace("/left").domain_id(102).build().unwrap();
    let qos = Qos { deadline: Some(Duration::from_millis(5)), ..Qos::default().keep_last(3).best_effort() };
    let _image = node.create_publisher::<Point>("image", qos).unwrap();
    let _viewer = node.create_subscription::<Point>("image", Qos::default().best_effort()).unwrap();
    let _stranger = node.create_generic_subscription("image", path(), Qos::default()).unwrap();
    let topics = node.topic_names_and_types().unwrap();
    let types = vec!["test_msgs/msg/Path".to_owned(), "test_msgs/msg/Point".to_owned()];
    assert_eq!(topics, BTreeMap::from([("/left/image".to_owned(), types)]));
    let [publisher] = &node.publishers_info_by_topic("image").unwrap()[..] else { panic!("there is one publisher") };
    assert_eq!((&*publisher.node_name, &*publisher.node_namespace), ("eye", "/left"));
    assert_eq!((&*publisher.topic_name, &*publisher.topic_type), ("/left/image", "test_msgs/msg/Point"));
    assert_eq!((publisher.endpoint_type, publisher.qos_profile), (EndpointType::Publisher, qos));
    let subscriptions = node.subscriptions_info_by_topic("/left/image").unwrap();
    assert!(subscriptions.iter().all(|end| end.endpoint_type == EndpointType::Subscription));
    assert_ne!(subscriptions[0].endpoint_gid, subscriptions[1].endpoint_gid);
    assert!(subscriptions.iter().any(|end| end.topic_type_hash == [7; 32]));
    assert_eq!((node.count_publishers("image").unwrap(), node.count_subscribers("image").unwrap()), (1, 2));
    assert_eq!((node.count_publishers("other").unwrap(), node.count_subscribers("/image").unwrap()), (0, 0));
    node.count_publishers("no topic").unwrap_err();
}

/// Makes the endpoints of a server and a client of "/arm/add" with the engine's API: only the endpoints that the graph
/// shows.
fn service_ends(participant: &Arc<Participant>) -> (gantry_shm::Subscription, gantry_shm::Publisher) {
    let half = |name: &str| TypeDescription { name: format!("example_interfaces/srv/AddTwoInts_{name}"), ..point() };
    let (topic, qos) = ("rq/arm/addRequest", Qos::default());
    let server =
        gantry_shm::Subscription::new(participant.clone(), "/arm/server", topic, half("Request"), qos).unwrap();
    let client = gantry_shm::Publisher::new(
        participant.clone(),
        "/client",
        topic,
        half("Request"),
        qos,
        PublisherOptions::default(),
    );
    (server, client.unwrap())
}

fn services_are_shown_as_services() {
    let node = node_in(103, "observer");
    let mut events = node.graph_events().unwrap();
    let participant = Participant::join(103).unwrap();
    let (server, client) = service_ends(&participant);
    let reply = TypeDescription { name: "example_interfaces/srv/AddTwoInts_Response".into(), ..point() };
    let topic = "rr/arm/addReply";
    let replies = gantry_shm::Subscription::new(participant, "/client", topic, reply, Qos::default()).unwrap();
    assert_eq!(node.topic_names_and_types().unwrap(), BTreeMap::new());
    let services = node.service_names_and_types().unwrap();
    let types = vec!["example_interfaces/srv/AddTwoInts".to_owned()];
    assert_eq!(services, BTreeMap::from([("/arm/add".to_owned(), types)]));
    let service_name = || "/arm/add".to_owned();
    let expected = [
        GraphEntity::Service { service_name: service_name(), node: "/arm/server".into() },
        GraphEntity::Client { service_name: service_name(), node: "/client".into() },
    ];
    assert_eq!(next(&mut events, &node, 2), expected.map(GraphEvent::Added));
    let mut topics: Vec<_> = node.all_endpoints_info().unwrap().into_iter().map(|end| end.topic_name).collect();
    topics.sort_unstable();
    assert_eq!(topics, ["rq/arm/addRequest", "rq/arm/addRequest", topic], "all endpoints have the engine's topics");
    drop((server, client, replies));
    assert_eq!(node.service_names_and_types().unwrap(), BTreeMap::new());
}

fn a_node_is_shown_with_its_own_endpoints() {
    let eye = Node::builder("eye").namespace("/left").domain_id(111).build().unwrap();
    let other = node_in(111, "other");
    let _image = eye.create_publisher::<Point>("image", Qos::default()).unwrap();
    let _path = other.create_generic_publisher("/left/image", path(), Qos::default()).unwrap();
    let _viewer = other.create_subscription::<Point>("/left/image", Qos::default()).unwrap();
    let (server, client) = service_ends(&Participant::join(111).unwrap());
    let one = |name: &str, type_name: &str| BTreeMap::from([(name.to_owned(), vec![type_name.to_owned()])]);
    let (nothing, add) = (BTreeMap::new(), one("/arm/add", "example_interfaces/srv/AddTwoInts"));
    assert_eq!(
        other.publisher_names_and_types_by_node("/left/eye").unwrap(),
        one("/left/image", "test_msgs/msg/Point")
    );
    assert_eq!(eye.publisher_names_and_types_by_node("/other").unwrap(), one("/left/image", "test_msgs/msg/Path"));
    assert_eq!(eye.subscriber_names_and_types_by_node("/other").unwrap(), one("/left/image", "test_msgs/msg/Point"));
    assert_eq!(eye.subscriber_names_and_types_by_node("/left/eye").unwrap(), nothing);
    assert_eq!(eye.service_names_and_types_by_node("/arm/server").unwrap(), add);
    assert_eq!(eye.client_names_and_types_by_node("/arm/server").unwrap(), nothing);
    assert_eq!(eye.client_names_and_types_by_node("/client").unwrap(), add);
    assert_eq!(eye.publisher_names_and_types_by_node("/client").unwrap(), nothing, "requests are no topic");
    assert_eq!((eye.count_services("/arm/add").unwrap(), eye.count_clients("/arm/add").unwrap()), (1, 1));
    drop((server, client));
    assert_eq!((eye.count_services("/arm/add").unwrap(), eye.count_clients("/arm/add").unwrap()), (0, 0));
    let error = eye.service_names_and_types_by_node("eye").unwrap_err().to_string();
    assert!(error.starts_with("there is no node eye in domain 111"), "{error}");
}

fn endpoints_are_printed_with_hash_and_gid() {
    let node = node_in(112, "eye");
    let _path = node.create_generic_publisher("path", path(), Qos::default()).unwrap();
    let [publisher] = &node.publishers_info_by_topic("path").unwrap()[..] else { panic!("one publisher") };
    let gid = publisher.endpoint_gid.to_string();
    assert!(gid.len() == 16 * 3 - 1 && gid.split('.').all(|byte| u8::from_str_radix(byte, 16).is_ok()), "{gid}");
    let printed = format!("{publisher:?}");
    for part in [&publisher.rihs01().unwrap(), &gid, "\"eye\""] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
}

fn events_name_entities_that_came_and_left() {
    let node = node_in(104, "observer");
    let mut events = node.graph_events().unwrap();
    assert!(events.take_next().unwrap().is_none(), "an entity that was there before is no event");
    let other = node_in(104, "other");
    assert!(events.is_ready().unwrap());
    assert_eq!(next(&mut events, &node, 1), [GraphEvent::Added(GraphEntity::Node("/other".into()))]);
    let publisher = other.create_publisher::<Point>("point", Qos::default()).unwrap();
    let subscription = other.create_subscription::<Point>("point", Qos::default()).unwrap();
    let added = next(&mut events, &node, 2);
    let [GraphEvent::Added(GraphEntity::Publisher(offer)), GraphEvent::Added(GraphEntity::Subscription(request))] =
        &added[..]
    else {
        panic!("{added:?}")
    };
    assert_eq!((&*offer.topic_name, &*request.topic_name), ("/point", "/point"));
    let what = [GraphEntity::Publisher(offer.clone()), GraphEntity::Subscription(request.clone())];
    drop((publisher, subscription));
    assert_eq!(next(&mut events, &node, 2), what.map(GraphEvent::Removed));
    // A publisher that comes and leaves between two takes causes no event.
    drop(other.create_publisher::<Point>("brief", Qos::default()).unwrap());
    drop(other);
    assert_eq!(next(&mut events, &node, 1), [GraphEvent::Removed(GraphEntity::Node("/other".into()))]);
    assert!(!events.is_ready().unwrap());
}

/// A waker that sends a message.
struct Woken(Sender<()>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

fn events_call_their_waker() {
    let node = node_in(105, "observer");
    let mut events = node.graph_events().unwrap();
    let (sender, woken) = channel();
    events.set_waker(Some(Waker::from(Arc::new(Woken(sender)))));
    let mut next = || loop {
        // A change that was already taken may cause at most one further call of the waker.
        assert!(woken.recv_timeout(PATIENCE).is_ok(), "the waker was not called");
        if events.is_ready().unwrap() {
            return std::iter::from_fn(|| events.take().unwrap()).collect::<Vec<_>>();
        }
    };
    let other = node_in(105, "other"); // in this process
    assert_eq!(next(), [GraphEvent::Added(GraphEntity::Node("/other".into()))]);
    drop(other);
    assert_eq!(next(), [GraphEvent::Removed(GraphEntity::Node("/other".into()))]);
    let child = start_child_in(105, "typed-talker", "/points"); // in another process
    let mut came = next().len();
    while came < 2 {
        came += next().len();
    }
    drop(child); // kills the child
    assert_eq!(next().len(), 2);
}

fn no_change_is_missed_between_a_look_and_a_wait() {
    let node = node_in(106, "observer");
    for _ in 0..20 {
        std::thread::scope(|threads| {
            let (came, may_go) = channel::<()>();
            let other = node.clone();
            threads.spawn(move || {
                let publisher = other.create_publisher::<Point>("point", Qos::default()).unwrap();
                let _ = may_go.recv();
                drop(publisher);
            });
            let wait_for = |count| {
                while node.count_publishers("point").unwrap() != count {
                    assert!(node.wait_for_graph_change(PATIENCE).unwrap(), "the change was missed");
                }
            };
            wait_for(1);
            drop(came);
            wait_for(0);
        });
    }
    while node.wait_for_graph_change(Duration::ZERO).unwrap() {}
    assert!(!node.wait_for_graph_change(Duration::from_millis(1)).unwrap(), "nothing changes any more");
}

fn a_killed_process_disappears() {
    let node = node_in(107, "observer");
    let mut events = node.graph_events().unwrap();
    let child = start_child_in(107, "typed-talker", "/points");
    let names = |events: Vec<GraphEvent>| -> Vec<String> {
        let mut names: Vec<_> = events
            .into_iter()
            .map(|event| match event {
                GraphEvent::Added(GraphEntity::Node(name)) => format!("+{name}"),
                GraphEvent::Removed(GraphEntity::Node(name)) => format!("-{name}"),
                GraphEvent::Added(GraphEntity::Publisher(end)) => format!("+{}", end.topic_name),
                GraphEvent::Removed(GraphEntity::Publisher(end)) => format!("-{}", end.topic_name),
                other => format!("{other:?}"),
            })
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(next(&mut events, &node, 2)), ["+/points", "+/tester"]);
    assert_eq!(node.node_names().unwrap(), ["/observer", "/tester"]);
    let [talker] = &node.publishers_info_by_topic("/points").unwrap()[..] else { panic!("there is one publisher") };
    assert!(talker.process.ends_with(&format!("(pid {})", child.child.id())), "{}", talker.process);
    drop(child); // kills the child
    assert_eq!(node.node_names().unwrap(), ["/observer"]);
    assert_eq!(node.count_publishers("/points").unwrap(), 0);
    assert_eq!(names(next(&mut events, &node, 2)), ["-/points", "-/tester"]);
}

fn explanations_name_the_state_of_each_connection() {
    let node = node_in(108, "both");
    let mut publisher = node.create_publisher::<Point>("point", Qos::default().best_effort()).unwrap();
    let mut good = node.create_subscription::<Point>("point", Qos::default().best_effort()).unwrap();
    let sentence = |index: usize| node.explain("point").unwrap()[index].to_string();
    let we = format!("(pid {})", std::process::id());
    assert!(
        sentence(0).starts_with("/both in ") && sentence(0).ends_with(&format!("{we}: zero-copy")),
        "{}",
        sentence(0)
    );
    // Only messages that were copied are counted.
    let point = Point { x: 1.0, y: 2.0 };
    let mut loan = publisher.loan().unwrap();
    *loan = point;
    publisher.publish(loan).unwrap();
    (0..3).for_each(|_| assert!(publisher.publish_copy(&point).is_ok()));
    assert!(good.take().unwrap().is_some());
    assert!(good.take_copy().unwrap().is_some());
    assert!(good.take_copy_into(&mut point.clone()).unwrap().is_some());
    let connection = node.explain("point").unwrap().remove(0);
    assert_eq!((connection.publisher.copied_messages, connection.subscription.copied_messages), (3, 2));
    assert!(sentence(0).ends_with("zero-copy (3 messages were copied in by publish_copy, 2 copied out by take_copy)"));

    let _reliable = node.create_subscription::<Point>("point", Qos::default().reliable()).unwrap();
    let _path = node.create_generic_subscription("point", path(), Qos::default().best_effort()).unwrap();
    let connections = node.explain("point").unwrap();
    assert_eq!(connections.len(), 3);
    let qos = connections.iter().find(|each| matches!(each.state, ConnectionState::IncompatibleQos(_))).unwrap();
    assert!(qos.to_string().contains("not connected: ") && qos.to_string().contains("RELIABLE"), "{qos}");
    let other = connections.iter().find(|each| matches!(each.state, ConnectionState::IncompatibleType(_))).unwrap();
    assert!(other.to_string().contains("test_msgs/msg/Path"), "{other}");
    assert_eq!(node.explain("nothing").unwrap(), []);
}

fn nodes_of_an_rmw_are_told_from_others() {
    let own = node_in(116, "talker");
    let builder = Node::builder("talker").domain_id(116).rmw_implementation("rmw_gantry");
    let far = builder.namespace("/far").enclave("/front/camera").build().unwrap();
    let names = |pairs: &[(&str, &str)]| -> Vec<_> {
        pairs.iter().map(|&(node, enclave)| (node.to_owned(), enclave.to_owned())).collect()
    };
    assert_eq!(own.node_names_and_enclaves().unwrap(), names(&[("/far/talker", "/front/camera"), ("/talker", "/")]));
    let _publisher = far.create_publisher::<Point>("/point", Qos::default()).unwrap();
    let _subscription = own.create_subscription::<Point>("/point", Qos::default()).unwrap();
    let [connection] = &own.explain("/point").unwrap()[..] else { panic!("one pair") };
    let ends = [&connection.publisher, &connection.subscription].map(|end| end.rmw_implementation.as_deref());
    assert_eq!(ends, [Some("rmw_gantry"), None]);
    let sentence = connection.to_string();
    assert!(sentence.starts_with("/far/talker (rmw_gantry) in ") && sentence.contains(" to /talker in "), "{sentence}");
    let _service = far.create_service::<Trigger>("/trigger").unwrap();
    let _client = own.create_client::<Trigger>("/trigger").unwrap();
    let [connection] = &own.explain_service("/trigger").unwrap()[..] else { panic!("one pair") };
    let sentence = connection.to_string();
    assert!(sentence.starts_with("/talker in ") && sentence.contains(" to /far/talker (rmw_gantry) in "), "{sentence}");
}

fn nodes_that_do_not_exist_are_an_error() {
    let node = node_in(117, "there");
    for found in [
        node.publisher_names_and_types_by_node("/missing"),
        node.subscriber_names_and_types_by_node("/missing"),
        node.service_names_and_types_by_node("/missing"),
        node.client_names_and_types_by_node("/missing"),
    ] {
        assert!(matches!(&found, Err(Error::UnknownNode { node, .. }) if node == "/missing"), "{found:?}");
    }
    assert!(node.publisher_names_and_types_by_node("/there").unwrap().is_empty());
}

fn ends_in_two_processes_are_explained() {
    let node = node_in(109, "listener");
    let child = start_child_in(109, "typed-talker", "/points");
    let _subscription = node.create_subscription::<Point>("/points", Qos::default()).unwrap();
    let [connection] = &node.explain("/points").unwrap()[..] else { panic!("one pair") };
    assert_eq!(connection.state, ConnectionState::ZeroCopy);
    let sentence = connection.to_string();
    let talker = format!("(pid {}) to /listener in ", child.child.id());
    assert!(sentence.starts_with("/tester in ") && sentence.contains(&talker), "{sentence}");
    child.finish();
    assert_eq!(node.explain("/points").unwrap(), []);
}

fn nodes_use_their_remapped_names() {
    let arguments = "talker --ros-args -r __ns:=/robot -r talker:chatter:=loud -r chatter:=/news -r map:=chart";
    let node = Node::builder("talker")
        .domain_id(110)
        .remap("rosservice://map", "/old_map")
        .ros_arguments(arguments.split(' ').map(str::to_owned))
        .build()
        .unwrap();
    assert_eq!((node.name(), node.namespace(), &*node.fully_qualified_name()), ("talker", "/robot", "/robot/talker"));
    assert_eq!(node.node_names().unwrap(), ["/robot/talker"]);
    let publisher = node.create_publisher::<Point>("chatter", Qos::default()).unwrap();
    assert_eq!(publisher.topic(), "/robot/loud");
    assert_eq!(node.count_publishers("/robot/chatter").unwrap(), 1, "names in queries are remapped, too");
    assert_eq!(node.create_publisher::<Point>("map", Qos::default()).unwrap().topic(), "/robot/chart");
    assert_eq!(node.resolve_service_name("map").unwrap(), "/old_map");
    let refused = |builder: gantry::NodeBuilder| builder.domain_id(110).build().unwrap_err();
    for builder in [
        Node::builder("a").remap("chatter", "no topic"),
        Node::builder("a").ros_arguments(["a", "--ros-args", "-p", "rate=5"].map(str::to_owned)),
        Node::builder("2a"),
        Node::builder("a").namespace("/b/"),
    ] {
        let error = refused(builder);
        assert!(!matches!(error, Error::Engine(EngineError::System { .. })), "{error}");
    }
}
