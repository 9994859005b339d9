//! `gantry param`.

use crate::support::*;
use gantry::{Node, ParameterValue};
use gantry_msgs::rcl_interfaces::msg::{IntegerRange, ParameterDescriptor};
use serde_json::json;

tests![
    parameters_are_listed_with_and_without_types,
    values_are_printed_as_ros_2_prints_them,
    values_are_set_by_yaml,
    a_parameter_with_dynamic_typing_is_deleted,
    descriptions_and_ranges_are_shown,
    a_dump_is_a_parameter_file_that_is_loaded,
    values_of_all_kinds_survive_a_dump_and_a_load,
    values_that_a_parameter_file_cannot_have_are_left_out_of_a_dump,
    unknown_nodes_and_parameters_are_errors,
];

/// Makes a node with parameters in an executor, which runs until `work` returns.
fn with_robot(domain_id: u32, work: impl FnOnce(&Node)) {
    let node = node_in(domain_id, "robot");
    let percent = IntegerRange { from_value: 0, to_value: 100, step: 0 };
    let description = "of the motors".to_owned();
    let descriptor = ParameterDescriptor { description, integer_range: vec![percent], ..Default::default() };
    node.declare_parameter_with_descriptor("power", 50, descriptor).unwrap();
    node.declare_parameter("arm.speed", 0.5).unwrap();
    node.declare_parameter("arm.joints", vec!["elbow".to_owned(), "yes".to_owned()]).unwrap();
    node.declare_parameter("name", "rosie").unwrap();
    node.declare_parameter("is_on", true).unwrap();
    with_executor(&node, || work(&node));
}

fn parameters_are_listed_with_and_without_types() {
    with_robot(100, |_| {
        let names = prints(100, &["param", "list", "/robot"]);
        let expected = ["arm.joints", "arm.speed", "is_on", "name", "power"];
        for name in expected {
            assert!(names.lines().any(|line| line == format!("  {name}")), "{name} is not in {names}");
        }
        assert!(prints(100, &["param", "list"]).starts_with("/robot:\n  "));
        let types = prints(100, &["param", "list", "robot", "--param-type"]);
        assert!(types.contains("  arm.joints (type: string array)\n  arm.speed (type: double)\n"), "{types}");
        assert_eq!(prints(100, &["param", "list", "robot", "--param-prefixes", "arm"]), "  arm.joints\n  arm.speed\n");
        let shown = gantry(100, &["param", "list", "--json"]).json();
        assert_eq!(shown["nodes"][0]["node"], "/robot");
    });
}

fn values_are_printed_as_ros_2_prints_them() {
    with_robot(101, |_| {
        for (name, line) in [
            ("power", "Integer value is: 50\n"),
            ("arm.speed", "Double value is: 0.5\n"),
            ("arm.joints", "String values are: ['elbow', 'yes']\n"),
            ("name", "String value is: rosie\n"),
            ("is_on", "Boolean value is: True\n"),
        ] {
            assert_eq!(prints(101, &["param", "get", "/robot", name]), line);
        }
        assert_eq!(prints(101, &["param", "get", "robot", "power", "--hide-type"]), "50\n");
        assert_eq!(gantry(101, &["param", "get", "robot", "arm.joints", "--json"]).json(), json!(["elbow", "yes"]));
    });
}

fn values_are_set_by_yaml() {
    with_robot(102, |node| {
        let set = |name: &str, value: &str| prints(102, &["param", "set", "/robot", name, value]);
        assert_eq!(set("power", "60"), "Set parameter successful\n");
        let shown = gantry(102, &["param", "set", "/robot", "power", "60", "--json"]).json();
        assert_eq!(shown, json!({ "name": "power", "successful": true, "reason": "" }));
        assert_eq!(node.get_parameter::<i64>("power").unwrap(), 60);
        set("arm.speed", "-.inf");
        assert_eq!(node.get_parameter::<f64>("arm.speed").unwrap(), f64::NEG_INFINITY);
        set("arm.joints", "[wrist]");
        assert_eq!(node.get_parameter::<Vec<String>>("arm.joints").unwrap(), ["wrist"]);
        set("is_on", "off");
        assert!(!node.get_parameter::<bool>("is_on").unwrap());
        for (value, why) in [("101", "101 is out of range: it may be 0 to 100"), ("fast", "string")] {
            let error = fails(102, &["param", "set", "/robot", "power", value]);
            assert!(error.starts_with("Setting parameter failed: ") && error.contains(why), "{error}");
        }
        assert_eq!(node.get_parameter::<i64>("power").unwrap(), 60);
    });
}

