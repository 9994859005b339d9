//! Tests of messages from YAML: printed messages can be read back, and an error contains the field of the wrong value.

use super::{
    damaged::{EVERYTHING, full_yaml},
    message_type,
};
use fastrand::Rng;
use gantry_cdr::ByteOrder::LittleEndian;
use gantry_dynamic::{MessageType, testing::random_body};

/// Makes a message from YAML values, and prints it as YAML.
fn printed(message_type: &MessageType, values: &str) -> String {
    let body = message_type.encode_yaml(values).unwrap_or_else(|error| panic!("{values}: {error}"));
    full_yaml(&message_type.view(&body, LittleEndian).unwrap())
}

#[test]
fn a_printed_message_is_encoded_to_the_same_bytes() {
    let test = message_type(EVERYTHING);
    let mut rng = Rng::with_seed(16);
    for round in 0..200 {
        let body = random_body(&test, &mut rng, LittleEndian);
        let yaml = full_yaml(&test.view(&body, LittleEndian).unwrap());
        // In YAML 1.1, in which the message is printed, these characters are line breaks. In YAML 1.2, in which it is
        // read, they are not, so such a message is skipped.
        if yaml.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
            continue;
        }
        let encoded = test.encode_yaml(&yaml).unwrap_or_else(|error| panic!("round {round}: {error}\n{yaml}"));
        assert!(encoded == body, "round {round}: {yaml}");
    }
}

#[test]
fn fields_that_are_not_named_have_their_defaults() {
    let test = message_type(
        "uint8 a 7\nfloat64 b -1.5\nstring c \"x: y\"\nint32[3] d [1, 2, 3]\nbool[] e [true]\nNested f\nint8 g
===
        MSG: test/Nested
        float64 w 1
        string[2] names [\"p\", \"q\"]",
    );
    let defaults =
        "a: 7\nb: -1.5\nc: 'x: y'\nd:\n- 1\n- 2\n- 3\ne:\n- true\nf:\n  w: 1.0\n  names:\n  - p\n  - q\ng: 0\n";
    for values in ["", "{}", "~", "{f: , a: null}", "f: {}"] {
        assert_eq!(printed(&test, values), defaults, "{values}");
    }
    assert_eq!(printed(&test, "{g: -3, f: {w: 2}}"), defaults.replace("g: 0", "g: -3").replace("w: 1.0", "w: 2.0"));
}

#[test]
fn values_are_read_as_pyyaml_and_python_do() {
    let test = message_type("int32 i\nuint64 u\nfloat32 f\nfloat64 d\nbool b\nstring s\nbyte o");
    for (values, line) in [
        ("i: -0x10", "i: -16"),
        ("u: 18446744073709551615", "u: 18446744073709551615"),
        ("u: 1_000", "u: 1000"),
        ("f: 1", "f: 1.0"),
        ("d: 1e3", "d: 1000.0"),
        ("d: -.inf", "d: -.inf"),
        ("d: nan", "d: .nan"),
        ("b: yes", "b: true"),
        ("b: 0", "b: false"),
        ("s: 5", "s: '5'"),
        ("s: null", "s: 'null'"),
        ("s: Hello World", "s: Hello World"),
        ("o: 65", "o: A"),
        ("o: 'A'", "o: A"),
    ] {
        assert!(printed(&test, values).lines().any(|printed| printed == line), "{values}: {}", printed(&test, values));
    }
}

#[test]
fn wrong_values_are_refused_with_field_and_value() {
    let test = message_type(
        "uint8 a\nNested nested\nint32[2] pair\nstring<=3[<=2] names\nbool flag
===
        MSG: test/Nested
        float64 x
        Deep[] deep
===
        MSG: test/Deep
        int8 y",
    );
    for (values, why) in [
        ("a: 256", "`a`: \"256\" is not a valid uint8, a whole number from 0 to 255"),
        ("a: -1", "`a`: \"-1\" is not a valid uint8"),
        ("a: 1.5", "`a`: \"1.5\" is not a valid uint8"),
        ("b: 1", "test/msg/Test has no field `b`; it has a, nested, pair, names, flag"),
        ("nested: {deep: [{y: 1}, {y: 200}]}", "`nested.deep[1].y`: \"200\" is not a valid int8"),
        ("nested: {deep: {y: 1}}", "`nested.deep`: a mapping of 1 fields is not a list; the field is test/Deep[]"),
        ("nested: 5", "`nested`: \"5\" is not a valid test/msg/Nested; give the fields of the message by name"),
        ("pair: [1]", "`pair`: the list has 1 elements; the field is int32[2]"),
        ("names: [a, b, c]", "`names`: the list has 3 elements; the field is string<=3[<=2]"),
        ("names: [abcd]", "`names[0]`: the text has 4 bytes; the field is string<=3"),
        ("flag: maybe", "`flag`: \"maybe\" is not a valid bool, true or false"),
        ("flag: [true]", "`flag`: a list of 1 elements is not a valid bool"),
        ("names: [\"a\\0\"]", "`names[0]`: the text contains the character 0"),
        ("[1, 2]", "a list of 2 elements is not a valid test/msg/Test"),
        ("{a: 1", "the YAML cannot be read"),
    ] {
        let error = test.encode_yaml(values).unwrap_err().to_string();
        assert!(error.contains(why), "{values}: {error}");
    }
}

#[test]
fn now_and_auto_are_the_time_of_the_call() {
    let name = "std_msgs/msg/Header".parse().unwrap();
    let bar = "=".repeat(80);
    let text = format!(
        "builtin_interfaces/Time stamp\nstring frame_id\n{bar}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
    );
    let header = MessageType::new(&gantry_idl::Definitions::from_text(&name, &text).unwrap(), &name).unwrap();
    for values in ["auto", "{stamp: now, frame_id: ''}"] {
        let body = header.encode_yaml(values).unwrap();
        let message = header.view(&body, LittleEndian).unwrap();
        assert!(message.get("stamp.sec").unwrap().as_integer() > Some(1_600_000_000), "{values}");
    }
    assert!(header.encode_yaml("{stamp: later}").is_err());
}

#[test]
fn a_definition_that_doubles_sixty_times_is_refused_before_it_takes_all_memory() {
    let mut definition = "M1 a\nM1 b\n".to_owned();
    for level in 1..60 {
        definition += &format!("===\nMSG: test/M{level}\nM{0} a\nM{0} b\n", level + 1);
    }
    let test = message_type(&(definition + "===\nMSG: test/M60\nuint8[100000] numbers"));
    assert!(test.encode_yaml("{}").unwrap_err().to_string().contains("more than 67108864 bytes"));
}

#[test]
fn a_definition_of_too_many_fields_is_refused_before_a_field_is_written() {
    // A message would have arrays of 2^30 bytes. The error does not contain a field, so no field was written before the
    // check.
    let test = message_type("M1[1024] a\n===\nMSG: test/M1\nM2[1024] b\n===\nMSG: test/M2\nuint8[1024] c\n");
    assert_eq!(test.encode_yaml("{}").unwrap_err().to_string(), "the message has more than 67108864 bytes");
    let fits = message_type("M1[1024] a\n===\nMSG: test/M1\nM2[16] b\n===\nMSG: test/M2\nuint8[16] c\nstring d\n");
    assert_eq!(fits.encode_yaml("{}").unwrap().len(), 1024 * 16 * 24 + 5 - 8);
}
