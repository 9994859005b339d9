//! Tests of the whole syntax of `.msg` and `.srv` files.

use crate::{field, message, name, read_folder};
use gantry_idl::{BaseType, Count, Definitions, Primitive, TypeName, Value};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn default(line: &str) -> Value {
    field(line).default.unwrap_or_else(|| panic!("no default in {line}"))
}

fn integers(values: &[i128]) -> Value {
    Value::List(values.iter().copied().map(Value::Integer).collect())
}

#[test]
fn primitives_have_their_names_and_sizes() {
    let sizes = [1, 1, 1, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8];
    for ((name, primitive), size) in Primitive::ALL.into_iter().zip(sizes) {
        assert_eq!(primitive.name(), name);
        assert_eq!(primitive.size_bytes(), size, "{name}");
        assert_eq!(field(&format!("{name} x")).field_type.base, BaseType::Primitive(primitive));
    }
}

#[test]
fn types_in_all_their_forms() {
    let nested = |package: &str, name: &str| BaseType::Message(TypeName::message(package, name));
    let cases = [
        ("string", BaseType::String { bound: None }, Count::One),
        ("string<=10", BaseType::String { bound: Some(10) }, Count::One),
        ("wstring", BaseType::WString { bound: None }, Count::One),
        ("wstring<=3", BaseType::WString { bound: Some(3) }, Count::One),
        ("int32[4]", BaseType::Primitive(Primitive::Int32), Count::Array(4)),
        ("int32[]", BaseType::Primitive(Primitive::Int32), Count::Sequence { bound: None }),
        ("int32[<=4294967295]", BaseType::Primitive(Primitive::Int32), Count::Sequence { bound: Some(u32::MAX) }),
        ("string<=10[<=5]", BaseType::String { bound: Some(10) }, Count::Sequence { bound: Some(5) }),
        ("Point", nested("my_robot", "Point"), Count::One),
        ("other/Point[2]", nested("other", "Point"), Count::Array(2)),
        ("other/msg/Point[]", nested("other", "Point"), Count::Sequence { bound: None }),
    ];
    let nested_types = format!("{0}\nMSG: my_robot/Point\nint8 x\n{0}\nMSG: other/Point\nint8 x", "=".repeat(80));
    for (written, base, count) in cases {
        let field = field(&format!("{written} x\n{nested_types}"));
        assert_eq!((field.field_type.base, field.field_type.count), (base, count), "{written}");
    }
}

#[test]
fn constants_of_all_kinds() {
    let cases = [
        ("bool A=true", Value::Bool(true)),
        ("bool A=0", Value::Bool(false)),
        ("byte A = 255", Value::Integer(255)),
        ("char A=65", Value::Integer(65)),
        ("int8 A=-128", Value::Integer(-128)),
        ("uint64 A=18446744073709551615", Value::Integer(u64::MAX.into())),
        ("uint8 A=0x1F", Value::Integer(31)),
        ("int32 A=-0b101", Value::Integer(-5)),
        ("int32 A=0o17", Value::Integer(15)),
        ("int32 A=1_000", Value::Integer(1000)),
        ("int32 A=007", Value::Integer(7)),
        ("float32 A=1", Value::Float(1.0)),
        ("float64 A =-1.5e-3", Value::Float(-1.5e-3)),
        ("string A=", text("")),
        ("string A=plain text  # comment", text("plain text")),
        ("string A=\"  spaces  \"", text("  spaces  ")),
        ("string A='a=b'", text("a=b")),
        ("wstring A='wide'", text("wide")),
    ];
    for (line, value) in cases {
        let message = message(line);
        assert_eq!(message.constants[0].value, value, "{line}");
        assert!(message.fields.is_empty());
    }
}

