//! The meaning of parameter values and files in rcl. The expected results are from rclpy 7.1.6 with librcl 9.2.8
//! (ROS 2 Jazzy) for each text as `-p x:=TEXT` or `--params-file`.
//!
//! Gantry refuses two forms that rcl accepts: sequences in sequences (rcl keeps the last one), and mappings in
//! sequences (rcl makes arrays of their values).

use super::{overrides::*, yaml};

/// Texts of values, with the type and the value that they have.
const VALUES: &[(&str, &str)] = &[
    ("1", "integer 1"),
    ("-5", "integer -5"),
    ("+5", "integer 5"),
    ("0x1F", "integer 31"),
    ("010", "integer 8"),
    ("08", "double 8.0"),
    ("9223372036854775807", "integer 9223372036854775807"),
    ("9223372036854775808", "double 9.223372036854776e18"),
    ("0xFFFFFFFFFFFFFFFF", "double 1.8446744073709552e19"),
    ("1.0", "double 1.0"),
    ("1.", "double 1.0"),
    (".5", "double 0.5"),
    ("1e3", "double 1000.0"),
    ("1E-3", "double 0.001"),
    ("-2.5", "double -2.5"),
    ("+2.5", "double 2.5"),
    (".nan", "double NaN"),
    (".inf", "double inf"),
    ("-.inf", "double -inf"),
    ("+.Inf", "double inf"),
    ("nan", "double NaN"),
    ("inf", "double inf"),
    ("infinity", "double inf"),
    ("-inf", "double -inf"),
    ("0x1p3", "double 8.0"),
    ("0x1.8p1", "double 3.0"),
    ("1e999", "string \"1e999\""),
    ("1e-400", "string \"1e-400\""),
    ("1e-310", "string \"1e-310\""),
    ("true", "bool true"),
    ("True", "bool true"),
    ("yes", "bool true"),
    ("on", "bool true"),
    ("y", "bool true"),
    ("N", "bool false"),
    ("off", "bool false"),
    ("FALSE", "bool false"),
    ("tRUE", "string \"tRUE\""),
    ("null", "string \"null\""),
    ("~", "string \"~\""),
    ("hello", "string \"hello\""),
    ("'5'", "string \"5\""),
    ("\"5.0\"", "string \"5.0\""),
    ("\"\\n\"", "string \"\\n\""),
    ("''", "string \"\""),
    ("!!str 5", "string \"5\""),
    ("!!str true", "string \"true\""),
    ("!!int 5", "integer 5"),
    ("!!int \"5\"", "string \"5\""),
    ("!!float 5", "integer 5"),
    ("!!bool yes", "bool true"),
    ("!foo 5", "integer 5"),
    ("[1, 2]", "integer array [1, 2]"),
    ("[1.0, 2.0]", "double array [1.0, 2.0]"),
    ("[true, no]", "bool array [true, false]"),
    ("[a, 'b']", "string array [\"a\", \"b\"]"),
    ("['1', \"2\"]", "string array [\"1\", \"2\"]"),
    ("[!!str 1, !!str 2]", "string array [\"1\", \"2\"]"),
    ("&x 5", "integer 5"),
    ("1 # comment", "integer 1"),
    ("1_000", "string \"1_000\""),
    ("1,000", "string \"1,000\""),
    ("12:30", "string \"12:30\""),
    ("2001-01-01", "string \"2001-01-01\""),
    ("a b", "string \"a b\""),
    ("0b101", "string \"0b101\""),
    ("0o17", "string \"0o17\""),
    ("|-\n  5", "integer 5"),
    ("- 1\n- 2", "integer array [1, 2]"),
    ("1 2", "string \"1 2\""),
    ("[1, ]", "integer array [1]"),
    ("--- 5", "integer 5"),
    ("5 ...", "string \"5 ...\""),
    ("!!binary aGVsbG8=", "string \"aGVsbG8=\""),
    ("1.5.2", "string \"1.5.2\""),
    ("--1", "string \"--1\""),
    ("- -1", "integer array [-1]"),
    ("0x", "string \"0x\""),
    ("0xg", "string \"0xg\""),
    ("1e", "string \"1e\""),
    ("e1", "string \"e1\""),
    (".", "string \".\""),
    ("+", "string \"+\""),
    (".e1", "string \".e1\""),
    ("1d5", "string \"1d5\""),
    ("1f", "string \"1f\""),
    ("|\n  5\n", "string \"5\\n\""),
    (">-\n  yes\n", "bool true"),
];

