//! Tests that defective or truncated bytes are refused.

use super::only;
use crate::hex;
use gantry_xrce::wire::{
    ByteOrder, Code, Create, Entity, Error, Flags, Header, MessageBuilder, Object, ObjectId, ObjectKind, ObjectRequest,
    Owner, Problem, RequestId, Reset, SessionId, SubmessageId, Topic, WriteData, parse,
};
use test_support::xrce::{messages, read_again};

const MESSAGES: [&str; 12] = [
    "8000000002010800000afffd02000000",
    "8000000006011c00000afffd0000010d585243450100010f00010d000100000000000000",
    "8000000000011000585243450100010faaaabbbb8100fc01",
    "8100000004010b000000585243450100010f00",
    "810000000f011800883f006b01674f2c883f006b68634f2c883f006bbb3c4e2c",
    "8180000005010600000a00110000",
    "810000000a0105000100000080",
    "8180010008011000000e001680000001ffff000000000000",
    "81000000030104000002fffe",
    "8101000001051a00000a0011010300000c0000000001000004000000696d75000000",
    "8101050001051c00000f0015050300000e000000001201000b0001000500000000000013",
    "8101020001054300000c001202030000350000000b00000072742f636861747465720000010000001d000000
     7374645f6d7367733a3a6d73673a3a6464735f3a3a537472696e675f000011",
];

#[test]
fn a_message_that_is_cut_off_anywhere_is_refused() {
    for text in MESSAGES {
        let whole = hex(text);
        for bytes in 0..whole.len() {
            let cut = whole[..bytes].to_vec();
            match parse(&cut) {
                Err(Error { problem: Problem::End { .. }, .. }) => assert!(bytes < 4),
                Err(error) => panic!("{error}"),
                // The message has only its header.
                Ok((_, mut submessages)) => match submessages.next() {
                    None => assert_eq!(bytes, 4),
                    Some(read) => assert!(matches!(read.unwrap_err().problem, Problem::End { .. })),
                },
            }
        }
        // A submessage whose length field is too small for its payload.
        let said = usize::from(whole[6]);
        for bytes in 0..said {
            let mut cut = whole[..8 + bytes].to_vec();
            cut[6] = bytes as u8;
            let error = read_again(&only(&cut).1).unwrap_err();
            assert!(matches!(error.problem, Problem::End { .. }), "{text}, {bytes} bytes: {error}");
        }
    }
}

#[test]
fn damaged_and_random_messages_do_no_harm() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let mut damaged = hex(MESSAGES[random.usize(..MESSAGES.len())]);
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..damaged.len());
            damaged[at] = random.u8(..);
        }
        messages(&damaged);
        let mut noise = vec![0; random.usize(..100)];
        random.fill(&mut noise);
        messages(&noise);
    }
}

#[test]
fn a_defect_says_where_it_is() {
    let refused = |text: &str| {
        let bytes = hex(text);
        read_again(&only(&bytes).1).unwrap_err()
    };
    let cookie = refused("8000000000011000585243460100010faaaabbbb8100fc01");
    assert_eq!(cookie, Error { offset: 8, problem: Problem::Cookie });
    let boolean = refused("8000000000011000585243450100010faaaabbbb8107fc01");
    assert_eq!(boolean, Error { offset: 21, problem: Problem::NotBoolean { value: 7 } });
    assert_eq!(boolean.to_string(), "at byte 21: a boolean is 7; it may be 0 or 1");
    let format = refused("8101030001051000000d0013030500000200000000000011");
    let unknown = Problem::Unknown { code: Code::RepresentationFormat, value: 5 };
    assert_eq!(format, Error { offset: 13, problem: unknown });
    // Alignment in the binary representation is counted from its own start; the offsets of errors are counted from
    // the message's start.
    let text = refused("8101000001051a00000a0011010300000c0000000001000004000000696dff000000");
    assert_eq!(text, Error { offset: 24, problem: Problem::NotText });
    let unterminated = refused("8101000001051a00000a0011010300000c0000000001000004000000696d75610000");
    assert_eq!(unterminated.problem, Problem::NotText);
}

