//! Tests of the byte orders. Each submessage has its own byte order. The byte order of headers and identifiers is
//! fixed.

use super::{message, only};
use crate::hex;
use gantry_xrce::wire::{
    AckNack, Activity, ByteOrder, ClientKey, ClientRepresentation, Configuration, CreateClient, Flags, GetInfo, Header,
    Heartbeat, Info, InfoMask, Locator, MessageBuilder, ObjectId, ObjectInfo, ObjectKind, ObjectReply, ObjectRequest,
    Property, RequestId, Reset, ResultStatus, SampleIdentity, SessionId, StreamId, SubmessageId, Submessages, Time,
    Timestamp, VERSION, Writer, parse, split_reply, split_request,
};

const REQUEST: ObjectRequest =
    ObjectRequest { request: RequestId(0x0102), object: ObjectId::new(0x123, ObjectKind::TOPIC) };

#[test]
fn a_big_endian_payload_in_little_endian_headers() {
    let header = Header { stream: StreamId(0x81), sequence: 0x0304, ..Header::streamless(SessionId::CLIENT) };
    let info = GetInfo { request: REQUEST, mask: InfoMask(0x0506_0708) };
    let bytes = message(header, ByteOrder::Big, Flags::NONE, &info);
    assert_eq!(bytes, hex("81 81 0403  02 00 0800  0102 1232 05060708"));
    let (found, submessage) = only(&bytes);
    assert_eq!(found, header);
    assert_eq!(submessage.read::<GetInfo>().unwrap(), info);
}

#[test]
fn a_bitmap_is_big_endian_in_both() {
    let acknack = AckNack { first_unacknowledged: 0x0102, missing: 0x8001, stream: StreamId::RELIABLE };
    let header = Header::streamless(SessionId::CLIENT);
    assert_eq!(message(header, ByteOrder::Little, Flags::NONE, &acknack)[8..], hex("0201 8001 80"));
    assert_eq!(message(header, ByteOrder::Big, Flags::NONE, &acknack)[8..], hex("0102 8001 80"));
}

#[test]
fn submessages_of_both_orders_in_one_message() {
    let heartbeat = Heartbeat { first_unacknowledged: 1, last_sent: 2, stream: StreamId::RELIABLE };
    let timestamp = Timestamp { transmit: Time { seconds: -1, nanoseconds: 3 }, padding_bytes: 0 };
    let key = ClientKey([1, 2, 3, 4]);
    let header = Header { key, ..Header::streamless(SessionId(0x01)) };
    let mut buffer = [0; 64];
    let mut message = MessageBuilder::new(&mut buffer, &header, ByteOrder::Little).unwrap();
    message.add(Flags::NONE, &heartbeat).unwrap();
    let bytes = message.bytes();
    let mut message = MessageBuilder::resume(&mut buffer, bytes, 0, ByteOrder::Big);
    message.add(Flags::NONE, &timestamp).unwrap();
    message.add(Flags::NONE, &Reset).unwrap();
    let bytes = message.bytes();
    assert_eq!(
        buffer[..bytes],
        hex("01 00 0000 01020304  0b 01 0500 0100 0200 80 000000  0e 00 0800 ffffffff 00000003  0c 00 0000")
    );
    let (found, submessages) = parse(&buffer[..bytes]).unwrap();
    assert_eq!(found, header);
    let submessages: Vec<_> = submessages.map(Result::unwrap).collect();
    assert_eq!(submessages[0].read::<Heartbeat>().unwrap(), heartbeat);
    assert_eq!(submessages[1].read::<Timestamp>().unwrap(), timestamp);
    assert_eq!(submessages[2].id, SubmessageId::RESET);
    assert_eq!(submessages.len(), 3);
}