/// Texts that are not accepted as values.
const NO_VALUES: &[&str] =
    &["[1, 2.0]", "[]", "{a: 1}", "a: b", "*x", "# comment", "- ", "%", "@a", "`a", "\"a", "[1,", "-", "?"];

const NODES: [&str; 3] = ["/talker", "/ns/talker", "/a/b/talker"];

/// Patterns of node names, and whether each pattern matches each of the test's nodes.
const PATTERNS: &[(&str, [bool; 3])] = &[
    ("talker", [true, false, false]),
    ("/talker", [true, false, false]),
    ("ns/talker", [false, true, false]),
    ("/ns/talker", [false, true, false]),
    ("\"*\"", [true, false, false]),
    ("\"**\"", [true, true, true]),
    ("\"/*\"", [true, false, false]),
    ("\"/**\"", [true, true, true]),
    ("/**", [true, true, true]),
    ("/**/talker", [true, true, true]),
    ("\"/*/talker\"", [false, true, false]),
    ("\"*/talker\"", [false, true, false]),
    ("\"**/talker\"", [true, true, true]),
    ("/ns/*", [false, true, false]),
    ("/ns/**", [false, true, false]),
    ("ns/*", [false, true, false]),
    ("/a/**/talker", [false, false, true]),
    ("/a/*/talker", [false, false, true]),
    ("/*/*", [false, true, false]),
    ("/*/*/talker", [false, false, true]),
    ("/**/*", [true, true, true]),
    ("/**/**", [true, true, true]),
    ("foo", [false, false, false]),
    ("/**/b/**", [false, false, true]),
    ("a", [false, false, false]),
];

