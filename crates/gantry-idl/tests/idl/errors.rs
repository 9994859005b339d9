//! Tests of the sentence and the location of every error.

use crate::{name, read_folder};
use gantry_idl::Definitions;

/// The first error in the definition `text` of a message, without the error's path.
fn error(text: &str) -> String {
    let Err(errors) = Definitions::from_text(&name("my_robot/msg/Test"), text) else { panic!("{text} is no error") };
    let error = errors.iter().next().unwrap().to_string();
    error.strip_prefix("my_robot/msg/Test:").unwrap().to_owned()
}

#[test]
fn types() {
    let cases = [
        ("int8 a\nflaot64 x", "2:1: unknown type `flaot64`; did you mean `float64`?"),
        ("sting x", "1:1: unknown type `sting`; did you mean `string`?"),
        ("banana x", "1:1: unknown type `banana`; the name of a message begins with a capital letter"),
        ("time x", "1:1: unknown type `time`; did you mean `builtin_interfaces/Time`?"),
        ("double x", "1:1: unknown type `double`; did you mean `float64`?"),
        ("Header header", "1:1: unknown type `Header`; did you mean `std_msgs/Header`?"),
        ("Int32 x", "1:1: unknown type `Int32`; did you mean `int32`?"),
        (
            "other/Point x",
            "1:1: unknown type `other/Point`; there is no package `other` here; if a crate has it, as gantry-msgs has ROS 2's \
             packages, add that crate to [dependencies]",
        ),
        ("Pose[] x", "1:1: unknown type `Pose`; there is no message `Pose` in the package `my_robot`"),
        ("a/b/c/D x", "1:1: `a/b/c/D` is not a type; a message of another package is written `package/Name`"),
        ("other/point x", "1:1: `point` cannot be a type's name: it must begin with a capital letter"),
        ("Other/Point x", "1:1: `Other` cannot be a package's name: it must begin with a lower-case letter"),
        ("Po_int x", "1:1: `Po_int` cannot be a type's name: only letters and digits are allowed"),
        ("int32[2][3] x", "1:1: an array of arrays is not possible; make a message of the inner one"),
        ("int32[0] x", "1:7: `0` cannot be a length or a bound, which is from 1 to 4294967295"),
        ("int32[<=x] x", "1:9: `x` cannot be a length or a bound, which is from 1 to 4294967295"),
        ("int32[4294967296] x", "1:7: `4294967296` cannot be a length or a bound, which is from 1 to 4294967295"),
        ("string<=-1 x", "1:9: `-1` cannot be a length or a bound, which is from 1 to 4294967295"),
        ("int32] x", "1:1: `int32]` ends with `]`, but has no `[`"),
        ("int32<=3 x", "1:6: only a string or a sequence can have a bound, as in `string<=10` or `int32[<=10]`"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn names_and_lines() {
    let cases = [
        ("int8", "1:1: a field needs a type and a name, as in `float64 range_m`"),
        (" int8 x", "1:2: a field begins at the beginning of its line"),
        (
            "int8 rangeM",
            "1:6: `rangeM` cannot be a field's name: only lower-case letters, digits and underscores are allowed",
        ),
        ("int8 2nd", "1:6: `2nd` cannot be a field's name: it must begin with a lower-case letter"),
        ("int8 a__b", "1:6: `a__b` cannot be a field's name: it must not have two underscores in a row"),
        ("int8 a_", "1:6: `a_` cannot be a field's name: it must not end with an underscore"),
        (
            "int8 Max=1",
            "1:6: `Max` cannot be a constant's name: only capital letters, digits and underscores are allowed",
        ),
        ("int8 A_=1", "1:6: `A_` cannot be a constant's name: it must not end with an underscore"),
        (
            "int8 x=1",
            "1:6: `x` cannot be a constant's name: it must begin with a capital letter; a field's default is written without `=`",
        ),
        ("int8 x\nint16 x", "2:7: there is already a `x` in this message"),
        ("int8 X=1\nint8 X=2", "2:6: there is already a `X` in this message"),
        ("---", "1:1: `---` separates the request and the response of a service, and cannot be in a message"),
        ("int8 x\u{1b}[31m", "1:7: the character U+001B does not belong here"),
        ("öäü x", "1:1: unknown type `öäü`; the name of a message begins with a capital letter"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn values() {
    let cases = [
        ("uint8 A=256", "1:9: 256 is not in the range of `uint8`, 0 to 255"),
        ("int8 x -129", "1:8: -129 is not in the range of `int8`, -128 to 127"),
        ("byte A=-1", "1:8: -1 is not in the range of `byte`, 0 to 255"),
        ("int32 x 1.0", "1:9: `1.0` is not an integer"),
        ("int32 A=", "1:9: `` is not an integer"),
        ("int32 x 1__0", "1:9: `1__0` is not an integer"),
        ("int32 x --1", "1:9: `--1` is not an integer"),
        ("bool x yes", "1:8: `yes` is not a `bool`, which is `true`, `1`, `false` or `0`"),
        ("float64 x one", "1:11: `one` is not a number; it should look like `-1.5e3`"),
        ("string<=3 x 'abcd'", "1:13: the text is 4 bytes long, and its type allows 3"),
        ("wstring<=1 x 'ab'", "1:14: the text is 2 UTF-16 units long, and its type allows 1"),
        (
            r#"string x "a"b""#,
            "1:10: inside the text a \" needs a backslash before it, and the last one must have none",
        ),
        (r#"string[] x ["a # b"]"#, "1:12: a default of type `string[]` must be in brackets, as in `[1, 2]`"),
        ("int8[2] x [1]", "1:11: `int8[2]` needs exactly 2 elements, and the default has 1"),
        ("int8[<=1] x [1, 2]", "1:13: `int8[<=1]` holds at most 1 elements, and the default has 2"),
        ("int8[] x 1", "1:10: a default of type `int8[]` must be in brackets, as in `[1, 2]`"),
        ("int8[] x [1, 300]", "1:14: 300 is not in the range of `int8`, -128 to 127"),
        ("int8[] x [1,]", "1:13: `` is not an integer"),
        ("string[] x ['a' 'b']", "1:17: there must be a comma between two texts"),
        ("string[] x [, 'b']", "1:13: there is no text before this comma; an empty text is `\"\"`"),
        ("string[] x ['a]", "1:13: the text is not closed with '"),
        ("string<=3 A='a'", "1:1: a constant is a number, a `bool`, a `string` or a `wstring`, and not a list of them"),
        ("int8[] A=[1]", "1:1: a constant is a number, a `bool`, a `string` or a `wstring`, and not a list of them"),
        ("Test x 1", "1:8: a field of type `my_robot/Test` cannot have a default"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn all_errors_of_a_folder_with_their_lines() {
    let errors = read_folder(&[
        ("my_robot/msg/Range.msg", "# How far.\nflaot64 range_m\nint8 öl\ngeometry_msgs/Piont at\n"),
        ("geometry_msgs/msg/Point.msg", "float64 x\nfloat64\ty 1,5\n"),
    ])
    .unwrap_err()
    .to_string();
    let folder = errors.split("geometry_msgs").next().unwrap();
    let expected = "\
geometry_msgs/msg/Point.msg:2:11: `1,5` is not a number; it should look like `-1.5e3`
  |
2 | float64 y 1,5
  |           ^^^

my_robot/msg/Range.msg:2:1: unknown type `flaot64`; did you mean `float64`?
  |
2 | flaot64 range_m
  | ^^^^^^^

my_robot/msg/Range.msg:3:6: `öl` cannot be a field's name: it must begin with a lower-case letter
  |
3 | int8 öl
  |      ^^

my_robot/msg/Range.msg:4:1: unknown type `geometry_msgs/Piont`; did you mean `geometry_msgs/Point`?
  |
4 | geometry_msgs/Piont at
  | ^^^^^^^^^^^^^^^^^^^";
    assert_eq!(errors.replace(folder, ""), expected);
}

#[test]
fn a_message_that_contains_itself() {
    let errors = read_folder(&[
        ("my_robot/msg/A.msg", "int8 x\nB b\n"),
        ("my_robot/msg/B.msg", "other/C[] c\n"),
        ("other/msg/C.msg", "my_robot/A[<=2] a\nC c\n"),
    ])
    .unwrap_err();
    let sentences: Vec<&str> = errors.iter().map(|error| &error.sentence[..]).collect();
    assert_eq!(
        sentences,
        [
            "`my_robot/A` contains itself: my_robot/A → my_robot/B → other/C → my_robot/A",
            "`other/C` contains itself: other/C → other/C"
        ]
    );
}

#[test]
fn a_type_of_another_package_without_the_package() {
    let errors = read_folder(&[("my_robot/msg/A.msg", "Point p\n"), ("geometry_msgs/msg/Point.msg", "")]).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().sentence, "unknown type `Point`; did you mean `geometry_msgs/Point`?");
}

#[test]
fn a_service_needs_one_separator() {
    let sentence = |text| {
        let errors = Definitions::from_text(&name("my_robot/srv/Test"), text).unwrap_err();
        errors.iter().next().unwrap().to_string()
    };
    assert_eq!(
        sentence("int8 x"),
        "my_robot/srv/Test: a service needs a line `---` between its request and its response"
    );
    assert_eq!(sentence("---\n---"), "my_robot/srv/Test:2:1: a service has one `---`, and this is the second");
}
