//! Tests of bytes that views and the copy path refuse: the field, the offset and the sentence of each error.

use crate::message::{Pair, Then, aligned};
use gantry_cdr::{
    ByteOrder, Message, Problem,
    kind::{Array, FixedList, List, Number, Slice, Text, WideText},
    split_encapsulation,
};

/// The text of the error that a view returns for the bytes. Checks that the copy path refuses the bytes as well.
#[track_caller]
fn refused<T: Message>(bytes: &[u8]) -> String {
    let error = T::view(aligned(bytes)).map(drop).unwrap_err();
    T::new_box().read_body(bytes, ByteOrder::LittleEndian).unwrap_err();
    error.to_string()
}

#[test]
fn bytes_that_end_too_early_are_refused_with_the_needed_length() {
    assert_eq!(refused::<Then<Number<u32>>>(&[1, 2]), "`first` at byte 0: 4 bytes are needed and 2 are left");
    assert_eq!(refused::<Then<Number<u32>>>(&[1, 2, 3, 4]), "`second` at byte 4: 1 bytes are needed and 0 are left");
    let sentence = "`first` at byte 4: 24 bytes are needed and 12 are left";
    let mut body = [0; 20];
    body[0] = 3;
    assert_eq!(refused::<Then<Slice<f64>>>(&body), sentence);
    assert_eq!(refused::<Then<Text>>(&[9, 0, 0, 0, 0]), "`first` at byte 4: 9 bytes are needed and 1 are left");
    assert_eq!(refused::<Then<Array<u16, 4>>>(&[0; 7]), "`first` at byte 0: 8 bytes are needed and 7 are left");
    let error = "`first[1]` at byte 9: 4 bytes are needed and 0 are left";
    assert_eq!(refused::<Then<List<Text>>>(&[2, 0, 0, 0, 1, 0, 0, 0, 0]), error);
}

#[test]
fn paths_lead_into_lists_and_messages() {
    type Outer = Then<List<Pair<Number<u8>, FixedList<Text, 2>>>>;
    let mut body = vec![1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0];
    assert_eq!(refused::<Outer>(&body), "`first[0].second[1]` at byte 20: its text is not UTF-8");
    body[20] = b'a';
    body[21] = b'b';
    assert_eq!(refused::<Outer>(&body), "`first[0].second[1]` at byte 20: its text does not end in 0");
    let error = Outer::view(aligned(&body)).map(drop).unwrap_err();
    assert_eq!(
        (error.path(), error.offset_bytes(), error.problem()),
        ("first[0].second[1]", 20, &Problem::NotTerminated)
    );
}

#[test]
fn bounds_are_kept() {
    let body = [3, 0, 0, 0, b'a', b'b', 0, 7];
    assert_eq!(refused::<Then<Text<1>>>(&body), "`first` at byte 4: its length is 2 and may be 1");
    <Then<Text<2>>>::view(aligned(&body)).map(drop).unwrap();
    let body = [2, 0, 0, 0, 1, 1, 7];
    assert_eq!(refused::<Then<Slice<u8, 1>>>(&body), "`first` at byte 4: its length is 2 and may be 1");
    <Then<Slice<u8, 2>>>::view(aligned(&body)).map(drop).unwrap();
    let body = [2, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0, 7];
    assert_eq!(refused::<Then<WideText<1>>>(&body), "`first` at byte 4: its length is 2 and may be 1");
    <Then<WideText<2>>>::view(aligned(&body)).map(drop).unwrap();
    let body = [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 7];
    assert_eq!(refused::<Then<List<Text, 1>>>(&body), "`first` at byte 4: its length is 2 and may be 1");
    <Then<List<Text, 2>>>::view(aligned(&body)).map(drop).unwrap();
}

#[test]
fn a_boolean_is_zero_or_one() {
    let sentence = "a boolean is 2; it may be 0 or 1";
    assert_eq!(refused::<Then<Number<bool>>>(&[2, 0]), format!("`first` at byte 0: {sentence}"));
    assert_eq!(refused::<Then<Array<bool, 3>>>(&[1, 0, 2, 0]), format!("`first` at byte 0: {sentence}"));
    assert_eq!(refused::<Then<Slice<bool>>>(&[2, 0, 0, 0, 1, 2, 0]), format!("`first` at byte 4: {sentence}"));
}

