//! Bytes from eProsima's client that deviate from the standard.

use super::{message, only};
use crate::hex;
use gantry_xrce::wire::{
    ByteOrder, CreateClient, Error, Flags, Header, MessageBuilder, ObjectId, ObjectKind, ObjectRequest, Problem,
    ReadData, RequestId, SessionId, SubmessageId, Submessages, WriteData, parse, submessage_header,
};

/// In eProsima's CREATE_CLIENT, the length field does not count the properties.
#[test]
fn a_login_whose_length_leaves_out_its_properties() {
    let mut bytes = hex("80000000 00011000 58524345 0100 010f aaaabbbb 81 01 0000 01000000 07000000 7578725f686c00 00
             07000000 30313030303000 00 fc01");
    let is = |bytes: &[u8]| {
        let (_, submessage) = only(bytes);
        let client = submessage.read::<CreateClient<'_>>().unwrap().client;
        assert_eq!(client.mtu_bytes, 508);
        let properties: Vec<_> = client.properties.unwrap().iter().map(|p| (p.name, p.value)).collect();
        assert_eq!(properties, [(&b"uxr_hl"[..], &b"010000"[..])]);
    };
    is(&bytes);
    // The correct length is accepted as well. The bytes after this length are another submessage.
    bytes[6] = (bytes.len() - 8) as u8;
    is(&bytes);
}

/// Unknown properties are ignored, even if they are not UTF-8.
#[test]
fn a_property_may_be_any_bytes() {
    let bytes = hex("80000000 00012e00 58524345 0100 010f aaaabbbb 81 01 0000 01000000 07000000 7578ff5f686c00 00
             07000000 30313030303000 00 fc01");
    let client = only(&bytes).1.read::<CreateClient<'_>>().unwrap().client;
    assert_eq!(client.properties.unwrap().iter().next().unwrap().name, b"ux\xff_hl");
}

/// eProsima's client (`UCLIENT_TWEAK_XRCE_WRITE_LIMIT`) sends data above 64 KiB in fragments, with a length field of 0.
#[test]
fn data_that_is_longer_than_its_length_field_can_say() {
    let request = ObjectRequest { request: RequestId(10), object: ObjectId::new(1, ObjectKind::DATA_WRITER) };
    let data = vec![7; 70_000];
    let header = submessage_header(SubmessageId::WRITE_DATA, Flags::NONE, ByteOrder::Little, 4 + data.len()).unwrap();
    assert_eq!(header, [7, 1, 0, 0]);
    let bytes = [&header[..], &hex("000a 0015"), &data].concat();
    let mut submessages = Submessages::without_header(&bytes, 4);
    let read = submessages.next().unwrap().unwrap().read::<WriteData<'_>>().unwrap();
    assert_eq!(read, WriteData { request, data: &data });
    assert_eq!(submessages.next(), None);
    // Without fragments, such a submessage is refused, because all bytes after it would count as data.
    let mut buffer = vec![0; 80_000];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut buffer, &header, ByteOrder::Little).unwrap();
    let error = builder.add(Flags::NONE, &WriteData { request, data: &data }).unwrap_err();
    assert_eq!(error, Error { offset: 0, problem: Problem::TooLong { bytes: 70_004 } });
    assert_eq!(builder.bytes(), 4);
    // No other submessage may have more than 65535 bytes.
    let error = Error { offset: 0, problem: Problem::TooLong { bytes: 70_000 } };
    assert_eq!(submessage_header(SubmessageId::DATA, Flags::NONE, ByteOrder::Little, 70_000), Err(error));
}

/// eProsima's agent answers a GET_INFO without a submessage header. The answer is read as two empty CREATE_CLIENTs,
/// which are refused.
#[test]
fn an_info_without_its_submessage_header() {
    let bytes = hex("81000000 000a0000 00000000");
    let (header, submessages) = parse(&bytes).unwrap();
    assert_eq!(header, Header::streamless(SessionId::CLIENT));
    let submessages: Vec<_> = submessages.map(Result::unwrap).collect();
    assert_eq!(submessages.len(), 2);
    for submessage in submessages {
        assert_eq!(submessage.id, SubmessageId::CREATE_CLIENT);
        assert!(submessage.read::<CreateClient<'_>>().is_err());
    }
}

/// Reads several submessages in one message, with padding after the last one.
#[test]
fn three_requests_for_data_in_one_message() {
    let capture = hex(
        "81010c00 08011000 00160016 80000001 0300 0400 0500 0600 08010800 00170016 01000000 08011000 00180016 00000001
         0000 0000 0000 0000",
    );
    let (_, submessages) = parse(&capture).unwrap();
    let reads: Vec<_> = submessages.map(|read| read.unwrap().read::<ReadData<'_>>().unwrap()).collect();
    assert_eq!(reads.iter().map(|read| read.request.request.0).collect::<Vec<_>>(), [0x16, 0x17, 0x18]);
    let delivery = reads[0].delivery.unwrap();
    assert_eq!(
        (delivery.max_samples, delivery.max_elapsed_s, delivery.max_bytes_per_s, delivery.min_pace_ms),
        (3, 4, 5, 6)
    );
    assert_eq!(reads[1].delivery, None);
    assert_eq!(reads[2].delivery.unwrap().max_samples, 0);
    let mut buffer = [0; 128];
    let (header, _) = parse(&capture).unwrap();
    let mut builder = MessageBuilder::new(&mut buffer, &header, ByteOrder::Little).unwrap();
    for read in &reads {
        builder.add(Flags::NONE, read).unwrap();
    }
    let bytes = builder.bytes();
    assert_eq!(buffer[..bytes], capture);

    let padded = [
        &message(header, ByteOrder::Little, Flags::NONE, &WriteData { data: &[1], request: reads[0].request })[..],
        &[0xaa; 3],
    ];
    assert_eq!(only(&padded.concat()).1.read::<WriteData<'_>>().unwrap().data, [1]);
}
