//! Tests of filters: the messages that pass a filter, and the texts of errors.

use super::{Body, HEADER, message_type};
use allocations::{Counts, count};
use fastrand::Rng;
use gantry_cdr::ByteOrder::{BigEndian, LittleEndian};
use gantry_dynamic::{Filter, MessageType, testing::random_body};

/// A type with each kind of field.
const ROBOT: &str = "std_msgs/Header header
    string name
    wstring title
    bool is_on
    char letter
    uint8 level
    int32 count
    uint64 total
    float32 speed
    float64 mass
    float64[] ranges
    string[2] tags
    Pose[] poses
===
    MSG: test/Pose
    float64 x
    string frame
    ";

fn robot_type() -> MessageType {
    message_type(&format!("{ROBOT}\n{HEADER}"))
}

/// A robot with known values.
fn robot() -> Vec<u8> {
    let title: Vec<u32> = "Größe".chars().map(u32::from).collect();
    let mut body = Body::default().header(7, 8, "map").text("front_left").u32(title.len() as u32);
    for unit in title {
        body = body.u32(unit);
    }
    let body = body.u8(1).u8(b'k').u8(200).u32(-3_i32 as u32).number(u64::MAX.to_le_bytes());
    let body = body.number(0.1_f32.to_le_bytes()).f64(f64::NAN).u32(3).f64(0.5).f64(1.5).f64(2.5);
    body.text("a").text("b").u32(1).f64(4.0).text("odom").0
}

#[test]
fn a_message_passes_if_the_condition_holds() {
    let (robot_type, bytes) = (robot_type(), robot());
    let robot = robot_type.view(&bytes, LittleEndian).unwrap();
    for (expression, expected) in [
        ("count = -3", true),
        ("count=-3", true),
        ("-3 = count", true),
        ("count <> -3", false),
        ("count != 3", true),
        ("count < -2 AND count > -4", true),
        ("-4 < count AND -2 > count", true),
        ("count <= -3 AND count >= -3", true),
        ("count = -3.0 AND count < -2.5", true),
        ("total = 18446744073709551615", true),
        ("total > 18446744073709551614.0", false), // this float is 2^64
        ("total > count", true),
        ("is_on = TRUE", true),
        ("is_on = false OR is_on = 0", false),
        ("is_on = 1", true),
        ("letter = 'k' AND letter = 107", true),
        ("level BETWEEN 200 AND 201", true),
        ("level NOT BETWEEN 200 AND 201", false),
        ("level BETWEEN 1 AND 199 OR level NOT BETWEEN 1 AND 199", true),
        ("speed = 0.1", true), // equal, although no `float32` is exactly 0.1
        ("speed > 0.1", false),
        ("speed >= 1e-1 AND speed < .2", true),
        ("mass = mass OR mass < 1 OR mass >= 1", false), // NaN
        ("mass <> 1 AND mass <> mass", true),
        ("name = 'front_left'", true),
        ("name = `front_left'", true),
        ("name < 'g' AND name > 'f'", true),
        ("name LIKE 'front%'", true),
        ("name like '*_l?ft'", true),
        ("name NOT LIKE 'front_'", true),
        ("title = 'Größe' AND title LIKE 'Gr__e' AND title > name", false),
        ("title < name AND title LIKE 'Gr__e'", true),
        ("header.stamp.sec = 7 AND header.frame_id = 'map'", true),
        ("ranges[2] > ranges[1] AND ranges[0] = 0.5", true),
        ("ranges[3] = 0 OR ranges[3] <> 0 OR ranges[3] BETWEEN 0 AND 1", false), // the message has no such element
        ("ranges[3] NOT BETWEEN 0 AND 1 OR ranges[3] = ranges[3]", false),
        ("NOT ranges[3] = 0", true),
        ("tags[1] = 'b' AND poses[0].frame LIKE 'o%' AND poses[0].x = 4", true),
        ("NOT count = 0 AND NOT (count = -3 AND level = 1)", true),
        ("count = 0 AND level = 1 OR level = 200", true), // AND binds more tightly
        ("count = 0 AND (level = 1 OR level = 200)", false),
        ("NOT NOT count = -3", true),
        ("((((count = -3))))", true),
    ] {
        let filter = Filter::new(&robot_type, expression, &[""; 0]).map_err(|error| error.to_string());
        assert_eq!(filter.map(|filter| filter.matches(&robot)), Ok(expected), "{expression}");
    }
}