fn a_parameter_with_dynamic_typing_is_deleted() {
    with_robot(110, |node| {
        let any_type = ParameterDescriptor { dynamic_typing: true, ..Default::default() };
        node.declare_parameter_with_descriptor("grip", 5, any_type).unwrap();
        assert_eq!(prints(110, &["param", "delete", "/robot", "grip"]), "Deleted parameter successfully\n");
        assert!(!node.has_parameter("grip"));
        let error = fails(110, &["param", "delete", "/robot", "power"]);
        assert!(error.starts_with("Deleting parameter failed: ") && error.contains("dynamic typing"), "{error}");
        let error = fails(110, &["param", "delete", "/robot", "powr"]);
        assert!(
            error.starts_with("Deleting parameter failed: ") && error.ends_with("; did you mean 'power'?\n"),
            "{error}"
        );
    });
}

fn descriptions_and_ranges_are_shown() {
    with_robot(103, |_| {
        let text = prints(103, &["param", "describe", "/robot", "power"]);
        let expected = "Parameter name: power\n  Type: integer\n  Description: of the motors\n  Constraints:\n    Min value: \
                        0\n    Max value: 100\n";
        assert_eq!(text, expected);
    });
}

fn a_dump_is_a_parameter_file_that_is_loaded() {
    let mut dump = String::new();
    with_robot(104, |_| {
        dump = prints(104, &["param", "dump", "/robot"]);
        let part = "/robot:\n  ros__parameters:\n    arm:\n      joints:\n      - elbow\n      - 'yes'\n      speed: 0.5\n    \
                    is_on: true\n    name: rosie\n    power: 50\n";
        assert!(dump.starts_with(part), "{dump}");
        let shown = gantry(104, &["param", "dump", "/robot", "--json"]).json();
        assert_eq!(shown["/robot"]["ros__parameters"]["arm"]["speed"], 0.5);
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), dump.replace("speed: 0.5", "speed: 0.25").replace("power: 50", "power: 500")).unwrap();
    with_robot(105, |node| {
        let run = gantry(105, &["param", "load", "/robot", file.path().to_str().unwrap()]);
        assert_eq!(run.code, Some(1), "{} {}", run.out, run.err);
        assert!(run.out.contains("Set parameter arm.speed successful\n"), "{}", run.out);
        assert!(run.err.contains("Set parameter power failed: ") && run.err.contains("1 of "), "{}", run.err);
        assert_eq!(node.get_parameter::<f64>("arm.speed").unwrap(), 0.25);
        assert_eq!(node.get_parameter::<i64>("power").unwrap(), 50);
    });
}

/// Texts that some reader of YAML reads as another type, or that need quotes.
const TEXTS: [&str; 40] = [
    "",
    " ",
    "~",
    "null",
    "y",
    "n",
    "Y",
    "N",
    "yes",
    "off",
    "true",
    "True",
    "1",
    "-1",
    "0x1f",
    "010",
    "1_000",
    "1e3",
    "1.5",
    ".5",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "-Infinity",
    ".inf",
    "2026-11-21",
    "12:30:45",
    "a: b",
    "- a",
    "# a",
    "a #b",
    "'a' \"b\"",
    "[a",
    "{a",
    "two\nlines",
    "\ttab\r\u{7f}\u{85}\u{2028}",
    "back\\slash\n",
    "é 漢 🤖",
    "!!str a",
];

