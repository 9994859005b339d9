//! Tests of objects: the rules for creating them, and the status of each request.

use crate::support::{Event, PARTICIPANT, PUBLISHER, READER, SUBSCRIBER, TestClient, WRITER, agent, host, socket};
use gantry::TypeDescription;
use gantry_agent::{Config, DomainChoice, Limits};
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::{
    session::Disconnected,
    wire::{
        DataWriter, Entity, Flags, Group, Object, ObjectId, ObjectKind, Owner, Participant, Qos, QosFlags,
        Representation, Service, StatusValue, StreamId, Topic, WriterQos,
    },
};

test_support::tests!(
    an_object_that_exists_is_reused_replaced_or_refused,
    replacing_an_object_by_an_equal_one_keeps_its_node_and_its_publisher,
    references_are_checked,
    references_other_than_of_participants_are_refused,
    unknown_types_are_refused_with_advice,
    types_that_others_use_are_taken_from_them,
    actions_are_refused_without_advice_that_does_not_help,
    objects_go_with_their_owner,
    a_client_has_a_limited_number_of_objects,
    clients_have_a_limited_number_of_domains,
    domains_without_participants_do_not_count,
    data_for_something_else_than_a_writer_is_refused
);

const TOPIC: ObjectId = ObjectId::new(1, ObjectKind::TOPIC);

fn topic(name: &'static str) -> Object<'static> {
    let topic = Topic { name, type_reference: None, type_name: Some("std_msgs::msg::dds_::String_") };
    Object::binary(Entity::Topic(topic), Owner::Object(PARTICIPANT))
}

fn an_object_that_exists_is_reused_replaced_or_refused() {
    let (_agent, udp, _) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0201);
    let (reuse, replace) = (Flags::REUSE, Flags::REPLACE);
    let rules = [
        (Flags::NONE, "rt/a", StatusValue::OK),
        (Flags::NONE, "rt/a", StatusValue::ALREADY_EXISTS),
        (reuse, "rt/a", StatusValue::OK_MATCHED),
        (reuse, "rt/b", StatusValue::MISMATCH),
        (reuse | replace, "rt/a", StatusValue::OK_MATCHED),
        (reuse | replace, "rt/b", StatusValue::OK),
        (replace, "rt/b", StatusValue::OK),
        (replace, "rt/c", StatusValue::OK),
        (reuse, "rt/c", StatusValue::OK_MATCHED),
    ];
    for (flags, name, status) in rules {
        assert_eq!(client.create_as(flags, TOPIC, topic(name)), status, "{flags:?} {name}");
    }
    assert_eq!(client.delete(TOPIC), StatusValue::OK);
    assert_eq!(client.delete(TOPIC), StatusValue::UNKNOWN_REFERENCE);
}

fn replacing_an_object_by_an_equal_one_keeps_its_node_and_its_publisher() {
    let (agent, udp, lines) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0209);
    let count = |words: &str| lines.lock().unwrap().iter().filter(|line| line.contains(words)).count();
    let mut subscription =
        host().create_subscription::<UInt32>("/replaced", gantry::Qos::default().keep_last(10)).unwrap();
    let writer = client.create_writer(1, "rt/replaced", "std_msgs::msg::dds_::UInt32_");
    let qos = Qos { flags: QosFlags::RELIABLE | QosFlags::KEEP_LAST, history_depth: Some(100), ..Qos::default() };
    let equal = DataWriter { topic: TOPIC, qos: Some(WriterQos { common: qos, ownership_strength: None }) };
    let equal = Object::binary(Entity::DataWriter(equal), Owner::Object(PUBLISHER));
    let mut publishers = Vec::new();
    for number in 0..3_u8 {
        assert_eq!(client.create_as(Flags::REPLACE, writer, equal), StatusValue::OK);
        client.write(StreamId::RELIABLE, writer, &[], &[number, 0, 0, 0]);
        client.until("a sample", |_| {
            let sample = subscription.take().unwrap();
            publishers.extend(sample.iter().map(|sample| sample.message_info().publisher_gid));
            sample.is_some()
        });
    }
    assert!(publishers.iter().all(|gid| *gid == publishers[0]), "{publishers:?}");
    assert_eq!(count("publishes /replaced"), 1);
    // A replaced participant loses its objects: a board that was reset creates the objects that it needs.
    let participant = Participant { domain_reference: None, name: Some("micro") };
    let participant = Object::binary(Entity::Participant(participant), Owner::Domain(0));
    assert_eq!(client.create_as(Flags::REPLACE, PARTICIPANT, participant), StatusValue::OK);
    assert_eq!((count("is node /micro"), agent.statistics()[0].objects), (1, 1));
    assert_eq!(client.delete(writer), StatusValue::UNKNOWN_REFERENCE);
}

