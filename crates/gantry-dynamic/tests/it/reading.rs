//! Tests of values from bytes that are written by hand, in both byte orders.

use super::message_type;
use gantry_cdr::{
    AlignedBytes,
    ByteOrder::{BigEndian, LittleEndian},
};
use gantry_dynamic::{MessageType, Value};
use gantry_idl::Definitions;

#[test]
fn an_eight_byte_number_after_a_string_is_aligned_in_both_orders() {
    let test = message_type("string name\nfloat64 value\nint16 last");
    let little = b"\x03\0\0\0ab\0\xff\0\0\0\0\0\0\xf8\x3f\xfe\xff";
    let big = b"\0\0\0\x03ab\0\xff\x3f\xf8\0\0\0\0\0\0\xff\xfe";
    for (bytes, order) in [(little, LittleEndian), (big, BigEndian)] {
        let message = test.view(bytes, order).unwrap();
        let values: Vec<String> = message.fields().map(|(field, value)| format!("{} {value:?}", field.name)).collect();
        assert_eq!(values, ["name Text(\"ab\")", "value Float64(1.5)", "last Int16(-2)"]);
    }
}

#[test]
fn every_number_has_its_type_and_sign() {
    let test = message_type(
        "bool a\nbyte b\nchar c\nint8 d\nuint8 e\nint16 f\nuint16 g\nint32 h\nuint32 i\nfloat32 j\nint64 k\nuint64 l",
    );
    let mut big = vec![1, 0xff, 0xfe, 0xfd, 0xfc, 0, 0xff, 0xfb, 0xff, 0xfa, 0, 0];
    big.extend([0xff, 0xff, 0xff, 0xf9, 0xff, 0xff, 0xff, 0xf8, 0xbf, 0x80, 0, 0]);
    big.extend((-9_i64).to_be_bytes());
    big.extend((u64::MAX - 9).to_be_bytes());
    let message = test.view(&big, BigEndian).unwrap();
    assert_eq!(
        format!("{message:?}"),
        "{\"a\": Bool(true), \"b\": Byte(255), \"c\": Uint8(254), \"d\": Int8(-3), \"e\": Uint8(252), \"f\": Int16(-5), \
         \"g\": Uint16(65530), \"h\": Int32(-7), \"i\": Uint32(4294967288), \"j\": Float32(-1.0), \"k\": Int64(-9), \
         \"l\": Uint64(18446744073709551606)}"
    );
    assert_eq!(message.get("k").and_then(|k| k.as_integer()), Some(-9));
    assert_eq!(message.get("j").and_then(|j| j.as_float()), Some(-1.0));
}

#[test]
fn paths_lead_through_messages_and_lists() {
    let test =
        message_type("Inner[] inner\nInner one\nuint16[3] numbers\n===\nMSG: test/Inner\nstring[] names\nuint8 number");
    let bytes =
        b"\x02\0\0\0\x02\0\0\0\x02\0\0\0a\0\0\0\x03\0\0\0bc\0\x07\0\0\0\0\x08\0\0\0\0\0\0\0\x09\0\x01\0\x02\0\x03\0";
    let message = test.view(bytes, LittleEndian).unwrap();
    assert_eq!(message.get("inner[0].names[1]").and_then(|name| name.as_str()), Some("bc"));
    let number = |path| message.get(path).and_then(|value| value.as_integer());
    assert_eq!(number("inner[0].number"), Some(7));
    assert_eq!(number("inner[1].number"), Some(8));
    assert_eq!(number("one.number"), Some(9));
    assert_eq!(number("numbers[2]"), Some(3));
    let Some(Value::Message(one)) = message.get("one") else { panic!("`one` is a message") };
    assert_eq!(one.definition().name.to_string(), "test/msg/Inner");
    for nowhere in [
        "",
        ".",
        "x",
        "inner[2]",
        "inner[-1]",
        "inner[0]number",
        "inner[0",
        "inner.number",
        "numbers[3]",
        "numbers[0][0]",
        "one.",
        "one.number.x",
        "one[0]",
        "inner[0].names[0].x",
    ] {
        assert!(message.get(nowhere).is_none(), "`{nowhere}` leads somewhere");
    }
}