fn values_of_all_kinds_survive_a_dump_and_a_load() {
    let mut values: Vec<(String, ParameterValue)> = vec![
        ("bool".to_owned(), true.into()),
        ("integer".to_owned(), i64::MIN.into()),
        ("bools".to_owned(), vec![true, false].into()),
        ("integers".to_owned(), vec![i64::MAX, -1].into()),
        ("doubles".to_owned(), vec![1.0, -0.0, 1e16, 1.5e-7, f64::MAX, f64::INFINITY, f64::NEG_INFINITY].into()),
        ("texts".to_owned(), TEXTS.map(str::to_owned).to_vec().into()),
    ];
    // Names that look like other values, have empty parts or are prefixes of other names.
    values
        .extend(["y", "1", "null", "a", "a.b", "p..q", "p.", ".p", "b.c.d"].map(|name| (name.to_owned(), 1.5.into())));
    values.extend(TEXTS.iter().enumerate().map(|(number, text)| (format!("text.t{number}"), (*text).into())));
    values.push((vec!["d"; 300].join("."), true.into()));
    let node = node_in(107, "all_kinds");
    for (name, value) in &values {
        node.declare_parameter(name, value.clone()).unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    with_executor(&node, || std::fs::write(file.path(), prints(107, &["param", "dump", "/all_kinds"])).unwrap());
    let read = gantry::parameters_from_yaml_file(file.path(), "/all_kinds").unwrap();
    for (name, value) in &values {
        let found = read.iter().find(|parameter| parameter.name == *name);
        assert_eq!(found.map(|parameter| &parameter.value), Some(value), "{name}");
    }
    drop(node);

    let node = node_in(108, "all_kinds");
    for (name, value) in &values {
        let other = match value {
            ParameterValue::Bool(_) => false.into(),
            ParameterValue::Integer(_) => 0_i64.into(),
            ParameterValue::Double(_) => 0.0.into(),
            ParameterValue::String(_) => "another".into(),
            ParameterValue::BoolArray(_) => vec![false].into(),
            ParameterValue::IntegerArray(_) => vec![0_i64].into(),
            ParameterValue::DoubleArray(_) => vec![0.0].into(),
            _ => vec!["another".to_owned()].into(),
        };
        node.declare_parameter::<ParameterValue>(name, other).unwrap();
    }
    with_executor(&node, || {
        let run = gantry(108, &["param", "load", "/all_kinds", file.path().to_str().unwrap(), "--json"]);
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{}", run.out);
        let lines: Vec<serde_json::Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= values.len() && lines.iter().all(|line| line["successful"] == true), "{}", run.out);
    });
    for (name, value) in &values {
        assert_eq!(node.get_parameter::<ParameterValue>(name).unwrap(), *value, "{name}");
    }
}

fn values_that_a_parameter_file_cannot_have_are_left_out_of_a_dump() {
    let node = node_in(109, "odd");
    node.declare_parameter("bytes", vec![1_u8, 2]).unwrap();
    node.declare_parameter("none.texts", Vec::<String>::new()).unwrap();
    node.declare_parameter("tiny", f64::from_bits(1)).unwrap();
    let any_type = ParameterDescriptor { dynamic_typing: true, ..Default::default() };
    node.declare_parameter_with_descriptor("unset", ParameterValue::NotSet, any_type).unwrap();
    with_executor(&node, || {
        let run = gantry(109, &["param", "dump", "/odd"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        for name in ["bytes", "none.texts", "tiny", "unset"] {
            assert!(run.err.contains(&format!("{name} is left out: ")), "{name}: {}", run.err);
            assert!(!run.out.contains(name.split('.').next().unwrap()), "{name}: {}", run.out);
        }
        let shown = gantry(109, &["param", "dump", "/odd", "--json"]).json();
        assert_eq!(shown["/odd"]["ros__parameters"]["bytes"], json!([1, 2]));
    });
}

fn unknown_nodes_and_parameters_are_errors() {
    with_robot(106, |_| {
        let error = fails(106, &["param", "get", "/robo", "power"]);
        assert_eq!(error, "Unknown node '/robo' in domain 106; did you mean '/robot'?\n");
        let error = fails(106, &["param", "get", "/robot", "powr"]);
        assert_eq!(error, "Parameter not set: node /robot has no 'powr'; did you mean 'power'?\n");
        let error = fails(106, &["param", "set", "/robot", "powr", "5"]);
        assert!(error.ends_with("; did you mean 'power'?\n"), "{error}");
        let error = fails(106, &["param", "describe", "/robot", "powr"]);
        assert!(error.ends_with("; did you mean 'power'?\n"), "{error}");
        let error = fails(106, &["param", "load", "/robot", "/no/such/file"]);
        assert!(error.contains("/no/such/file"), "{error}");
    });
}