#[test]
fn parameters_are_values() {
    let (robot_type, bytes) = (robot_type(), robot());
    let robot = robot_type.view(&bytes, LittleEndian).unwrap();
    let parameters = ["-3", "'front%'", " TRUE ", "0.1", "'it''s'", "name", "1 2", ""];
    let matches = |expression: &str| {
        let filter = Filter::new(&robot_type, expression, &parameters);
        filter.map(|filter| filter.matches(&robot)).map_err(|error| error.to_string())
    };
    assert_eq!(matches("count = %0 AND name LIKE %1 AND is_on = %2 AND speed = %3 AND name <> %4"), Ok(true));
    assert_eq!(matches("count BETWEEN %0 AND %0"), Ok(true));
    let no_value =
        "a parameter is one value: a number, TRUE, FALSE, or a text in single quotes of its own, as \"'text'\"";
    for (expression, expected) in [
        ("name = %5", format!("the parameter %5, `name`: {no_value}")),
        ("count = %6", format!("the parameter %6, `1 2`: {no_value}")),
        ("count = %7", format!("the parameter %7, ``: {no_value}")),
        (
            "count = %8",
            "column 9 of the filter, at `%8`: there is no parameter %8: only %0 to %7 were given".to_owned(),
        ),
    ] {
        assert_eq!(matches(expression), Err(expected), "{expression}");
    }
}

/// Expressions, each with its error.
const ERRORS: &[(&str, &str)] = &[
    ("", "the end of the filter: a field, a value or a parameter is expected"),
    ("count", "the end of the filter: =, <>, <, <=, >, >=, LIKE or BETWEEN is expected"),
    ("count =", "the end of the filter: a field, a value or a parameter is expected"),
    ("count = 1 level = 2", "column 11 of the filter, at `level = 2`: AND, OR or the end is expected"),
    ("count = 1)", "column 10 of the filter, at `)`: this closing parenthesis has no opening parenthesis"),
    (
        "count = 1 AND (level = 2",
        "the end of the filter: AND, OR or the parenthesis that closes the one in column 15 is expected",
    ),
    ("count == 1", "column 7 of the filter, at `== 1`: `==` is not an operator of filters; write ="),
    (
        "header.stmp.sec = 1",
        "column 1 of the filter, at `header.stmp.sec = 1`: std_msgs/msg/Header has no field `stmp`; its fields are stamp, \
             frame_id",
    ),
    (
        "header.stamp = 1",
        "column 1 of the filter, at `header.stamp = 1`: `header.stamp` is a builtin_interfaces/Time, and a filter compares \
             numbers, booleans and texts; name one of its fields: sec, nanosec",
    ),
    ("count.x = 1", "column 1 of the filter, at `count.x = 1`: `count` is one int32, so it has no field `x`"),
    ("ranges = 1", "column 1 of the filter, at `ranges = 1`: `ranges` is a float64[]; name an element, as `ranges[0]`"),
    ("count[0] = 1", "column 1 of the filter, at `count[0] = 1`: `count` is one int32, so it has no index"),
    ("ranges[x] = 1", "column 1 of the filter, at `ranges[x] = 1`: `ranges[x]` has no index as in `ranges[0]`"),
    (
        "tags[2] = 'c'",
        "column 1 of the filter, at `tags[2] = 'c'`: `tags` is a string[2], so `tags[1]` is its last possible element, \
         and `tags[2]` does not exist",
    ),
    (
        "count = 'x'",
        "column 7 of the filter, at `= 'x'`: `count` is an int32, and 'x' is a text: they cannot be compared",
    ),
    ("name = 3", "column 6 of the filter, at `= 3`: `name` is a text, and 3 is a number: they cannot be compared"),
    (
        "letter = 'kk'",
        "column 8 of the filter, at `= 'kk'`: `letter` is a char, and 'kk' is a text: they cannot be compared",
    ),
    (
        "count = TRUE",
        "column 7 of the filter, at `= TRUE`: `count` is an int32, and TRUE is a boolean: they cannot be compared",
    ),
    ("is_on = 2", "column 7 of the filter, at `= 2`: `is_on` is a boolean, and 2 is a number: they cannot be compared"),
    (
        "is_on = count",
        "column 7 of the filter, at `= count`: `is_on` is a boolean, and `count` is an int32: they cannot be compared",
    ),
    ("1 = 1", "column 3 of the filter, at `= 1`: both sides are values; one side is a field of the message"),
    (
        "count = 18446744073709551616",
        "column 9 of the filter, at `18446744073709551616`: 18446744073709551616 is beyond the integers of 64 bits",
    ),
    (
        "count LIKE 'x'",
        "column 1 of the filter, at `count LIKE 'x'`: LIKE compares a field that is a text with a pattern, as in name LIKE \
             'front%'",
    ),
    (
        "name MATCH 'x'",
        "column 6 of the filter, at `MATCH 'x'`: MATCH is not supported; LIKE has the wildcards % and _",
    ),
    ("count BETWEEN 1", "the end of the filter: AND is expected, as in x BETWEEN 1 AND 2"),
    (
        "1 BETWEEN 1 AND 2",
        "column 1 of the filter, at `1 BETWEEN 1 AND 2`: BETWEEN compares a field with two values, as in x BETWEEN 1 AND 2",
    ),
    ("count = %0", "column 9 of the filter, at `%0`: there is no parameter %0: no parameters were given"),
];

