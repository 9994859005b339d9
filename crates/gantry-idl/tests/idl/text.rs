//! Tests of definitions as one text.

use crate::{name, read_folder};
use gantry_idl::Definitions;

#[test]
fn the_text_has_each_nested_message_once_ordered_by_name() {
    let definitions = read_folder(&[
        ("std_msgs/msg/Header.msg", "# Comment.\nbuiltin_interfaces/Time  stamp # when\nstring frame_id"),
        ("builtin_interfaces/msg/Time.msg", "int32 sec\nuint32 nanosec"),
        ("my_robot/msg/Unused.msg", ""),
        ("my_robot/msg/Leg.msg", "float64[3]\tx"),
        (
            "my_robot/msg/Robot.msg",
            "std_msgs/msg/Header header\nuint8 LEGS = 0x4\nLeg[4] legs\nLeg[<=2] arms\nstring name 'R 2'\nstring[] tags [a, \"b\"]",
        ),
    ])
    .unwrap();
    let expected = "\
uint8 LEGS=4
std_msgs/Header header
my_robot/Leg[4] legs
my_robot/Leg[<=2] arms
string name \"R 2\"
string[] tags [\"a\", \"b\"]
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: my_robot/Leg
float64[3] x
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
";
    let name = name("my_robot/msg/Robot");
    assert_eq!(definitions.definition_text(&name).unwrap(), expected);
    let back = Definitions::from_text(&name, expected).unwrap();
    assert_eq!(back.messages().count(), 4);
    assert_eq!(back.message(&name), definitions.message(&name));
    assert_eq!(back.hash(&name), definitions.hash(&name));
}

#[test]
fn services_and_their_parts_have_a_text() {
    let definitions = read_folder(&[("a/msg/A.msg", "int8 x"), ("a/srv/S.srv", "A a\n---\nA[] b")]).unwrap();
    for (part, head) in
        [("a/srv/S", "a/A a\n---\na/A[] b\n="), ("a/srv/S_Request", "a/A a\n="), ("a/srv/S_Response", "a/A[] b\n=")]
    {
        let name = name(part);
        let text = definitions.definition_text(&name).unwrap();
        assert!(text.starts_with(head), "{text}");
        let back = Definitions::from_text(&name, &text).unwrap();
        assert_eq!(back.service(&name), definitions.service(&name));
        assert_eq!(back.message(&name), definitions.message(&name));
    }
}

#[test]
fn an_unknown_type_has_no_text() {
    assert_eq!(Definitions::default().definition_text(&name("a/msg/A")), None);
}

/// Limits are needed because the text may come from an untrusted process.
#[test]
fn limits_of_texts() {
    let error = |text: &str| Definitions::from_text(&name("a/msg/A"), text).unwrap_err();
    let line = "=".repeat(80);

    let long = error(&"#".repeat((1 << 20) + 1)).to_string();
    assert_eq!(long, "a/msg/A: its definition is 1048577 bytes long, and 1048576 are allowed");

    assert_eq!(error(&"wrong\n".repeat(1000)).iter().count(), 20);
    assert!(error(&format!("int8 x {}", "1_".repeat(100_000))).to_string().len() < 1000);

    let types: String = (0..1000).map(|index| format!("\n{line}\nMSG: a/T{index}\nint8 x")).collect();
    assert_eq!(error(&types).to_string(), "a/msg/A: its definition has more than 1000 types");

    // Nesting of 64 levels is allowed.
    let chain = |length: usize| -> String {
        let nested = |index| format!("\n{line}\nMSG: a/T{index}\nT{} x", index + 1);
        format!("T0 x{}\n{line}\nMSG: a/T{length}\nint8 x", (0..length).map(nested).collect::<String>())
    };
    assert!(Definitions::from_text(&name("a/msg/A"), &chain(62)).is_ok());
    let deep = error(&chain(63)).to_string();
    assert!(deep.starts_with("a/msg/A:1:1: `a/msg/A` is nested more than 64 messages deep"), "{deep}");
}

#[test]
fn sections_of_texts() {
    let line = "=".repeat(80);
    let error = |rest: &str| {
        let errors = Definitions::from_text(&name("a/msg/A"), &format!("B b\n{line}\n{rest}")).unwrap_err();
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(error("IDL: a/B").contains("a/msg/A:3:1: below a line of `=` there must be the name of a message"));
    assert!(error("MSG: b").contains("a/msg/A:3:1: below a line of `=` there must be the name of a message"));
    assert!(error(&format!("MSG: a/B\n{line}\nMSG: a/B")).contains("a/msg/A:5:1: `a/msg/B` is defined twice"));
    assert!(error("MSG: a/srv/B").contains("`a/srv/B` belongs to a service, and only messages can be nested"));
    assert!(error("MSG: a/B\nint8 1").contains("a/msg/A:4:6: `1` cannot be a field's name"));
    assert!(error("").contains("a/msg/A:1:1: unknown type `B`; there is no message `B` in the package `a`"));
}