#[test]
fn defaults_of_all_kinds() {
    let cases = [
        ("bool x TRUE", Value::Bool(true)),
        ("uint8 x 0x10", Value::Integer(16)),
        ("float64 x .5", Value::Float(0.5)),
        ("string x plain text", text("plain text")),
        ("float64 x inf", Value::Float(f64::INFINITY)),
        ("float64 x -Infinity", Value::Float(f64::NEG_INFINITY)),
        ("float64 x 1e400", Value::Float(f64::INFINITY)),
        ("float32 x -1e39", Value::Float(f64::NEG_INFINITY)),
        ("float32[] x [1e38, 1e39]", Value::List(vec![Value::Float(1e38), Value::Float(f64::INFINITY)])),
        ("string<=3 x \"abc\"", text("abc")),
        // As in ROS 2, a `#` begins a comment even inside a text.
        ("string x \"a # b\"", text("\"a")),
        ("int32[3] x [1, -2,3 ]", integers(&[1, -2, 3])),
        ("int32[] x []", integers(&[])),
        ("uint8[<=3] x [1]", integers(&[1])),
        ("bool[2] x [true, 0]", Value::List(vec![Value::Bool(true), Value::Bool(false)])),
        ("float32[] x [1.5, 2e3]", Value::List(vec![Value::Float(1.5), Value::Float(2000.0)])),
        ("string[] x [\"a, b\", 'c', d e]", Value::List(vec![text("a, b"), text("c"), text("d e")])),
        ("wstring[1] x ['']", Value::List(vec![text("")])),
    ];
    for (line, value) in cases {
        assert_eq!(default(line), value, "{line}");
    }
    assert_eq!(field("int32 x").default, None);
    assert!(matches!(default("float32 x NaN"), Value::Float(value) if value.is_nan()));
}

/// The expected values are those that ROS 2's own tools write into the description of a type.
#[test]
fn quotes_and_escapes() {
    let cases = [
        (r#""Hello'world""#, "Hello'world"),
        (r#"'Hello"world'"#, "Hello\"world"),
        (r"'Hello\'world'", "Hello'world"),
        (r#""Hello\"world""#, "Hello\"world"),
        (r#""tab\tend""#, "tab\tend"),
        (r#""back\\slash""#, r"back\slash"),
        (r#""hex\x41""#, "hexA"),
        (r#""a\d""#, r"a\d"),
        (r#""öä""#, "öä"),
        (r#"["a"#, r#"["a"#),
    ];
    for (written, value) in cases {
        assert_eq!(default(&format!("string x {written}")), text(value), "{written}");
    }
    assert_eq!(default(r#"string[] x ["t\tb", "b\\s"]"#), Value::List(vec![text("t\tb"), text(r"b\s")]));
}

#[test]
fn comments_become_documentation() {
    let message = message(
        "# A range.\n#\n#   Indented.\n\n# Not used.\n\n# How far\n# it is.\nfloat64 range_m  # [m]\n    # and more\n\
         uint8 MAX=3 # greatest\nint8 plain\n# nothing follows\n",
    );
    assert_eq!(message.comment, "A range.\n\n  Indented.");
    assert_eq!(message.fields[0].comment, "Not used.\n\nHow far\nit is.\n[m]\nand more");
    assert_eq!(message.constants[0].comment, "greatest");
    assert_eq!(message.fields[1].comment, "");
}

#[test]
fn tabs_and_line_ends_of_any_kind() {
    let message = message("int8\ta\t5\r\nint8 b\r\n");
    assert_eq!((&message.fields[0].name[..], &message.fields[0].default), ("a", &Some(Value::Integer(5))));
}

#[test]
fn a_service_is_two_messages() {
    let definitions =
        read_folder(&[("my_robot/srv/Add.srv", "# Adds.\nint64 a\nint64 b\n---\n# The sum.\n\nint64 sum\n")]).unwrap();
    let service = definitions.service(&name("my_robot/srv/Add")).unwrap();
    assert_eq!((&service.comment[..], &service.response.comment[..]), ("Adds.", "The sum."));
    assert_eq!(service.request.fields.len(), 2);
    assert_eq!(definitions.message(&name("my_robot/srv/Add_Request")), Some(&service.request));
    assert_eq!(definitions.message(&name("my_robot/srv/Add_Response")), Some(&service.response));
    assert_eq!(definitions.services().count(), 1);
}

#[test]
fn empty_messages_and_services() {
    assert!(message("").fields.is_empty());
    let name = name("my_robot/srv/Poke");
    let definitions = Definitions::from_text(&name, "---").unwrap();
    assert!(definitions.service(&name).unwrap().request.fields.is_empty());
}

#[test]
fn names_of_types() {
    assert_eq!(name("std_msgs/Header"), name("std_msgs/msg/Header"));
    assert_eq!(name("std_srvs/srv/Empty").to_string(), "std_srvs/srv/Empty");
    for wrong in [
        "",
        "Header",
        "std_msgs/",
        "std_msgs/header",
        "Std/msg/Header",
        "a/b/C",
        "a/msg/C/d",
        "a_/B",
        "a/msg/C_Request",
    ] {
        assert!(wrong.parse::<TypeName>().is_err(), "{wrong}");
    }
}
