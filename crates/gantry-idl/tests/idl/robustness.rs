//! Tests with untrusted texts. Each text is read or refused. A definition that was read is written, and the result
//! reads the same.

use crate::name;
use gantry_idl::{BaseType, Definitions, dds_idl};

const PIECES: [&str; 44] = [
    "int8",
    "float64",
    "string",
    "wstring",
    "string<=3",
    "bool",
    "Point",
    "a/Point",
    "a/msg/Point",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\t",
    "x",
    "y",
    "MAX",
    "=",
    "[",
    "]",
    "[]",
    "[3]",
    "[<=2]",
    "<=",
    "#",
    "# comment",
    "\"",
    "'",
    "\\",
    "\\x23",
    ",",
    "1",
    "-1",
    "0x1f",
    "1e300",
    "true",
    "[1, 2, 3]",
    "['a', \"b\"]",
    "---",
    "é",
    "\u{0}",
    "MSG: a/Point",
    "\n================================================================================\n",
];

fn check(text: &str) {
    for asked in ["a/msg/Test", "a/srv/Test", "a/srv/Test_Request"] {
        let name = name(asked);
        match Definitions::from_text(&name, text) {
            Err(errors) => assert!(!errors.to_string().is_empty()),
            Ok(definitions) => check_round_trip(&definitions, asked),
        }
    }
}

fn check_round_trip(definitions: &Definitions, asked: &str) {
    let name = name(asked);
    let text = definitions.definition_text(&name).unwrap();
    let back = Definitions::from_text(&name, &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    for message in back.messages() {
        let mut expected = definitions.message(&message.name).unwrap().clone();
        expected.comment.clear();
        expected.fields.iter_mut().for_each(|field| field.comment.clear());
        expected.constants.iter_mut().for_each(|constant| constant.comment.clear());
        assert_eq!(*message, expected, "{text}");
    }
    assert_eq!(back.definition_text(&name).unwrap(), text);
    assert_eq!(
        (back.hash(&name), back.service_hash(&name)),
        (definitions.hash(&name), definitions.service_hash(&name))
    );
    assert_eq!(back.max_size_bytes(&name), definitions.max_size_bytes(&name));
    assert_eq!(back.is_plain(&name), definitions.is_plain(&name));
    assert_eq!(dds_idl([&back]).matches("\n  struct ").count(), back.messages().count());
}

#[test]
fn any_text_is_read_or_refused() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..20_000 {
        let text: String = (0..random.usize(0..25)).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
        check(&text);
        let characters: String = (0..random.usize(0..30)).map(|_| random.char('\0'..'\u{250}')).collect();
        check(&characters);
    }
}

/// Tests random valid texts with all elements of the syntax, and the same texts with one changed character.
#[test]
fn a_definition_is_written_so_that_it_reads_the_same() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut read = 0;
    for _ in 0..3_000 {
        let lines: Vec<String> = (0..random.usize(0..6)).map(|index| line(&mut random, index)).collect();
        let mut text = format!("{}\n{}\nMSG: a/Point\nfloat64 x 1.5\n", lines.join("\n"), "=".repeat(80));
        read += usize::from(Definitions::from_text(&name("a/msg/Test"), &text).is_ok());
        check(&text);
        let at = random.usize(..text.len());
        if text.is_char_boundary(at) {
            text.insert(at, random.char('\0'..'\u{100}'));
            check(&text);
        }
    }
    assert!(read > 1_500, "only {read} texts were valid");
}

fn line(random: &mut fastrand::Rng, index: usize) -> String {
    let bases =
        ["int8", "uint64", "float32", "float64", "bool", "string", "wstring", "string<=4", "Point", "a/msg/Point"];
    let base = bases[random.usize(..bases.len())];
    let value = |random: &mut fastrand::Rng| match base {
        "int8" => random.i8(..).to_string(),
        "uint64" => format!("{:#x}", random.u64(..)),
        "float32" => format!("{:e}", random.f32() * 1e30),
        "float64" => format!("{:?}", f64::from_bits(random.u64(..) & !(1 << 62))),
        "bool" => random.bool().to_string(),
        "string<=4" => format!("'{}'", random.alphanumeric()),
        _ => format!("{:?}", (0..random.usize(0..6)).map(|_| random.char(' '..'\u{180}')).collect::<String>()),
    };
    let can_have_value = !base.contains("Point");
    match random.usize(..4) {
        0 if can_have_value && !base.contains('<') => format!("{base} C{index}={}", value(random)),
        1 if can_have_value => format!("{base} f{index} {} # comment", value(random)),
        2 if can_have_value => format!("{base}[<=2] f{index} [{}, {}]", value(random), value(random)),
        _ => format!("{base}[] f{index}"),
    }
}

/// Each message contains the next one twice, so the number of paths grows exponentially and not all of them can be
/// visited.
#[test]
fn work_does_not_grow_with_the_number_of_paths() {
    let separator = "=".repeat(80);
    let nested = |index: usize| format!("\n{separator}\nMSG: a/T{index}\nT{0} x\nT{0} y", index + 1);
    let text = format!("T0 x{}\n{separator}\nMSG: a/T60\nint8 x", (0..60).map(nested).collect::<String>());
    let name = name("a/msg/A");
    let definitions = Definitions::from_text(&name, &text).unwrap();
    assert_eq!(definitions.max_size_bytes(&name), Some(1 << 60));
    assert!(definitions.is_plain(&name));
    assert!(definitions.hash(&name).is_some());
    check_round_trip(&definitions, "a/msg/A");
}

/// The longest chain of messages that fits in a text is refused, without a stack overflow.
#[test]
fn a_long_chain_is_refused() {
    let separator = "=".repeat(80);
    let nested = |index: usize| format!("\n{separator}\nMSG: a/T{index}\nT{} x", (index + 1) % 990);
    let text = format!("T0 x{}", (0..990).map(nested).collect::<String>());
    let errors = Definitions::from_text(&name("a/msg/A"), &text).unwrap_err().to_string();
    assert!(errors.contains("`a/T0` contains itself: a/T0 → a/T1 → a/T2 → a/T3 → … → a/T986"), "{errors}");
}

#[test]
fn a_nested_type_without_a_namespace_is_a_message() {
    let text = "a/Point p\n".to_owned() + &"=".repeat(80) + "\nMSG: a/Point\n";
    let definitions = Definitions::from_text(&name("a/msg/Test"), &text).unwrap();
    let field = &definitions.message(&name("a/msg/Test")).unwrap().fields[0];
    assert_eq!(field.field_type.base, BaseType::Message(name("a/Point")));
}