fn references_are_checked() {
    let (_agent, udp, _) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0202);
    let nobody = ObjectId::new(7, ObjectKind::PARTICIPANT);
    let group = Entity::Publisher(Group::default());
    let other = ObjectId::new(2, ObjectKind::PUBLISHER);
    assert_eq!(client.create(other, group, Owner::Object(nobody)), StatusValue::UNKNOWN_REFERENCE);
    let writer = Entity::DataWriter(DataWriter { topic: TOPIC, qos: None });
    assert_eq!(client.create(WRITER, writer, Owner::Object(PUBLISHER)), StatusValue::UNKNOWN_REFERENCE);
    assert_eq!(client.create_as(Flags::NONE, TOPIC, topic("rt/referred")), StatusValue::OK);
    assert_eq!(client.create(WRITER, writer, Owner::Object(other)), StatusValue::UNKNOWN_REFERENCE);
    assert_eq!(client.create(WRITER, writer, Owner::Object(PUBLISHER)), StatusValue::OK);
    let beyond = ObjectId::new(9, ObjectKind::PARTICIPANT);
    let participant = Entity::Participant(Participant::default());
    assert!(!client.create(beyond, participant, Owner::Domain(233)).is_ok());
    assert!(!client.create(beyond, participant, Owner::Domain(-1)).is_ok());
}

fn references_other_than_of_participants_are_refused() {
    let (_agent, udp, lines) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0203);
    let object = Object {
        kind: ObjectKind::TOPIC,
        representation: Representation::Reference("profile"),
        owner: Owner::Object(PARTICIPANT),
    };
    assert_eq!(client.create_as(Flags::NONE, TOPIC, object), StatusValue::UNKNOWN_REFERENCE);
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("'profile'") && line.contains("or by XML")), "{lines:?}");
}

/// Describes a type for which the agent has no definition.
fn joint(hash: [u8; 32]) -> TypeDescription {
    TypeDescription {
        name: "arm_msgs/msg/Joint".into(),
        hash,
        definition: "float64 angle_rad\n".into(),
        payload_bytes: 8,
    }
}

fn types_that_others_use_are_taken_from_them() {
    let (_agent, udp, _) = agent(Config::default());
    let host = host();
    let mut client = TestClient::open(socket(&udp), 0x0230);
    let of_dds = "arm_msgs::msg::dds_::Joint_";
    // The data writer gets its type from a subscription, and the data reader from a publisher.
    let mut subscription =
        host.create_generic_subscription("/joint_a", joint([7; 32]), gantry::Qos::default()).unwrap();
    let writer = client.create_writer(1, "rt/joint_a", of_dds);
    client.write(StreamId::RELIABLE, writer, &[], &1.5_f64.to_le_bytes());
    client.until("a joint", |_| {
        subscription.take().unwrap().is_some_and(|sample| sample.bytes() == 1.5_f64.to_le_bytes())
    });
    let _publisher = host.create_generic_publisher("/joint_b", joint([7; 32]), gantry::Qos::default()).unwrap();
    client.create_reader(2, "rt/joint_b", of_dds);
    // The agent finds no type if two publishers have different types, or if a publisher states no hash.
    let _other = host.create_generic_publisher("/joint_b", joint([8; 32]), gantry::Qos::default()).unwrap();
    let _unknown = host.create_generic_publisher("/joint_c", joint([0; 32]), gantry::Qos::default()).unwrap();
    for (number, topic) in [(3, "rt/joint_b"), (4, "rt/joint_c"), (5, "rt/joint_d")] {
        assert_eq!(client.create_topic(number, topic, of_dds), StatusValue::OK);
        let id = ObjectId::new(number, ObjectKind::DATA_WRITER);
        let writer = DataWriter { topic: ObjectId::new(number, ObjectKind::TOPIC), qos: None };
        let status = client.create(id, Entity::DataWriter(writer), Owner::Object(PUBLISHER));
        assert_eq!(status, StatusValue::UNKNOWN_REFERENCE, "{topic}");
    }
}

fn actions_are_refused_without_advice_that_does_not_help() {
    let (_agent, udp, lines) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0231);
    let goal = Service {
        name: "fibonacci/_action/send_goal",
        request_type: "example_interfaces::action::dds_::Fibonacci_SendGoal_Request_",
        reply_type: "example_interfaces::action::dds_::Fibonacci_SendGoal_Response_",
        ..Service::default()
    };
    let replier = ObjectId::new(1, ObjectKind::REPLIER);
    let status = client.create(replier, Entity::Replier(goal), Owner::Object(PARTICIPANT));
    assert_eq!(status, StatusValue::UNKNOWN_REFERENCE);
    let lines = lines.lock().unwrap();
    let line = lines.iter().find(|line| line.contains("Fibonacci_SendGoal_Request")).unwrap();
    assert!(line.contains("does not support actions") && !line.contains("--definitions"), "{line}");
}

