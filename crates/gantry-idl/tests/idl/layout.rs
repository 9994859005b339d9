//! Tests of the largest sizes of messages, and of the detection of plain messages.

use crate::name;
use gantry_idl::{BaseType, Count, Definitions, FieldType, MessageDefinition};
use std::collections::BTreeSet;

/// Makes definitions: `Test` with the fields `lines`, and the other messages, each with its name and fields.
fn definitions(lines: &str, others: &[(&str, &str)]) -> Definitions {
    let mut text = lines.replace(',', "\n");
    for (name, lines) in others {
        text += &format!("\n{}\nMSG: my_robot/{name}\n{}", "=".repeat(80), lines.replace(',', "\n"));
    }
    Definitions::from_text(&name("my_robot/msg/Test"), &text).unwrap_or_else(|errors| panic!("{errors}"))
}

const OTHERS: [(&str, &str); 9] = [
    ("Point", "float64 x,float64 y,float64 z"),
    ("Time", "int32 sec,uint32 nanosec"),
    ("Empty", ""),
    ("Tail", "float64 a,uint8 b"),
    ("Head", "uint8 a,float64 b"),
    ("Flag", "bool a"),
    ("Label", "string<=3 label"),
    ("Mixed", "uint32 a,uint16 b,uint8[2] c"),
    ("Deep", "Point[2] points,Time time"),
];

#[test]
fn greatest_sizes() {
    let cases = [
        ("", Some(1)),
        ("uint8 a,float64 b", Some(16)),
        ("float64 a,uint8 b", Some(9)),
        ("bool a,int16 b,int8 c,int32 d", Some(12)),
        ("string<=10 a", Some(4 + 11)),
        ("wstring<=10 a", Some(4 + 40)),
        ("string a", None),
        ("wstring a", None),
        ("uint8[] a", None),
        ("Label[] a", None),
        ("uint8[<=5] a", Some(9)),
        ("float64[<=5] a", Some(8 + 40)),
        ("string<=2[<=3] a", Some(4 + 8 + 8 + 7)),
        // A longer text may be followed by less padding, so both have to be considered.
        ("string<=3 a,float64 b", Some(16)),
        ("string<=4 a,float64 b", Some(24)),
        ("Point[3] a", Some(72)),
        ("Tail[3] a", Some(16 + 16 + 9)),
        ("uint8 a,Head[2] b", Some(32)),
        ("Empty[3] a,Empty b", Some(4)),
        ("Label[2] a,Label[<=2] b", Some(4 * 8 + 4)),
        ("uint8[4294967295] a", Some(u32::MAX as usize)),
    ];
    for (lines, size) in cases {
        assert_eq!(definitions(lines, &OTHERS).max_size_bytes(&name("my_robot/msg/Test")), size, "{lines}");
    }
}

#[test]
fn a_size_beyond_all_memory_is_none() {
    let others = [("A", "B[4294967295] a"), ("B", "C[4294967295] a"), ("C", "float64[4294967295] a")];
    assert_eq!(definitions("A a", &others).max_size_bytes(&name("my_robot/msg/Test")), None);
    assert!(!definitions("A a", &others).is_plain(&name("my_robot/msg/Test")));
}

#[test]
fn plain_messages() {
    let plain = [
        "",
        "uint8 a",
        "byte a,char b,int8 c",
        "float64 a,uint32 b,uint16 c,uint8[2] d",
        "int16[3] a",
        "Point a,Time b",
        "Deep[3] a",
        "Empty[4] a",
        "Mixed a,Mixed[2] b",
        "float64 a,Mixed b",
    ];
    let not_plain = [
        "bool a",
        "string<=3 a",
        "uint8[<=2] a",
        "uint8 a,float64 b",
        "float64 a,uint8 b",
        "uint32 a,uint32 b,float64 c",
        "uint16 a,uint8 b",
        "Tail a",
        "Tail a,uint8[7] b",
        "Flag a",
        "Label a",
        "Time a,Point b",
        "uint16 a,uint16 b,Time c",
    ];
    for lines in plain {
        assert!(definitions(lines, &OTHERS).is_plain(&name("my_robot/msg/Test")), "{lines}");
    }
    for lines in not_plain {
        assert!(!definitions(lines, &OTHERS).is_plain(&name("my_robot/msg/Test")), "{lines}");
    }
}

/// All offsets at which a message that begins at `start` can end, found by trying every length.
fn ends(definitions: &Definitions, message: &MessageDefinition, start: usize) -> BTreeSet<usize> {
    let mut ends = BTreeSet::from([if message.fields.is_empty() { start + 1 } else { start }]);
    for field in &message.fields {
        ends = ends.into_iter().flat_map(|start| field_ends(definitions, &field.field_type, start)).collect();
    }
    ends
}

fn field_ends(definitions: &Definitions, field_type: &FieldType, start: usize) -> BTreeSet<usize> {
    let (start, counts) = match field_type.count {
        Count::One => (start, 1..=1),
        Count::Array(length) => (start, length..=length),
        Count::Sequence { bound } => (start.next_multiple_of(4) + 4, 0..=bound.unwrap()),
    };
    let mut all = BTreeSet::new();
    let mut reached = BTreeSet::from([start]);
    for count in 0..=*counts.end() {
        if counts.contains(&count) {
            all.extend(&reached);
        }
        reached = reached.into_iter().flat_map(|start| element_ends(definitions, &field_type.base, start)).collect();
    }
    all
}

fn element_ends(definitions: &Definitions, base: &BaseType, start: usize) -> BTreeSet<usize> {
    let text = start.next_multiple_of(4) + 4;
    match base {
        BaseType::Primitive(primitive) => {
            [start.next_multiple_of(primitive.size_bytes()) + primitive.size_bytes()].into()
        }
        BaseType::String { bound } => (0..=bound.unwrap() as usize).map(|length| text + length + 1).collect(),
        BaseType::WString { bound } => (0..=bound.unwrap() as usize).map(|length| text + 4 * length).collect(),
        BaseType::Message(name) => ends(definitions, definitions.message(name).unwrap(), start),
    }
}

/// Compares the largest sizes of random bounded messages with a search through all possible lengths.
#[test]
fn greatest_sizes_are_exact() {
    let mut random = fastrand::Rng::with_seed(5);
    let bases = ["uint8", "int16", "float32", "float64", "string<=2", "string<=5", "wstring<=2"];
    for _ in 0..100 {
        let mut lines = |bases: &[&str]| {
            let field = |index: usize, random: &mut fastrand::Rng| {
                let counts = ["", "", "[2]", "[3]", "[<=1]", "[<=3]"];
                format!("{}{} f{index}", bases[random.usize(..bases.len())], counts[random.usize(..counts.len())])
            };
            (0..random.usize(0..4)).map(|index| field(index, &mut random)).collect::<Vec<_>>().join(",")
        };
        let (inner, outer) = (lines(&bases), lines(&["Inner", "uint8", "float64", "string<=3"]));
        let definitions = definitions(&outer, &[("Inner", &inner)]);
        let name = name("my_robot/msg/Test");
        let longest = ends(&definitions, definitions.message(&name).unwrap(), 0).last().copied();
        assert_eq!(definitions.max_size_bytes(&name), longest, "{outer} with {inner}");
    }
}
