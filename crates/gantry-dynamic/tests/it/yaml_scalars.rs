//! Tests that texts and numbers are written like PyYAML writes them, and therefore like `ros2 topic echo` prints them.
//!
//! The tables contain the output of `yaml.dump({"data": …}, allow_unicode=True, width=sys.maxsize,
//! default_flow_style=False)` of PyYAML 6.0.3, without the leading `data: ` and the last line break.

use super::Body;

#[rustfmt::skip]
const TEXTS: [(&str, &str); 104] = [
    ("", "''"),
    ("a", "a"),
    ("hello world", "hello world"),
    ("yes", "'yes'"),
    ("No", "'No'"),
    ("off", "'off'"),
    ("True", "'True'"),
    ("null", "'null'"),
    ("~", "'~'"),
    ("nothing", "nothing"),
    ("truely", "truely"),
    ("=", "'='"),
    ("<<", "'<<'"),
    ("1", "'1'"),
    ("-17", "'-17'"),
    ("+1", "'+1'"),
    ("1.0", "'1.0'"),
    ("1.", "'1.'"),
    (".5", "'.5'"),
    ("1e5", "1e5"),
    ("1e+5", "1e+5"),
    ("1.5e+5", "'1.5e+5'"),
    ("0x1F", "'0x1F'"),
    ("0b12", "0b12"),
    ("0o7", "0o7"),
    ("017", "'017'"),
    ("089", "089"),
    ("1_000", "'1_000'"),
    ("12:30:45", "'12:30:45'"),
    ("12:75", "12:75"),
    ("1:30.5", "'1:30.5'"),
    (".inf", "'.inf'"),
    ("-.INF", "'-.INF'"),
    (".nan", "'.nan'"),
    ("nan", "nan"),
    ("inf", "inf"),
    ("2026-11-21", "'2026-11-21'"),
    ("2026-11-2", "2026-11-2"),
    ("2026-1-2 3:04:05", "'2026-1-2 3:04:05'"),
    ("2026-11-21T12:00:01.5Z", "'2026-11-21T12:00:01.5Z'"),
    ("2026-11-21 12:00:01 +02:00", "'2026-11-21 12:00:01 +02:00'"),
    ("- a", "'- a'"),
    ("-", "'-'"),
    ("-a", "-a"),
    ("--- a", "'--- a'"),
    ("...", "'...'"),
    ("? a", "'? a'"),
    ("?a", "?a"),
    (":", "':'"),
    (":a", ":a"),
    ("a: b", "'a: b'"),
    ("a:b", "a:b"),
    ("a:", "'a:'"),
    ("a #b", "'a #b'"),
    ("a#b", "a#b"),
    ("#a", "'#a'"),
    ("a, b", "a, b"),
    ("[a]", "'[a]'"),
    ("{a", "'{a'"),
    ("a]", "a]"),
    ("&a", "'&a'"),
    ("*a", "'*a'"),
    ("!a", "'!a'"),
    ("|", "'|'"),
    ("> a", "'> a'"),
    ("'a'", "'''a'''"),
    ("it's", "it's"),
    ("\"a\"", "'\"a\"'"),
    ("say \"a\"", "say \"a\""),
    ("%a", "'%a'"),
    ("@a", "'@a'"),
    ("`a", "'`a'"),
    ("/dev/ttyUSB0", "/dev/ttyUSB0"),
    (" a", "' a'"),
    ("a ", "'a '"),
    ("a  b", "a  b"),
    ("\n", "'\n\n  '"),
    ("a\nb", "'a\n\n  b'"),
    ("a\n", "'a\n\n  '"),
    ("\na", "'\n\n  a'"),
    ("a\n\nb", "'a\n\n\n  b'"),
    ("a \nb", "\"a \\nb\""),
    ("a\n b", "\"a\\n b\""),
    ("it's\nso", "'it''s\n\n  so'"),
    ("\t", "\"\\t\""),
    ("a\tb", "\"a\\tb\""),
    ("a\r\n", "\"a\\r\\n\""),
    ("a\\b", "a\\b"),
    ("\u{1}", "\"\\x01\""),
    ("\u{1b}[31m", "\"\\e[31m\""),
    ("\u{7f}", "\"\\x7F\""),
    ("\u{85}", "'\u{85}  '"),
    ("a\u{85}b", "'a\u{85}  b'"),
    ("\u{a0}", "\u{a0}"),
    ("é", "é"),
    ("漢字", "漢字"),
    ("😀", "😀"),
    ("\n😀", "'\n\n  😀'"),
    ("\u{1}é😀\"\\", "\"\\x01é\\U0001F600\\\"\\\\\""),
    ("a\u{2028}b", "'a\u{2028}  b'"),
    ("\u{feff}", "\"\\uFEFF\""),
    ("\u{fffe}", "\"\\uFFFE\""),
    ("\u{200b}", "\u{200b}"),
    ("\u{10ffff}", "\"\\U0010FFFF\""),
];

