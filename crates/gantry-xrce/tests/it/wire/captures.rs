//! Tests with messages that eProsima's client 3.0.0 and agent 2.4.2 exchanged. Each message is read, and written again
//! byte for byte.

use super::{message, only};
use crate::hex;
use gantry_xrce::wire::{
    AckNack, Activity, AgentRepresentation, ByteOrder, ClientKey, ClientRepresentation, Configuration, CreateClient,
    Data, DataFormat, Delete, DeliveryControl, Flags, GetInfo, Header, Info, InfoMask, List, ObjectId, ObjectInfo,
    ObjectKind, ObjectReply, ObjectRequest, Payload, ReadData, RequestId, ResultStatus, SessionId, Status, StatusAgent,
    StatusValue, StreamId, Time, Timestamp, TimestampReply, VENDOR_EPROSIMA, VERSION, WriteData,
};
use std::fmt::Debug;

const AGENT: AgentRepresentation<'static> =
    AgentRepresentation { version: VERSION, vendor: VENDOR_EPROSIMA, properties: None };

#[track_caller]
fn is<P>(capture: &str, header: Header, payload: P)
where
    P: for<'a> Payload<'a> + Debug + PartialEq,
{
    let capture = hex(capture);
    let (found, submessage) = only(&capture);
    assert_eq!(found, header);
    assert_eq!(submessage.id, <P as Payload>::ID);
    assert_eq!(submessage.flags, Flags::LITTLE_ENDIAN);
    assert_eq!(submessage.read::<P>().unwrap(), payload);
    assert_eq!(message(header, ByteOrder::Little, Flags::NONE, &payload), capture);
}

/// Like the macro above, for a payload that borrows from the message.
macro_rules! borrowed_is {
    ($capture:expr, $header:expr, $payload:expr, $type:ident) => {{
        let capture = hex($capture);
        let (found, submessage) = only(&capture);
        assert_eq!(found, $header);
        assert_eq!(submessage.id, $type::ID);
        assert_eq!(submessage.flags, Flags::LITTLE_ENDIAN);
        assert_eq!(submessage.read::<$type<'_>>().unwrap(), $payload);
        assert_eq!(message($header, ByteOrder::Little, Flags::NONE, &$payload), capture);
    }};
}

fn request(request: u16, object: ObjectId) -> ObjectRequest {
    ObjectRequest { request: RequestId(request), object }
}

fn streamless() -> Header {
    Header::streamless(SessionId::CLIENT)
}

fn in_stream(stream: StreamId, sequence: u16) -> Header {
    Header { stream, sequence, ..streamless() }
}

#[test]
fn a_ping_and_its_answer() {
    let question = GetInfo { request: request(10, ObjectId::AGENT), mask: InfoMask::ACTIVITY };
    is("8000000002010800000afffd02000000", Header::streamless(SessionId::NONE), question);
    let answer = Info {
        reply: ObjectReply { related: request(10, ObjectId::AGENT), result: ResultStatus::OK },
        info: ObjectInfo {
            configuration: Some(Configuration::Agent(AGENT)),
            activity: Some(Activity::Agent { availability: 1, locators: List::default() }),
        },
    };
    borrowed_is!(
        "8000000006011c00000afffd0000010d585243450100010f00010d000100000000000000",
        Header::streamless(SessionId::NONE),
        answer,
        Info
    );
}

#[test]
fn a_login_and_a_logout() {
    let client = ClientRepresentation {
        version: VERSION,
        vendor: VENDOR_EPROSIMA,
        key: ClientKey([0xaa, 0xaa, 0xbb, 0xbb]),
        session: SessionId::CLIENT,
        properties: None,
        mtu_bytes: 508,
    };
    borrowed_is!(
        "8000000000011000585243450100010faaaabbbb8100fc01",
        Header::streamless(SessionId::NONE),
        CreateClient { client },
        CreateClient
    );
    borrowed_is!(
        "8100000004010b000000585243450100010f00",
        streamless(),
        StatusAgent { result: ResultStatus::OK, agent: AGENT },
        StatusAgent
    );
    is("81000000030104000002fffe", streamless(), Delete { request: request(2, ObjectId::CLIENT) });
    let reply = ObjectReply { related: request(2, ObjectId::CLIENT), result: ResultStatus::OK };
    is("81000000050106000002fffe0000", streamless(), Status { reply });
}

#[test]
fn a_synchronisation_of_clocks() {
    let time = |seconds, nanoseconds| Time { seconds, nanoseconds };
    let sent = time(0x6b00_3f88, 0x2c4e_3cbb);
    is("810000000e010800883f006bbb3c4e2c", streamless(), Timestamp { transmit: sent, padding_bytes: 0 });
    let reply = TimestampReply {
        transmit: time(0x6b00_3f88, 0x2c4f_6701),
        receive: time(0x6b00_3f88, 0x2c4f_6368),
        originate: sent,
    };
    is("810000000f011800883f006b01674f2c883f006b68634f2c883f006bbb3c4e2c", streamless(), reply);
}

#[test]
fn an_answer_to_create_and_its_acknowledgement() {
    let result = ResultStatus { status: StatusValue::OK, implementation: 0 };
    let reply = ObjectReply { related: request(10, ObjectId::new(1, ObjectKind::PARTICIPANT)), result };
    is("8180000005010600000a00110000", in_stream(StreamId::RELIABLE, 0), Status { reply });
    let acknack = AckNack { first_unacknowledged: 1, missing: 0, stream: StreamId::RELIABLE };
    is("810000000a0105000100000080", streamless(), acknack);
}

#[test]
fn a_subscription_and_its_data() {
    let reader = request(14, ObjectId::new(1, ObjectKind::DATA_READER));
    let read = ReadData {
        request: reader,
        stream: StreamId::RELIABLE,
        format: DataFormat::DATA,
        content_filter: None,
        delivery: Some(DeliveryControl {
            max_samples: DeliveryControl::UNLIMITED,
            max_elapsed_s: 0,
            max_bytes_per_s: 0,
            min_pace_ms: 0,
        }),
    };
    borrowed_is!("8180010008011000000e001680000001ffff000000000000", in_stream(StreamId::RELIABLE, 1), read, ReadData);
    borrowed_is!(
        "8180040009011d00000e0016020000001100000048656c6c6f2044445320776f726c642100",
        in_stream(StreamId::RELIABLE, 4),
        Data { request: reader, data: &hello(2) },
        Data
    );
}

#[test]
fn a_published_sample() {
    let write = WriteData { request: request(14, ObjectId::new(1, ObjectKind::DATA_WRITER)), data: &hello(1) };
    borrowed_is!(
        "8180010007011d00000e0015010000001100000048656c6c6f2044445320776f726c642100",
        in_stream(StreamId::RELIABLE, 1),
        write,
        WriteData
    );
    borrowed_is!(
        "8101000007011d00000e0015010000001100000048656c6c6f2044445320776f726c642100",
        in_stream(StreamId::BEST_EFFORT, 0),
        write,
        WriteData
    );
}

/// The CDR of `HelloWorld { index, "Hello DDS world!" }`.
fn hello(index: u8) -> Vec<u8> {
    [&[index, 0, 0, 0, 17, 0, 0, 0][..], b"Hello DDS world!\0"].concat()
}
