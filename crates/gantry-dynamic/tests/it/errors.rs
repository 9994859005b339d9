//! Tests that errors about malformed bytes state the field and the offset like the errors of `gantry-cdr`.

use super::message_type;
use gantry_cdr::ByteOrder::{BigEndian, LittleEndian};

/// Makes a view of the bytes, and returns the text of its error.
fn error(definition: &str, bytes: &[u8]) -> String {
    message_type(definition).view(bytes, LittleEndian).map(|message| message.to_string()).unwrap_err().to_string()
}

#[test]
fn bytes_that_end_too_early() {
    assert_eq!(error("uint8 a\nuint32 b", b"\x01\0\0\0\0"), "`b` at byte 1: 4 bytes are needed and 1 are left");
    assert_eq!(error("uint8 a\nuint32 b", b"\x01"), "`b` at byte 1: 4 bytes are needed and 0 are left");
    assert_eq!(error("string a", b"\x05\0\0\0abc\0"), "`a` at byte 4: 5 bytes are needed and 4 are left");
    assert_eq!(error("string a", b"\x05\0"), "`a` at byte 0: 4 bytes are needed and 2 are left");
    assert_eq!(
        error("float64[] a", b"\xff\xff\xff\xff\0\0\0\0"),
        "`a` at byte 4: 34359738360 bytes are needed and 0 are left"
    );
    assert_eq!(error("wstring a", b"\x02\0\0\0\0\0\0\0"), "`a` at byte 4: 8 bytes are needed and 4 are left");
    assert_eq!(error("string[] a", b"\x02\0\0\0\x01\0\0\0\0"), "`a[1]` at byte 9: 4 bytes are needed and 0 are left");
    assert_eq!(error("", b""), "at byte 0: 1 bytes are needed and 0 are left");
}

#[test]
fn bytes_behind_the_message_are_passed_over() {
    let test = message_type("uint8 a");
    for length in [1, 4, 5, 89] {
        assert_eq!(test.view(&[7; 89][..length], LittleEndian).unwrap().to_string(), "a: 7\n");
    }
}

#[test]
fn lengths_above_their_bound() {
    assert_eq!(error("string<=2 a", b"\x04\0\0\0abc\0"), "`a` at byte 4: its length is 3 and may be 2");
    assert_eq!(error("uint8[<=2] a", b"\x03\0\0\0abc"), "`a` at byte 4: its length is 3 and may be 2");
    assert_eq!(error("string[<=1] a", b"\x02\0\0\0"), "`a` at byte 4: its length is 2 and may be 1");
    assert_eq!(
        error("wstring<=1 a", &[2, 0, 0, 0, 65, 0, 0, 0, 65, 0, 0, 0]),
        "`a` at byte 4: its length is 2 and may be 1"
    );
}

#[test]
fn bytes_that_are_not_values() {
    assert_eq!(error("uint8 a\nbool b", &[0, 2]), "`b` at byte 1: a boolean is 2; it may be 0 or 1");
    assert_eq!(error("bool[2] a", &[1, 7]), "`a` at byte 0: a boolean is 7; it may be 0 or 1");
    assert_eq!(error("bool[] a", &[2, 0, 0, 0, 1, 7]), "`a` at byte 4: a boolean is 7; it may be 0 or 1");
    assert_eq!(error("string a", b"\x02\0\0\0\xff\0"), "`a` at byte 4: its text is not UTF-8");
    assert_eq!(error("string a", b"\x02\0\0\0ab"), "`a` at byte 4: its text does not end in 0");
    assert_eq!(error("wstring a", &[1, 0, 0, 0, 0, 0xd8, 0, 0]), "`a` at byte 4: its text is not UTF-16");
    assert_eq!(error("wstring a", &[1, 0, 0, 0, 0, 0, 1, 0]), "`a` at byte 4: its text is not UTF-16");
}

#[test]
fn errors_in_nested_messages_have_the_whole_path() {
    let nested = "uint8 a\nOuter[] outer\n===\nMSG: test/Outer\nInner inner\n===\nMSG: test/Inner\nstring[2] texts";
    let bytes = b"\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0x";
    assert_eq!(error(nested, bytes), "`outer[0].inner.texts[1]` at byte 20: its text does not end in 0");
}

#[test]
fn plain_messages_are_checked_as_a_whole() {
    let nested = "Point point\nstring after\n===\nMSG: test/Point\nfloat32 x\nfloat32 y";
    assert_eq!(error(nested, &[0; 7]), "`point` at byte 0: 8 bytes are needed and 7 are left");
}

#[test]
fn lengths_are_read_in_their_byte_order() {
    let test = message_type("string a");
    let error = test.view(b"\x02\0\0\0a\0", BigEndian).unwrap_err();
    assert_eq!(error.to_string(), "`a` at byte 4: 33554432 bytes are needed and 2 are left");
}

#[test]
fn encapsulations_other_than_cdr() {
    let test = message_type("uint8 a");
    let error = |bytes: &[u8]| test.view_cdr(bytes).unwrap_err().to_string();
    assert_eq!(error(&[0, 1, 0]), "at byte 0: 4 bytes are needed and 3 are left");
    assert!(error(&[0, 7, 0, 0, 0]).starts_with("at byte 0: the encapsulation is 00 07; "));
}