/// Parameter files, and the parameters that each of the test's nodes gets from each file.
const FILES: &[(&str, [&str; 3])] = &[
    ("ns:\n  talker:\n    ros__parameters:\n      x: 1\n", ["", "x=1", ""]),
    (
        "ns:\n  talker:\n    ros__parameters: {x: 1, y: {z: [1.0, 2.0], w: a}}\n",
        ["", "x=1 y.w=\"a\" y.z=[1.0, 2.0]", ""],
    ),
    ("/ns:\n  talker:\n    ros__parameters:\n      x: 1\n", ["", "x=1", ""]),
    ("/:\n  talker:\n    ros__parameters:\n      x: 1\n", ["x=1", "", ""]),
    ("/:\n  ns:\n    talker:\n      ros__parameters:\n        x: 1\n", ["", "x=1", ""]),
    ("/**:\n  ros__parameters:\n    x: 1\n/ns/talker:\n  ros__parameters:\n    x: 2\n", ["x=1", "x=2", "x=1"]),
    ("/ns/talker:\n  ros__parameters:\n    x: 2\n/**:\n  ros__parameters:\n    x: 1\n", ["x=1", "x=1", "x=1"]),
    (
        "/ns/talker:\n  ros__parameters:\n    x: 2\n/**:\n  ros__parameters:\n    x: 1\n/ns/talker:\n  ros__parameters:\n    x: 3\n",
        ["x=1", "x=1", "x=1"],
    ),
    (
        "/**:\n  ros__parameters:\n    a.b: 1\n    a:\n      c: 2\n    a: {b: 3}\n",
        ["a.b=3 a.c=2", "a.b=3 a.c=2", "a.b=3 a.c=2"],
    ),
    ("/**:\n  ros__parameters:\n    x: 1\n    x: 2\n", ["x=2", "x=2", "x=2"]),
    ("/**:\n  ros__parameters:\n    x: ''\n", ["x=\"\"", "x=\"\"", "x=\"\""]),
    (
        "/**:\n  ros__parameters:\n    x:\n      - 1\n      - 2\n    y: 3\n",
        ["x=[1, 2] y=3", "x=[1, 2] y=3", "x=[1, 2] y=3"],
    ),
    (
        "/**:\n  ros__parameters:\n    'quoted key': 1\n    5: 2\n    true: 3\n",
        ["5=2 quoted key=1 true=3", "5=2 quoted key=1 true=3", "5=2 quoted key=1 true=3"],
    ),
    ("/**:\n  ros__parameters: {}\n", ["", "", ""]),
    ("/**: {}\n", ["", "", ""]),
    ("", ["", "", ""]),
    ("# nothing\n", ["", "", ""]),
    ("/**:\n  ros__parameters_more:\n    x: 1\n", ["x=1", "x=1", "x=1"]),
    ("%YAML 1.1\n---\n/**:\n  ros__parameters:\n    x: on\n", ["x=true", "x=true", "x=true"]),
    (
        "---\n/**:\n  ros__parameters:\n    x: 1\n---\n/**:\n  ros__parameters:\n    y: 2\n",
        ["x=1 y=2", "x=1 y=2", "x=1 y=2"],
    ),
    (
        "/**:\n  ros__parameters:\n    x: |\n      line 1\n      line 2\n    y: >\n      a\n      b\n",
        [
            "x=\"line 1\\nline 2\\n\" y=\"a b\\n\"",
            "x=\"line 1\\nline 2\\n\" y=\"a b\\n\"",
            "x=\"line 1\\nline 2\\n\" y=\"a b\\n\"",
        ],
    ),
    ("{/**: {ros__parameters: {x: 1}}}\n", ["x=1", "x=1", "x=1"]),
    (
        "/**: {ros__parameters: {x: 1, y: {z: 2, w: {v: 3}}, u: 4}}\n",
        ["u=4 x=1 y.w.v=3 y.z=2", "u=4 x=1 y.w.v=3 y.z=2", "u=4 x=1 y.w.v=3 y.z=2"],
    ),
    (
        "/**:\n  ros__parameters:\n    a:\n      b:\n        c: 1\n      d: 2\n    e: 3\nother:\n  ros__parameters:\n    x: 9\n/ns/talker:\n  ros__parameters:\n    f: 4\n",
        ["a.b.c=1 a.d=2 e=3", "a.b.c=1 a.d=2 e=3 f=4", "a.b.c=1 a.d=2 e=3"],
    ),
    ("/**:\n  ros__parameters:\n    use_sim_time: false\n    x: 1\n", ["x=1", "x=1", "x=1"]),
    ("/**:\n  ros__parameters:\n    é: ü\n", ["é=\"ü\"", "é=\"ü\"", "é=\"ü\""]),
    ("/**:\r\n  ros__parameters:\r\n    x: 1\r\n", ["x=1", "x=1", "x=1"]),
];

/// Files that are refused.
const NO_FILES: &[&str] = &[
    "/tal*:\n  ros__parameters:\n    x: 1\n",
    "/**/tal*:\n  ros__parameters:\n    x: 1\n",
    "/ns*/talker:\n  ros__parameters:\n    x: 1\n",
    "\"~\":\n  ros__parameters:\n    x: 1\n",
    "\"\":\n  ros__parameters:\n    x: 1\n",
    "//talker:\n  ros__parameters:\n    x: 1\n",
    "/talker/:\n  ros__parameters:\n    x: 1\n",
    "/ns//talker:\n  ros__parameters:\n    x: 1\n",
    "2talker:\n  ros__parameters:\n    x: 1\n",
    "tal-ker:\n  ros__parameters:\n    x: 1\n",
    "/**:\n  ros__parameters:\n    x:\n",
    "/**:\n  ros__parameters:\n    x: []\n    y: 1\n",
    "/**:\n  ros__parameters:\n    x: &a 1\n    y: *a\n",
    "/**:\n  ros__parameters:\n",
    "/**:\n",
    "x: 1\n",
    "ros__parameters:\n  x: 1\n",
    "/**:\n  x: 1\n",
    "/**:\n  ros__parameters: 5\n",
    "/**:\n  ros__parameters:\n    - 1\n",
    "- 1\n",
    "/**:\n\tros__parameters:\n    x: 1\n",
    "/**:\n  ros__parameters:\n    x: a: b\n",
];