fn unknown_types_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("arm_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    std::fs::write(messages.join("Joint.msg"), "float64 angle_rad\n").unwrap();
    let writer = Entity::DataWriter(DataWriter { topic: TOPIC, qos: None });
    let joint = Topic { name: "rt/joint", type_reference: None, type_name: Some("arm_msgs::msg::dds_::Joint_") };
    let joint = Object::binary(Entity::Topic(joint), Owner::Object(PARTICIPANT));
    let types = gantry_agent::Types::standard().with_folders(&[folder.path().to_owned()]).unwrap();
    let taught = Config { types: types.into(), ..Config::default() };
    for (config, status) in [(Config::default(), StatusValue::UNKNOWN_REFERENCE), (taught, StatusValue::OK)] {
        let (_agent, udp, lines) = agent(config);
        let mut client = TestClient::open(socket(&udp), 0x0204);
        assert_eq!(client.create_as(Flags::NONE, TOPIC, joint), StatusValue::OK);
        assert_eq!(client.create(WRITER, writer, Owner::Object(PUBLISHER)), status);
        let is_told = lines
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains("arm_msgs/msg/Joint") && line.contains("--definitions"));
        assert_eq!(is_told, !status.is_ok());
    }
}

fn objects_go_with_their_owner() {
    let (agent, udp, _) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0205);
    client.create_writer(1, "rt/owned", "std_msgs::msg::dds_::String_");
    assert_eq!(client.delete(PUBLISHER), StatusValue::OK);
    assert_eq!(client.delete(WRITER), StatusValue::UNKNOWN_REFERENCE);
    assert_eq!(client.delete(PARTICIPANT), StatusValue::OK);
    assert_eq!(client.delete(SUBSCRIBER), StatusValue::UNKNOWN_REFERENCE);
    assert_eq!(agent.statistics()[0].objects, 0);
    client.create_groups();
}

fn a_client_has_a_limited_number_of_objects() {
    let limits = Limits { objects: 5, ..Limits::default() };
    let (_agent, udp, _) = agent(Config { limits, ..Config::default() });
    let mut client = TestClient::open(socket(&udp), 0x0206);
    let mut create = |number| client.create_topic(number, "rt/limited", "std_msgs::msg::dds_::String_");
    assert_eq!([1, 2, 3].map(&mut create), [StatusValue::OK, StatusValue::OK, StatusValue::RESOURCES]);
    assert_eq!(client.delete(TOPIC), StatusValue::OK);
    assert_eq!(client.create_as(Flags::NONE, TOPIC, topic("rt/limited")), StatusValue::OK);
}

fn clients_have_a_limited_number_of_domains() {
    let limits = Limits { domains: 1, ..Limits::default() };
    let (_agent, udp, _) = agent(Config { limits, domain: DomainChoice::AsAsked, ..Config::default() });
    let mut client = TestClient::open(socket(&udp), 0x0208);
    let mut create = |number, domain| {
        let id = ObjectId::new(number, ObjectKind::PARTICIPANT);
        client.create(id, Entity::Participant(Participant::default()), Owner::Domain(domain))
    };
    assert_eq!([create(2, 0), create(3, 5)], [StatusValue::OK, StatusValue::RESOURCES]);
}

fn data_for_something_else_than_a_writer_is_refused() {
    let (agent, udp, _) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0207);
    let request = client.write(StreamId::RELIABLE, WRITER, &[], &[0; 4]);
    assert_eq!(client.status(request), StatusValue::UNKNOWN_REFERENCE);
    client.create_reader(1, "rt/read_only", "std_msgs::msg::dds_::UInt32_");
    for object in [READER, PARTICIPANT] {
        let request = client.write(StreamId::RELIABLE, object, &[], &[0; 4]);
        assert_eq!(client.status(request), StatusValue::MISMATCH);
    }
    // A message of this type must have 4 bytes.
    let writer = client.create_writer(2, "rt/fixed", "std_msgs::msg::dds_::UInt32_");
    let request = client.write(StreamId::RELIABLE, writer, &[], &[0; 3]);
    assert_eq!(client.status(request), StatusValue::INVALID_DATA);
    assert_eq!(agent.statistics()[0].counts.refused, 4);
}

fn domains_without_participants_do_not_count() {
    let limits = Limits { domains: 1, ..Limits::default() };
    let (_agent, udp, _) = agent(Config { limits, domain: DomainChoice::AsAsked, ..Config::default() });
    let [mut first, mut second] = [0x0220, 0x0221].map(|key| {
        let mut client = TestClient::new(socket(&udp), key);
        client.connect();
        client
    });
    let participant = |client: &mut TestClient, domain_id| {
        let participant = Participant { domain_reference: None, name: Some("elsewhere") };
        client.create(PARTICIPANT, Entity::Participant(participant), Owner::Domain(domain_id))
    };
    for domain_id in 11..14 {
        assert_eq!(participant(&mut first, domain_id), StatusValue::OK);
        assert_eq!(participant(&mut second, domain_id + 10), StatusValue::RESOURCES);
        assert_eq!(participant(&mut second, domain_id), StatusValue::OK);
        assert_eq!(first.delete(PARTICIPANT), StatusValue::OK);
        assert_eq!(participant(&mut first, domain_id + 10), StatusValue::RESOURCES);
        assert_eq!(second.delete(PARTICIPANT), StatusValue::OK);
    }
    // The objects of a client that leaves are deleted as if its participant was deleted.
    assert_eq!(participant(&mut first, 14), StatusValue::OK);
    first.session.close(first.now());
    first.until("closed", |client| client.events.contains(&Event::Disconnected(Disconnected::Closed)));
    second.create_groups();
}