#[test]
fn an_unpaired_surrogate_and_a_number_above_16_bits_are_refused_in_wide_texts() {
    for unit in [0xd83d_u32, 0xde00, 0x1_0000, 0x00e9_0000, u32::MAX] {
        let body = [&[1, 0, 0, 0], &unit.to_le_bytes()[..], &[7]].concat();
        assert_eq!(refused::<Then<WideText>>(&body), "`first` at byte 4: its text is not UTF-16", "{unit:#x}");
    }
}

/// A `JointState(name=['a', 'b'], position=[1, 2])` from rclpy's `serialize_message`: a message of 64 bytes, then 8
/// surplus bytes.
const SURPLUS: &[u8] = b"\0\x01\0\0\
\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\
\x02\0\0\0\x02\0\0\0a\0\0\0\x02\0\0\0b\0\0\0\
\x02\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40\
\0\0\0\0\0\0\0\0\
\xee\xee\xee\xee\xee\xee\xee\xee";

#[test]
fn bytes_behind_a_message_are_passed_over() {
    type Stamp = Pair<Number<i32>, Number<u32>>;
    type Header = Pair<Stamp, Text>;
    type Numbers = Pair<Slice<f64>, Slice<f64>>;
    type Joints = Pair<Pair<Header, List<Text>>, Pair<Slice<f64>, Numbers>>;
    let joints = Joints::from_cdr(SURPLUS).unwrap();
    assert_eq!(
        (joints.first.second.as_slice(), joints.second.first.as_slice()),
        (&["a".to_owned(), "b".into()][..], &[1.0, 2.0][..])
    );
    assert_eq!(joints.to_cdr().unwrap(), SURPLUS[..SURPLUS.len() - 8]);
    let body = aligned(&SURPLUS[4..]);
    assert_eq!(Joints::view(&body).unwrap().second().first(), [1.0, 2.0]);
    for more in [0, 1, 3, 4, 88] {
        let body = [&[5; 2], &vec![0xff; more][..]].concat();
        <Pair<Number<u8>, Number<u8>>>::view(aligned(&body)).map(drop).unwrap();
    }
}

#[test]
fn lengths_of_billions_of_elements_are_refused_before_any_work_for_them() {
    // Each round would need gigabytes of memory or a second of work if the counts were believed.
    fn check<K: crate::message::Any>() {
        for count in [u32::MAX, 0x8000_0000, 0x2000_0000] {
            let body = [&count.to_le_bytes()[..], &[0; 60]].concat();
            refused::<Then<K>>(&body);
            let mut swapped = body.clone();
            swapped[..4].reverse();
            <Then<K>>::new_box().read_body(&swapped, ByteOrder::BigEndian).unwrap_err();
        }
    }
    for _ in 0..if cfg!(miri) { 1 } else { 100 } {
        check::<Slice<u8>>();
        check::<Slice<f64>>();
        check::<Slice<bool>>();
        check::<Text>();
        check::<WideText>();
        check::<List<Text>>();
        check::<List<Pair<Number<u8>, Slice<f64>>>>();
    }
}

#[test]
fn a_body_that_is_not_aligned_is_refused_in_place_and_read_by_copying() {
    let memory = aligned(&[0, 5, 0]);
    let body = &memory.as_ref()[1..];
    let error = <Pair<Number<u8>, Number<u8>>>::view(body).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "at byte 0: the body is not 8-byte aligned; copy it to `AlignedBytes`");
    let mut message = <Pair<Number<u8>, Number<u8>>>::default();
    message.read_body(body, ByteOrder::LittleEndian).unwrap();
    assert_eq!((message.first, message.second), (5, 0));
}

#[test]
fn encapsulations_other_than_cdr_are_refused() {
    type Byte = Pair<Number<u8>, Number<u8>>;
    assert_eq!(split_encapsulation(&[0, 0, 9, 9, 1]).unwrap(), (ByteOrder::BigEndian, &[1][..]));
    assert_eq!(split_encapsulation(&[0, 1, 0, 0]).unwrap(), (ByteOrder::LittleEndian, &[][..]));
    let told = |bytes: &[u8]| Byte::from_cdr(bytes).map(drop).unwrap_err().to_string();
    assert_eq!(told(&[0, 1, 0]), "test/msg/Pair at byte 0: 4 bytes are needed and 3 are left");
    assert_eq!(
        told(&[0, 3, 0, 0, 1, 1]),
        "test/msg/Pair at byte 0: the encapsulation is 00 03; 00 00 (CDR, big endian) and 00 01 (CDR, little endian) can be read, the \
         former by copying only"
    );
}