#[test]
fn values_are_what_rcl_makes_of_them() {
    for (text, expected) in VALUES {
        let value = yaml::value(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
        assert_eq!(format!("{} {value}", value.parameter_type()), *expected, "{text:?}");
    }
    for text in NO_VALUES {
        let why = yaml::value(text).expect_err(text);
        assert!(why.len() > 10, "{text:?}: {why}");
    }
}

/// The parameters of a node from a file with this text, and from further arguments.
fn parameters_of(node: &str, text: &str, more: &[(Option<&str>, &str)]) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("parameters.yaml");
    std::fs::write(&path, text).unwrap();
    let (before, after) = more.split_at(usize::from(more.len() > 1));
    let read = || -> crate::error::Result<_> {
        let mut arguments = ParameterArguments::default();
        before.iter().try_for_each(|(node, yaml)| arguments.add_value(*node, "x", yaml))?;
        arguments.add_file(&path)?;
        after.iter().try_for_each(|(node, yaml)| arguments.add_value(*node, "x", yaml))?;
        Ok(arguments.for_node(node))
    };
    let parameters = read().map_err(|error| error.to_string())?;
    let words = parameters.iter().filter(|(name, _)| *name != "use_sim_time");
    Ok(words.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
}

#[test]
fn files_mean_what_they_mean_to_rcl() {
    for (text, expected) in FILES {
        assert_eq!(NODES.map(|node| parameters_of(node, text, &[]).unwrap()), *expected, "{text}");
    }
    for (pattern, expected) in PATTERNS {
        let text = format!("{pattern}:\n  ros__parameters:\n    x: 1\n");
        assert_eq!(NODES.map(|node| parameters_of(node, &text, &[]).unwrap() == "x=1"), *expected, "{pattern}");
    }
    for text in NO_FILES {
        let why = parameters_of("/talker", text, &[]).expect_err(text);
        assert!(why.starts_with("the parameters of /") && why.contains("parameters.yaml cannot be used: "), "{why}");
    }
}

#[test]
fn a_pattern_keeps_its_place_when_it_occurs_again() {
    let (all, both) = ("/**:\n  ros__parameters:\n    x: 1\n", "/ns/talker:\n  ros__parameters:\n    x: 2\n");
    let of = |text: &str, more: &[_]| parameters_of("/ns/talker", text, more).unwrap();
    assert_eq!(of(&format!("{all}{both}"), &[(None, "9")]), "x=2");
    assert_eq!(of(both, &[(None, "9")]), "x=9");
    assert_eq!(of(both, &[(None, "9"), (Some("other"), "5")]), "x=2", "a file after the value");
    assert_eq!(of(both, &[(Some("talker"), "5")]), "x=2", "a name without a namespace is /talker");
}

#[test]
fn nested_mappings_are_refused_before_the_stack_ends() {
    let nested = |key: &str, depth: usize| format!("{}1{}", format!("{{{key}: ").repeat(depth), "}".repeat(depth));
    for text in [nested("a", 100_000), format!("/**: {{ros__parameters: {}}}", nested("a", 100_000))] {
        parameters_of("/talker", &text, &[]).unwrap_err();
    }
    parameters_of("/talker", &format!("/**: {{ros__parameters: {}}}", nested("a", 90)), &[]).unwrap();
}