#[test]
fn errors_say_the_place_and_what_is_possible() {
    let robot_type = robot_type();
    for (expression, expected) in ERRORS.iter().copied() {
        let error = Filter::new(&robot_type, expression, &[""; 0]).map(drop).unwrap_err().to_string();
        assert_eq!(error, expected, "{expression}");
    }
    let nested = |depth| format!("{}count = 1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Filter::new(&robot_type, &nested(60), &[""; 0]).is_ok());
    let error = Filter::new(&robot_type, &nested(100_000), &[""; 0]).map(drop).unwrap_err().to_string();
    assert!(error.ends_with("a filter has at most 64 conditions nested in each other"), "{error}");
}

#[test]
fn a_field_may_have_the_name_of_a_keyword() {
    let test = message_type("bool not\nuint8 and\nuint8 true");
    let message = test.view(&[1, 2, 3], LittleEndian).unwrap();
    let filter = Filter::new(&test, "NOT not = FALSE and and = 2 AND true = 3 AND not = TRUE", &[""; 0]).unwrap();
    assert!(filter.matches(&message));
}

/// Tokens for random expressions: first fields, then values, then parameters, then other tokens.
const TOKENS: [&str; 38] = [
    "count",
    "name",
    "title",
    "is_on",
    "letter",
    "speed",
    "mass",
    "ranges[0]",
    "ranges[9]",
    "tags[1]",
    "poses[0].x",
    "poses[0].frame",
    "header.stamp.sec",
    "nothing",
    "1",
    "-1.5",
    "0",
    "'a'",
    "'%'",
    "TRUE",
    "%0",
    "%1",
    "%2",
    "=",
    "<>",
    "<",
    ">=",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "LIKE",
    "(",
    ")",
    "'",
    "[",
    "ä",
    "1e400",
];

/// Random texts, made of tokens or of any characters, yield a filter or an error, but never a panic. Filters also
/// accept messages of another type.
#[test]
fn random_expressions_never_panic() {
    let (robot_type, other_type) = (robot_type(), message_type("string[] texts\nuint8 last"));
    let mut rng = Rng::with_seed(0x5e1ec7);
    let bodies = [LittleEndian, BigEndian].map(|order| {
        let bodies = (0..20).map(|_| random_body(&robot_type, &mut rng, order));
        (order, bodies.collect::<Vec<_>>())
    });
    let other_body = random_body(&other_type, &mut rng, LittleEndian);
    let (mut filters, mut passed, mut checked) = (0, 0, 0);
    for round in 0..60_000 {
        let text = match round % 4 {
            0 => (0..rng.usize(..30)).map(|_| rng.char(..)).collect(),
            1 => (0..rng.usize(..12)).map(|_| TOKENS[rng.usize(..TOKENS.len())]).collect::<Vec<_>>().join(" "),
            _ => {
                // Most of these random expressions are valid filters.
                let predicate = |rng: &mut Rng| {
                    let field = TOKENS[rng.usize(..13)];
                    let operator = *rng.choice(&["=", "<>", "<", ">=", "BETWEEN 1 AND", "LIKE"]).unwrap();
                    format!("{field} {operator} {}", TOKENS[rng.usize(..23)])
                };
                let joint = *rng.choice(&[" AND ", " OR ", " OR NOT "]).unwrap();
                (0..rng.usize(1..4)).map(|_| predicate(&mut rng)).collect::<Vec<_>>().join(joint)
            }
        };
        let Ok(filter) = Filter::new(&robot_type, &text, &["2.5", "'k'"]) else { continue };
        filters += 1;
        for (order, bodies) in &bodies {
            let body = &bodies[rng.usize(..bodies.len())];
            checked += 1;
            let check = || passed += u32::from(filter.matches(&robot_type.view(body, *order).unwrap()));
            assert_eq!(count(check), Counts::default(), "a check allocates: {text}");
        }
        filter.matches(&other_type.view(&other_body, LittleEndian).unwrap());
    }
    assert!(
        filters > 3_000 && passed > checked / 20 && passed < checked - checked / 20,
        "{filters} {passed} {checked}"
    );
}