#[test]
fn a_payload_without_its_header_is_aligned_as_if_it_were_there() {
    // The 64-bit number is aligned to 8 bytes from the start of the message, so its padding depends on the header's
    // length.
    let activity = Activity::DataWriter { stream_sequence: -1, sample_sequence: 0x0102_0304_0506_0708 };
    let info = Info {
        reply: ObjectReply { related: REQUEST, result: ResultStatus::OK },
        info: ObjectInfo { configuration: None, activity: Some(activity) },
    };
    for (session, order) in [(SessionId::CLIENT, ByteOrder::Little), (SessionId(1), ByteOrder::Big)] {
        let header = Header::streamless(session);
        let whole = message(header, order, Flags::NONE, &info);
        let mut body = [0; 64];
        let mut builder = MessageBuilder::resume(&mut body, 0, header.bytes(), order);
        builder.add(Flags::NONE, &info).unwrap();
        let bytes = builder.bytes();
        assert_eq!(body[..bytes], whole[header.bytes()..]);
        let read = Submessages::without_header(&body[..bytes], header.bytes()).next().unwrap().unwrap();
        assert_eq!(read.read::<Info<'_>>().unwrap(), info);
    }
}

#[test]
fn the_configuration_of_a_client_and_locators() {
    let properties = [Property { name: b"gantry", value: b"1" }, Property { name: b"uxr_hl", value: b"010000" }];
    let client = ClientRepresentation {
        version: VERSION,
        vendor: [0x12, 0x34],
        key: ClientKey([5, 6, 7, 8]),
        session: SessionId::CLIENT,
        properties: Some((&properties[..]).into()),
        mtu_bytes: 0x1234,
    };
    let locators = [
        Locator::Small { address: [1, 2], port: 3 },
        Locator::Medium { address: [127, 0, 0, 1], port: 2019 },
        Locator::Large { address: [9; 16], port: 0x0102_0304 },
        Locator::Text("/dev/ttyS0"),
    ];
    let info = Info {
        reply: ObjectReply { related: REQUEST, result: ResultStatus::OK },
        info: ObjectInfo {
            configuration: Some(Configuration::Client(client)),
            activity: Some(Activity::Agent { availability: -1, locators: (&locators[..]).into() }),
        },
    };
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let bytes = message(Header::streamless(SessionId::NONE), order, Flags::NONE, &info);
        let (_, submessage) = only(&bytes);
        let read = submessage.read::<Info<'_>>().unwrap();
        assert_eq!(read, info);
        assert_eq!(submessage.object_reply().unwrap(), info.reply);
        let Some(Configuration::Client(found)) = read.info.configuration else { panic!("{read:?}") };
        assert_eq!(found.properties.unwrap().iter().collect::<Vec<_>>(), properties);

        let bytes = message(Header::streamless(SessionId::NONE), order, Flags::NONE, &CreateClient { client });
        assert_eq!(only(&bytes).1.read::<CreateClient<'_>>().unwrap(), CreateClient { client });
    }
}

/// Splits the data of a service, taken from a reply of eProsima's client 3.0.0.
#[test]
fn a_request_and_its_reply() {
    let capture = hex("01 02030405060708090a0b0c0a0b0c03 01000000 02000000 0300000000000000");
    let (identity, reply) = split_request(&capture, ByteOrder::Little).unwrap();
    assert_eq!(identity.writer, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 10, 11, 12, 3]);
    assert_eq!(identity.sequence, 0x1_0000_0002);
    assert_eq!(reply, [3, 0, 0, 0, 0, 0, 0, 0]);
    for (order, expected) in [(ByteOrder::Little, hex("01000000 02000000")), (ByteOrder::Big, hex("00000001 00000002"))]
    {
        let mut bytes = [0; SampleIdentity::BYTES];
        identity.write(&mut Writer::new(&mut bytes, order));
        assert_eq!(bytes[16..], expected);
        assert_eq!(split_request(&bytes, order).unwrap(), (identity, &[][..]));
        assert!(split_request(&bytes[..23], order).is_err());
    }
    assert_eq!(split_reply(&hex("0102 1232 aa")).unwrap(), (REQUEST, &[0xaa][..]));
    assert!(split_reply(&[0; 3]).is_err());
}