#[test]
fn a_submessage_that_does_not_fit_leaves_no_trace() {
    let request = ObjectRequest { request: RequestId(10), object: ObjectId::CLIENT };
    let mut buffer = [0; 29];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut buffer, &header, ByteOrder::Little).unwrap();
    builder.add(Flags::NONE, &WriteData { request, data: &[1, 2, 3] }).unwrap();
    let bytes = builder.bytes();
    assert_eq!(bytes, 15);
    let error = builder.add(Flags::NONE, &WriteData { request, data: &[0; 6] }).unwrap_err();
    assert_eq!(error, Error { offset: 24, problem: Problem::Room { needed_bytes: 6 } });
    assert_eq!(builder.bytes(), bytes);
    builder.add(Flags::NONE, &WriteData { request, data: &[4; 5] }).unwrap();
    assert_eq!(builder.bytes(), 29);
    let error = builder.add(Flags::NONE, &Reset).unwrap_err();
    assert_eq!(error, Error { offset: 29, problem: Problem::Room { needed_bytes: 3 } });
    assert_eq!(builder.bytes(), 29);
    let (_, submessages) = parse(&buffer).unwrap();
    let data: Vec<_> = submessages.map(|read| read.unwrap().read::<WriteData<'_>>().unwrap().data).collect();
    assert_eq!(data, [&[1, 2, 3][..], &[4; 5]]);
}

#[test]
fn a_message_in_a_buffer_of_any_length_is_whole_or_refused() {
    let request = ObjectRequest { request: RequestId(10), object: ObjectId::new(1, ObjectKind::TOPIC) };
    let topic = Topic { name: "rt/chatter", type_name: Some("std_msgs::msg::dds_::String_"), ..Topic::default() };
    let create = Create { request, object: Object::binary(Entity::Topic(topic), Owner::Object(ObjectId::INVALID)) };
    let data = WriteData { request, data: &[0xff; 8] };
    let header = Header::streamless(SessionId(1));
    let build = |buffer: &mut [u8]| {
        let mut builder = MessageBuilder::new(buffer, &header, ByteOrder::Little)?;
        builder.add(Flags::NONE, &data)?;
        let added = builder.add(Flags::NONE, &create);
        Ok((builder.bytes(), added.is_ok()))
    };
    let mut whole = [0; 200];
    let (length, _): (usize, bool) = build(&mut whole).unwrap();
    let first = 8 + 4 + 4 + data.data.len();
    for bytes in 0..=length {
        let mut buffer = vec![0xaa; bytes];
        let built: Result<_, Error> = build(&mut buffer);
        let expected = match bytes {
            _ if bytes == length => Some((length, true)),
            _ if bytes >= first => Some((first, false)),
            _ => None,
        };
        assert_eq!(built.ok(), expected);
        if let Some((written, _)) = expected {
            assert_eq!(buffer[..written], whole[..written], "in {bytes} bytes");
        }
    }
}

#[test]
fn data_can_be_composed_in_place() {
    let mut buffer = [0; 32];
    let mut builder =
        MessageBuilder::new(&mut buffer, &Header::streamless(SessionId::CLIENT), ByteOrder::Little).unwrap();
    let started = builder.begin(SubmessageId::FRAGMENT, Flags::LAST_FRAGMENT);
    builder.writer().room()[..2].copy_from_slice(&[5, 6]);
    builder.writer().advance(2);
    builder.end(started).unwrap();
    let cancelled = builder.begin(SubmessageId::FRAGMENT, Flags::NONE);
    builder.writer().put(&[1]);
    builder.cancel(cancelled);
    // After a field that did not fit, no other field is written, even if it would fit.
    let started = builder.begin(SubmessageId::FRAGMENT, Flags::NONE);
    builder.writer().advance(100);
    builder.writer().put(&[1]);
    let error = builder.end(started).unwrap_err();
    assert_eq!(error, Error { offset: 16, problem: Problem::Room { needed_bytes: 100 } });
    let bytes = builder.bytes();
    assert_eq!(buffer[..bytes], hex("81000000 0d030200 0506"));
}