#[test]
fn a_list_of_plain_messages_is_found_by_index() {
    let test =
        message_type("uint8 before\nPoint[] points\nuint8 after\n===\nMSG: test/Point\nfloat64 x\nint32 y\nint32 z");
    let mut bytes = vec![1, 0, 0, 0, 2, 0, 0, 0];
    for (x, y) in [(0.5, 1), (1.5, 2)] {
        bytes.extend(f64::to_le_bytes(x));
        bytes.extend(i32::to_le_bytes(y));
        bytes.extend([0; 4]);
    }
    bytes.push(9);
    let message = test.view(&bytes, LittleEndian).unwrap();
    assert_eq!(message.get("points[1].x").and_then(|x| x.as_float()), Some(1.5));
    assert_eq!(message.get("points[1].y").and_then(|y| y.as_integer()), Some(2));
    assert!(message.get("points[2]").is_none());
    assert_eq!(message.get("after").and_then(|after| after.as_integer()), Some(9));
}

#[test]
fn an_empty_sequence_has_no_padding_after_it() {
    let test = message_type("float64[] numbers\nuint8 after\nfloat64[] last");
    let message = test.view(&[0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0], LittleEndian).unwrap();
    assert_eq!(message.get("after").and_then(|after| after.as_integer()), Some(7));
    assert!(message.get("last").unwrap().as_list().unwrap().is_empty());
}

#[test]
fn an_empty_message_is_one_byte() {
    let test = message_type("Empty first\nEmpty[2] more\nuint8 after\n===\nMSG: test/Empty\nuint8 CONSTANT=1");
    let message = test.view(&[0, 0, 0, 5], LittleEndian).unwrap();
    assert_eq!(message.get("after").and_then(|after| after.as_integer()), Some(5));
    let empty = message_type("");
    assert_eq!(empty.view(&[0], LittleEndian).unwrap().fields().count(), 0);
    assert!(empty.view(&[], LittleEndian).is_err());
}

#[test]
fn wide_texts_have_four_bytes_a_unit() {
    let test = message_type("wstring text\nuint8 after");
    let little = b"\x03\0\0\0\xe9\0\0\0\x3d\xd8\0\0\0\xde\0\0\x07";
    let big = b"\0\0\0\x03\0\0\0\xe9\0\0\xd8\x3d\0\0\xde\0\x07";
    for (bytes, order) in [(little, LittleEndian), (big, BigEndian)] {
        let message = test.view(bytes, order).unwrap();
        let Some(Value::WideText(text)) = message.get("text") else { panic!("`text` is a wide text") };
        assert_eq!((text.to_string(), text.units()), ("é😀".to_owned(), 3));
        assert_eq!(message.get("after").and_then(|after| after.as_integer()), Some(7));
    }
}

#[test]
fn an_empty_string_may_have_no_terminator() {
    let test = message_type("string text\nuint8 after");
    let message = test.view(&[0, 0, 0, 0, 7], LittleEndian).unwrap();
    assert_eq!(message.get("text").and_then(|text| text.as_str()), Some(""));
}

