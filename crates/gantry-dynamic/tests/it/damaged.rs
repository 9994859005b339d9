//! Tests with random and damaged messages. Random messages are read completely. Damaged messages are refused or read,
//! without a panic and with bounded work.

use super::message_type;
use fastrand::Rng;
use gantry_cdr::ByteOrder::{self, BigEndian, LittleEndian};
use gantry_dynamic::{DynamicMessage, MessageType, Value, Yaml, testing::random_body};
use gantry_idl::Definitions;

pub const EVERYTHING: &str =
    "bool flag\nbyte b\nchar c\nstring text\nfloat64 number\nwstring wide\nEmpty empty\nPlain plain\n\
    Nested[] nested\nNested[2] two\nPlain[<=3] plains\nEmpty[] empties\nstring<=5[<=4] texts\nwstring<=3[2] wides\n\
    bool[] flags\nuint16[] shorts\nfloat32[3] floats\nint64[<=2] longs\nbyte[] bytes\nuint8 last
===
MSG: test/Empty
===
MSG: test/Plain
int64 a
float32 b
int32[3] c
===
MSG: test/Nested
uint8 a
Plain plain
string text
Deeper[] deeper
===
MSG: test/Deeper
bool flag
float64[] numbers
string[] texts";

/// Visits all values of the message, and returns their number.
fn visit(message: &DynamicMessage<'_>) -> usize {
    message.fields().map(|(_, value)| visit_value(value)).sum()
}

fn visit_value(value: Value<'_>) -> usize {
    match value {
        Value::Message(message) => 1 + visit(&message),
        Value::List(list) => {
            let visited = 1 + list.iter().map(visit_value).sum::<usize>();
            // The access by index and the iterator must agree on the last element.
            let last = list.len().checked_sub(1).and_then(|last| list.get(last));
            assert_eq!(format!("{last:?}"), format!("{:?}", list.iter().last()));
            visited
        }
        Value::WideText(text) => 1 + text.chars().count(),
        _ => 1,
    }
}

pub fn full_yaml(message: &DynamicMessage<'_>) -> String {
    let mut text = String::new();
    Yaml::FULL_LENGTH.write(message, &mut text).unwrap();
    text
}

#[test]
fn a_random_message_has_the_same_values_in_both_byte_orders() {
    let test = message_type(EVERYTHING);
    for seed in 0..100 {
        let body = |order| random_body(&test, &mut Rng::with_seed(seed), order);
        let (little, big) = (body(LittleEndian), body(BigEndian));
        let (little, big) = (test.view(&little, LittleEndian).unwrap(), test.view(&big, BigEndian).unwrap());
        assert_eq!(little.fields().count(), test.definition().fields.len());
        assert_eq!(full_yaml(&little), full_yaml(&big));
        assert_eq!(visit(&little), visit(&big));
    }
}

#[test]
fn a_truncated_message_is_refused() {
    let test = message_type(EVERYTHING);
    let body = |seed| random_body(&test, &mut Rng::with_seed(seed), LittleEndian);
    let body = (0..50).map(body).min_by_key(Vec::len).unwrap();
    for length in 0..body.len() {
        assert!(test.view(&body[..length], LittleEndian).is_err(), "{length} of {} bytes", body.len());
    }
}

#[test]
fn a_damaged_message_is_refused_or_read() {
    let test = message_type(EVERYTHING);
    let mut rng = Rng::with_seed(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..100 {
        let order: ByteOrder = if rng.bool() { LittleEndian } else { BigEndian };
        let original = random_body(&test, &mut rng, order);
        for _ in 0..20 {
            let mut body = original.clone();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(..body.len());
                body[at] = if rng.bool() { rng.u8(..) } else { body[at] ^ 1 << rng.u8(..8) };
            }
            body.truncate(if rng.bool() { body.len() } else { rng.usize(..body.len()) });
            check_turned(&test, &body);
            match test.view(&body, order) {
                Ok(message) => {
                    // Every message, text, list and element takes at least one byte, so the number of values is
                    // bounded.
                    assert!(visit(&message) <= 2 * body.len(), "{} values in {} bytes", visit(&message), body.len());
                    full_yaml(&message);
                    read += 1;
                }
                Err(error) => {
                    assert!(error.offset_bytes() <= body.len(), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} were read and {refused} refused: the damage is not of both kinds");
}

/// Checks the conversion of a big-endian body to little-endian. The values must stay the same. If the bytes are not a
/// valid body, they must stay unchanged.
fn check_turned(test: &MessageType, body: &[u8]) {
    let mut turned = body.to_vec();
    let result = test.to_little_endian(&mut turned);
    match test.view(body, BigEndian) {
        Ok(message) => {
            assert_eq!(full_yaml(&message), full_yaml(&test.view(&turned, LittleEndian).unwrap()));
        }
        Err(error) => assert_eq!((result, &turned[..]), (Err(error), body)),
    }
}

#[test]
fn random_bytes_are_refused_or_read() {
    let test = message_type(EVERYTHING);
    let mut rng = Rng::with_seed(2);
    for _ in 0..2000 {
        let body: Vec<u8> = (0..rng.usize(..300)).map(|_| if rng.bool() { 0 } else { rng.u8(..4) }).collect();
        if let Ok(message) = test.view(&body, LittleEndian) {
            visit(&message);
        }
    }
}

/// A definition of 60 types in which each contains the next one twice. Work must not grow with the 2^60 numbers of a
/// message.
#[test]
fn a_definition_that_doubles_sixty_times_takes_time_in_its_bytes_only() {
    for innermost in ["uint8 number", "string text"] {
        let mut definition = "M1 a\nM1 b\n".to_owned();
        for level in 1..60 {
            definition += &format!("===\nMSG: test/M{level}\nM{0} a\nM{0} b\n", level + 1);
        }
        let test = message_type(&(definition + "===\nMSG: test/M60\n" + innermost));
        assert!(test.view(&[0; 1000], LittleEndian).is_err());
    }
}

#[test]
fn a_definition_that_nests_too_deep_is_refused() {
    let mut definition = "M1 a\n".to_owned();
    for level in 1..900 {
        definition += &format!("{}\nMSG: test/M{level}\nM{} a\n", "=".repeat(80), level + 1);
    }
    definition += &format!("{}\nMSG: test/M900\nuint8 a\n", "=".repeat(80));
    let name = "test/msg/Test".parse().unwrap();
    // `from_text` must refuse the definition, because `new` would overflow the stack.
    assert!(Definitions::from_text(&name, &definition).and_then(|found| MessageType::new(&found, &name)).is_err());
}
