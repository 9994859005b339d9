//! Tests of objects that clients describe by XML or by reference. PX4 and eProsima's examples do so.

use crate::support::{PARTICIPANT, PUBLISHER, SUBSCRIBER, TestClient, agent, host, socket};
use gantry::Qos;
use gantry_agent::Config;
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::wire::{Flags, Object, ObjectId, ObjectKind, Owner, Representation, StatusValue, StreamId};

test_support::tests!(
    a_participant_has_the_name_of_its_xml_or_of_its_reference,
    a_topic_is_published_and_read_by_xml_alone,
    services_are_described_by_xml,
    xml_that_cannot_be_read_is_refused_with_its_defect
);

/// PX4's XML in two forms: the default, and the form for messages within one host.
const OF_PX4: &str = "<dds><participant><rtps><name>/px4_micro_xrce_dds</name></rtps></participant></dds>";
const OF_PX4_LOCALLY: &str = "<dds><participant><rtps><name>drone/px4_micro_xrce_dds</name><useBuiltinTransports>false\
    </useBuiltinTransports><userTransports><transport_id>udp_localhost</transport_id></userTransports></rtps></participant></dds>";

#[track_caller]
fn create(
    client: &mut TestClient,
    id: ObjectId,
    kind: ObjectKind,
    representation: Representation<'_>,
    owner: Owner,
) -> StatusValue {
    client.create_as(Flags::REPLACE, id, Object { kind, representation, owner })
}

fn a_participant_has_the_name_of_its_xml_or_of_its_reference() {
    let (_agent, udp, _) = agent(Config::default());
    let host = host();
    let mut client = TestClient::new(socket(&udp), 0x0d01);
    client.connect();
    for (representation, name) in [
        (Representation::Xml(OF_PX4), "/px4_micro_xrce_dds"),
        (Representation::Xml(OF_PX4_LOCALLY), "/drone/px4_micro_xrce_dds"),
        (Representation::Reference("px4_participant"), "/px4_participant"),
    ] {
        let status = create(&mut client, PARTICIPANT, ObjectKind::PARTICIPANT, representation, Owner::Domain(0));
        assert_eq!(status, StatusValue::OK, "{name}");
        client.until(name, |_| host.node_names().unwrap().iter().any(|known| known == name));
    }
}

fn a_topic_is_published_and_read_by_xml_alone() {
    let (_agent, udp, _) = agent(Config::default());
    let host = host();
    let mut client = TestClient::new(socket(&udp), 0x0d02);
    client.connect();
    let topic =
        "<topic><kind>NO_KEY</kind><name>rt/by_xml</name><dataType>std_msgs::msg::dds_::UInt32_</dataType></topic>";
    let reliable = "<qos><reliability><kind>RELIABLE</kind></reliability></qos>";
    let of_participant = Owner::Object(PARTICIPANT);
    let [writer, reader] = [ObjectKind::DATA_WRITER, ObjectKind::DATA_READER].map(|kind| ObjectId::new(1, kind));
    for (id, xml, owner) in [
        (PARTICIPANT, OF_PX4.to_owned(), Owner::Domain(0)),
        (ObjectId::new(1, ObjectKind::TOPIC), format!("<dds>{topic}</dds>"), of_participant),
        (PUBLISHER, String::new(), of_participant),
        (SUBSCRIBER, String::new(), of_participant),
        (writer, format!("<dds><data_writer>{topic}</data_writer></dds>"), Owner::Object(PUBLISHER)),
        (reader, format!("<dds><data_reader>{topic}{reliable}</data_reader></dds>"), Owner::Object(SUBSCRIBER)),
    ] {
        let kind = id.kind();
        assert_eq!(create(&mut client, id, kind, Representation::Xml(&xml), owner), StatusValue::OK, "{xml}");
    }
    let mut subscription = host.create_subscription::<UInt32>("/by_xml", Qos::default()).unwrap();
    client.read(reader, StreamId::RELIABLE, u16::MAX);
    client.write(StreamId::RELIABLE, writer, &[], &7_u32.to_le_bytes());
    client.until("the number", |client| client.data(reader) == [7_u32.to_le_bytes()]);
    client.until("the number", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == 7));
}

fn services_are_described_by_xml() {
    let (_agent, udp, lines) = agent(Config::default());
    let host = host();
    let mut client = TestClient::open(socket(&udp), 0x0d03);
    // There is no space between the attributes, as in eProsima's examples.
    let types = "request_type=\"std_srvs::srv::dds_::Trigger_Request_\"\
        reply_type=\"std_srvs::srv::dds_::Trigger_Response_\"";
    for (kind, name, service) in
        [(ObjectKind::REPLIER, "replier", "served_by_xml"), (ObjectKind::REQUESTER, "requester", "asked_by_xml")]
    {
        let xml = format!("<dds><{name} profile_name=\"mine\"service_name=\"{service}\"{types}></{name}></dds>");
        let status =
            create(&mut client, ObjectId::new(1, kind), kind, Representation::Xml(&xml), Owner::Object(PARTICIPANT));
        assert_eq!(status, StatusValue::OK, "{:?}", lines.lock().unwrap());
        let full_name = format!("/{service}");
        client.until(service, |_| host.service_names_and_types().unwrap().iter().any(|(known, _)| *known == full_name));
    }
}

fn xml_that_cannot_be_read_is_refused_with_its_defect() {
    let (_agent, udp, lines) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0d04);
    let id = ObjectId::new(1, ObjectKind::TOPIC);
    for (xml, defect) in [
        ("<dds><topic><name>rt/a</topic></dds>", "cannot be read"),
        ("<dds><topic><name>rt/a</name></topic></dds>", "no text at topic/dataType"),
        ("", "no text at topic/name"),
    ] {
        let status = create(&mut client, id, ObjectKind::TOPIC, Representation::Xml(xml), Owner::Object(PARTICIPANT));
        assert_eq!(status, StatusValue::INVALID_DATA);
        assert!(lines.lock().unwrap().iter().any(|line| line.contains(defect)), "{:?}", lines.lock().unwrap());
    }
}