#[test]
fn aligned_little_endian_numbers_are_slices() {
    let test = message_type("uint32[] words\nuint8[] bytes\nbool[] flags\nstring[] texts");
    let body = b"\x02\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0abc\0\x01\0\0\0\x01\0\0\0\0\0\0\0";
    let list = |message: &gantry_dynamic::DynamicMessage<'static>, name| message.get(name).unwrap().as_list().unwrap();
    let aligned: &'static AlignedBytes = Box::leak(Box::new(AlignedBytes::copy_of(body)));
    let test: &'static MessageType = Box::leak(Box::new(test));
    let message = test.view(aligned.as_ref(), LittleEndian).unwrap();
    assert_eq!(list(&message, "words").as_slice::<u32>(), Some(&[1, 2][..]));
    assert_eq!(list(&message, "words").as_slice::<i32>(), None, "they are not signed");
    assert_eq!(list(&message, "bytes").as_slice::<u8>(), Some(&b"abc"[..]));
    assert_eq!(list(&message, "texts").as_slice::<u8>(), None, "texts are no numbers");
    assert_eq!(list(&message, "flags").len(), 1);

    let shifted: &'static AlignedBytes = Box::leak(Box::new(AlignedBytes::copy_of(&[&[0], &body[..]].concat())));
    let message = test.view(&shifted.as_ref()[1..], LittleEndian).unwrap();
    let words = list(&message, "words");
    assert_eq!(words.as_slice::<u32>(), None, "they are not aligned");
    assert_eq!(words.iter().filter_map(|word| word.as_integer()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(list(&message, "bytes").as_slice::<u8>(), Some(&b"abc"[..]));

    let body = b"\0\0\0\x01\0\0\0\x05\0\0\0\x01a\0\0\0\0\0\0\0\0\0\0\0";
    let foreign: &'static AlignedBytes = Box::leak(Box::new(AlignedBytes::copy_of(body)));
    let message = test.view(foreign.as_ref(), BigEndian).unwrap();
    assert_eq!(list(&message, "words").as_slice::<u32>(), None, "they are in the other order");
    assert_eq!(list(&message, "bytes").as_slice::<u8>(), Some(&b"a"[..]));
}

#[test]
fn requests_and_responses_of_services_are_messages() {
    let service = "std_srvs/srv/SetBool".parse().unwrap();
    let definitions = Definitions::from_text(&service, "bool data\n---\nbool success\nstring message").unwrap();
    let request = MessageType::new(&definitions, &"std_srvs/srv/SetBool_Request".parse().unwrap()).unwrap();
    assert_eq!(request.view_cdr(&[0, 0, 0, 0, 1]).unwrap().to_string(), "data: true\n");
    let response = MessageType::new(&definitions, &"std_srvs/srv/SetBool_Response".parse().unwrap()).unwrap();
    let message = response.view_cdr(b"\0\0\0\0\x01\0\0\0\0\0\0\x03ok\0").unwrap();
    assert_eq!(message.to_string(), "success: true\nmessage: ok\n");
    let error = MessageType::new(&definitions, &service).unwrap_err();
    assert_eq!(error.to_string(), "the message `std_srvs/srv/SetBool` is not among the definitions");
}

#[test]
fn a_position_leads_back_to_its_message() {
    let test = message_type("Inner[] inner\nuint16[] numbers\n===\nMSG: test/Inner\nstring name\nuint8 number");
    let bytes = b"\x02\0\0\0\x02\0\0\0a\0\x07\0\x03\0\0\0bc\0\x08\x02\0\0\0\x05\0\x06\0";
    let message = test.view(bytes, LittleEndian).unwrap();
    let inner: Vec<_> = message.get("inner").and_then(|inner| inner.as_list()).unwrap().iter().collect();
    let positions = inner.iter().map(|value| match value {
        Value::Message(inner) => inner.position(),
        other => panic!("{other:?} is no message"),
    });
    for (position, number) in positions.zip([7, 8]) {
        let inner = test.view_at(bytes, LittleEndian, position).unwrap();
        assert_eq!(inner.get("number").and_then(|number| number.as_integer()), Some(number));
        let mut fields = inner.fields();
        let _ = fields.nth(1);
        assert_eq!(i128::from(bytes[fields.offset() - 1]), number);
        assert!(test.view_at(&bytes[..3], LittleEndian, position).is_none());
        assert!(message_type("uint8 a").view_at(bytes, LittleEndian, message.position()).is_none());
    }
    let list = |path| message.get(path).and_then(|list| list.as_list()).unwrap();
    assert_eq!(list("numbers").bytes(), Some(&b"\x05\0\x06\0"[..]));
    assert_eq!(list("inner").bytes(), None);
}