#[rustfmt::skip]
const FLOATS: [(f64, &str); 24] = [
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (1.0, "1.0"),
    (-1.5, "-1.5"),
    (0.1, "0.1"),
    (0.0001, "0.0001"),
    (1.0e-05, "1.0e-05"),
    (1.5e-07, "1.5e-07"),
    (123456789.125, "123456789.125"),
    (1000000000000000.0, "1000000000000000.0"),
    (9999999999999998.0, "9999999999999998.0"),
    (1.0e+16, "1.0e+16"),
    (1.25e+17, "1.25e+17"),
    (1.0e+22, "1.0e+22"),
    (1.0e+100, "1.0e+100"),
    (f64::MAX, "1.7976931348623157e+308"),
    (5.0e-324, "5.0e-324"),
    (5.684341886080802e-14, "5.684341886080802e-14"),
    (0.3333333333333333, "0.3333333333333333"),
    (0.10000000149011612, "0.10000000149011612"),
    (-67.73782348632812, "-67.73782348632812"),
    (f64::INFINITY, ".inf"),
    (f64::NEG_INFINITY, "-.inf"),
    (f64::NAN, ".nan"),
];

#[test]
fn texts_that_yaml_reads_as_another_type_are_quoted() {
    for (text, expected) in TEXTS {
        assert_eq!(Body::default().text(text).yaml("string data"), format!("data: {expected}\n"), "for {text:?}");
    }
}

#[test]
fn floats_are_those_of_python() {
    for (value, expected) in FLOATS {
        assert_eq!(Body::default().f64(value).yaml("float64 data"), format!("data: {expected}\n"));
    }
}

#[test]
fn a_float32_has_the_digits_of_its_64_bits() {
    let body = Body::default().number(0.1_f32.to_le_bytes());
    assert_eq!(body.yaml("float32 data"), "data: 0.10000000149011612\n");
}

#[test]
fn a_byte_is_a_character() {
    let body = Body(vec![0, 65, 0xe9, b'1']);
    assert_eq!(body.yaml("byte a\nbyte[3] b"), "a: \"\\0\"\nb:\n- A\n- é\n- '1'\n");
}

#[test]
fn a_name_that_would_be_a_boolean_is_quoted() {
    assert_eq!(Body(vec![1, 2, 3]).yaml("uint8 on\nuint8 y\nuint8 null"), "'on': 1\ny: 2\n'null': 3\n");
}

#[test]
fn later_lines_of_a_text_are_indented_below_its_field() {
    let body = Body::default().text("a\nb").u32(1).text("c\n\nd").text("\n");
    assert_eq!(
        body.yaml("Inner inner\nstring last\n===\nMSG: test/Inner\nstring first\nstring[] list"),
        "inner:\n  first: 'a\n\n    b'\n  list:\n  - 'c\n\n\n    d'\nlast: '\n\n  '\n"
    );
}
