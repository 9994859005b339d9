//! Tests with the messages by which eProsima's client 3.0.0 creates each kind of object. The client leaves old memory
//! in the padding; here the padding is zero, and is left out at the end of the message.

use super::{message, only};
use crate::hex;
use gantry_xrce::wire::{
    ByteOrder, Create, DataReader, DataWriter, Entity, Flags, Group, Header, Object, ObjectId, ObjectKind,
    ObjectRequest, Owner, Participant, Qos, QosFlags, ReaderQos, Representation, RequestId, Service, SessionId,
    StreamId, Topic, WriterQos,
};

#[track_caller]
fn is(capture: &str, flags: Flags, object: Object<'_>) {
    let capture = hex(capture);
    let (header, submessage) = only(&capture);
    assert!(submessage.flags.has(flags));
    let request = submessage.object_request().unwrap();
    assert_eq!(request.object, ObjectId::new(1, object.kind));
    let create = Create { request, object };
    assert_eq!(submessage.read::<Create<'_>>().unwrap(), create);
    assert_eq!(message(header, ByteOrder::Little, flags, &create), capture);
}

fn owner(kind: ObjectKind) -> Owner {
    Owner::Object(ObjectId::new(1, kind))
}

#[test]
fn participants() {
    let named = Participant { domain_reference: None, name: Some("imu") };
    is(
        "8101000001051a00000a0011010300000c0000000001000004000000696d75000000",
        Flags::REPLACE,
        Object::binary(Entity::Participant(named), Owner::Domain(0)),
    );
    is(
        "8101010001071000000b0011010300000200000000002a00",
        Flags::REPLACE | Flags::REUSE,
        Object::binary(Entity::Participant(Participant::default()), Owner::Domain(42)),
    );
}

#[test]
fn a_topic() {
    let topic = Topic { name: "rt/chatter", type_reference: None, type_name: Some("std_msgs::msg::dds_::String_") };
    is(
        "8101020001054300000c001202030000350000000b00000072742f636861747465720000010000001d000000
         7374645f6d7367733a3a6d73673a3a6464735f3a3a537472696e675f000011",
        Flags::REPLACE,
        Object::binary(Entity::Topic(topic), owner(ObjectKind::PARTICIPANT)),
    );
}

#[test]
fn a_publisher_and_a_subscriber() {
    is(
        "8101030001051000000d0013030300000200000000000011",
        Flags::REPLACE,
        Object::binary(Entity::Publisher(Group::default()), owner(ObjectKind::PARTICIPANT)),
    );
    is(
        "8101040001011000000e0014040300000200000000000011",
        Flags::NONE,
        Object::binary(Entity::Subscriber(Group::default()), owner(ObjectKind::PARTICIPANT)),
    );
}

#[test]
fn a_data_writer_and_a_data_reader() {
    let flags = QosFlags::RELIABLE | QosFlags::KEEP_LAST | QosFlags::TRANSIENT_LOCAL;
    let common = Qos { flags, history_depth: Some(5), ..Qos::default() };
    let topic = ObjectId::new(1, ObjectKind::TOPIC);
    let writer = DataWriter { topic, qos: Some(WriterQos { common, ownership_strength: None }) };
    is(
        "8101050001051c00000f0015050300000e000000001201000b0001000500000000000013",
        Flags::REPLACE,
        Object::binary(Entity::DataWriter(writer), owner(ObjectKind::PUBLISHER)),
    );
    let reader = DataReader { topic, qos: Some(ReaderQos::default()) };
    is(
        "8101060001051a0000100016060300000c0000000012010000000000000000000014",
        Flags::REPLACE,
        Object::binary(Entity::DataReader(reader), owner(ObjectKind::SUBSCRIBER)),
    );
}

#[test]
fn a_requester_and_a_replier() {
    let requester = Service {
        name: "add",
        request_type: "example_interfaces::srv::dds_::AddTwoInts_Request_",
        reply_type: "example_interfaces::srv::dds_::AddTwoInts_Response_",
        request_topic: Some("rq/addRequest"),
        reply_topic: Some("rr/addReply"),
    };
    is(
        "810107000105ae000011001707030000a00000000400000061646400330000006578616d706c655f696e746572666163
         65733a3a7372763a3a6464735f3a3a41646454776f496e74735f526571756573745f0000340000006578616d706c65
         5f696e74657266616365733a3a7372763a3a6464735f3a3a41646454776f496e74735f526573706f6e73655f000100
         00000e00000072712f616464526571756573740001000c00000072722f6164645265706c79000011",
        Flags::REPLACE,
        Object::binary(Entity::Requester(requester), owner(ObjectKind::PARTICIPANT)),
    );
    let replier = Service { request_type: "a::Request_", reply_type: "a::Response_", ..requester };
    is(
        "8101080001055e0000120018080300005000000004000000616464000c000000613a3a526571756573745f000d000000613a
         3a526573706f6e73655f000100000e00000072712f616464526571756573740001000c00000072722f6164645265706c7900
         0011",
        Flags::REPLACE,
        Object::binary(Entity::Replier(replier), owner(ObjectKind::PARTICIPANT)),
    );
}

#[test]
fn representations_by_reference_and_in_xml() {
    let reference = Object {
        kind: ObjectKind::PARTICIPANT,
        representation: Representation::Reference("default_xrce_participant"),
        owner: Owner::Domain(7),
    };
    is(
        "810109000105280000130011010100001900000064656661756c745f787263655f7061727469636970616e7400000700",
        Flags::REPLACE,
        reference,
    );
    let xml = Object {
        kind: ObjectKind::TOPIC,
        representation: Representation::Xml("<dds><topic/></dds>"),
        owner: owner(ObjectKind::PARTICIPANT),
    };
    is("81010a00010322000014001202020000140000003c6464733e3c746f7069632f3e3c2f6464733e000011", Flags::REUSE, xml);
}

/// Tests fields that eProsima's client never sends, in both byte orders.
#[test]
fn fields_that_are_rarely_sent() {
    let common = Qos {
        flags: QosFlags::OWNERSHIP_EXCLUSIVE,
        history_depth: Some(0x0102),
        deadline_ms: Some(0x0304_0506),
        lifespan_ms: Some(7),
        user_data: Some(b"user"),
    };
    let topic = ObjectId::new(4095, ObjectKind::TOPIC);
    let partitions: [&[u8]; 3] = [b"a", b"", b"robot/camera"];
    let qos = gantry_xrce::wire::GroupQos { partitions: Some((&partitions[..]).into()), group_data: Some(&[1, 2, 3]) };
    let entities = [
        Entity::Participant(Participant { domain_reference: Some("a domain"), name: None }),
        Entity::Topic(Topic { name: "", type_reference: Some("reference"), type_name: None }),
        Entity::Publisher(Group { name: Some("a group"), qos: Some(qos) }),
        Entity::Subscriber(Group { name: None, qos: Some(qos) }),
        Entity::DataWriter(DataWriter { topic, qos: Some(WriterQos { common, ownership_strength: Some(8) }) }),
        Entity::DataWriter(DataWriter { topic, qos: None }),
        Entity::DataReader(DataReader {
            topic,
            qos: Some(ReaderQos { common, time_based_filter_ms: Some(9), content_filter: Some("x > 1") }),
        }),
        Entity::Replier(Service { name: "naïve", ..Service::default() }),
    ];
    for entity in entities {
        let owner = if entity.kind() == ObjectKind::PARTICIPANT { Owner::Domain(-2) } else { Owner::Object(topic) };
        let request = ObjectRequest { request: RequestId(10), object: ObjectId::new(1, entity.kind()) };
        let create = Create { request, object: Object::binary(entity, owner) };
        for (order, session) in [
            (ByteOrder::Little, SessionId::CLIENT),
            (ByteOrder::Big, SessionId::CLIENT),
            (ByteOrder::Big, SessionId(1)),
        ] {
            let header = Header { stream: StreamId::RELIABLE, ..Header::streamless(session) };
            let bytes = message(header, order, Flags::NONE, &create);
            assert_eq!(only(&bytes).1.read::<Create<'_>>().unwrap(), create);
        }
    }
}
