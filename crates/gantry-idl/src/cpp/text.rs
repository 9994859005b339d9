//! Small parts of C++ code: names, literals, comments.

use crate::{model::Primitive, name::TypeName, value::Value};

/// The keywords and operators of C++20 in lower-case letters, and the macros of gcc and clang in their GNU dialects.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t \
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr \
    constinit continue decltype default delete do double dynamic_cast else enum explicit export extern \
    false float for friend goto if inline int linux long mutable namespace new noexcept not not_eq \
    nullptr operator or or_eq private protected public register reinterpret_cast requires return short \
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true \
    try typedef typeid typename union unix unsigned using virtual void volatile wchar_t while xor xor_eq";

/// Macros in C headers that C++ headers may include.
const MACROS: &str = "BUFSIZ CHAR_BIT DOMAIN EDOM EILSEQ EOF ERANGE FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN \
    NULL OVERFLOW PLOSS RAND_MAX SING TLOSS UNDERFLOW";

/// The C types whose limits are macros, such as `INT8_MAX`.
const LIMITED: &str =
    "CHAR DBL FLT INT LDBL LLONG LONG PTRDIFF SCHAR SHRT SIZE UCHAR UINT ULLONG ULONG USHRT WCHAR WINT";

/// The name of a field or a package as a C++ identifier. A keyword gets an underscore at its end; no such name ends
/// with one.
pub(super) fn identifier(name: &str) -> String {
    if KEYWORDS.split(' ').any(|keyword| keyword == name) { format!("{name}_") } else { name.to_owned() }
}

/// The name of a constant as a C++ identifier. A macro gets an underscore at its end; no constant's name ends with one.
pub(super) fn constant(name: &str) -> String {
    let is_limit = ["_MAX", "_MIN"].iter().any(|end| name.ends_with(end))
        && LIMITED.split(' ').any(|begin| name.starts_with(begin));
    if is_limit || MACROS.split(' ').any(|taken| taken == name) { format!("{name}_") } else { name.to_owned() }
}

/// The name of a header, formed by ROS 2's rule: `point_cloud2` for `PointCloud2`, `multi_dof_joint_state` for
/// `MultiDOFJointState`.
pub(super) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let begins_word = letters.get(index + 1).is_some_and(char::is_ascii_lowercase);
        let ends_word = before.is_some_and(|before| !before.is_ascii_uppercase());
        if letter.is_ascii_uppercase() && before.is_some_and(|before| before != '_') && (begins_word || ends_word) {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The name of a message as a C++ identifier. The struct of a message has nested classes with the names below, so a
/// message with such a name gets an underscore at its end.
pub(super) fn type_name(name: &str) -> String {
    if ["View", "MutView", "Shape", "Layout"].contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// The full C++ path of a message.
pub(super) fn path(name: &TypeName) -> String {
    format!("::{}::{}::{}::{}", super::ROOT, identifier(&name.package), name.namespace, type_name(&name.name))
}

/// The C++ type of a primitive.
pub(super) fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => "::std::uint8_t",
        Primitive::Int8 => "::std::int8_t",
        Primitive::Int16 => "::std::int16_t",
        Primitive::Uint16 => "::std::uint16_t",
        Primitive::Int32 => "::std::int32_t",
        Primitive::Uint32 => "::std::uint32_t",
        Primitive::Int64 => "::std::int64_t",
        Primitive::Uint64 => "::std::uint64_t",
        Primitive::Float32 => "float",
        Primitive::Float64 => "double",
    }
}

/// The value of a number as a C++ literal of the primitive's type.
pub(super) fn number(primitive: Primitive, value: &Value) -> String {
    let value = match value {
        Value::Bool(value) => value.to_string(),
        // C++ has no literal for the smallest int64.
        Value::Integer(value) if *value == i128::from(i64::MIN) => "(-9223372036854775807 - 1)".to_owned(),
        Value::Integer(value) if *value > i128::from(i64::MAX) => format!("{value}u"),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_nan() => "__builtin_nan(\"\")".to_owned(),
        Value::Float(f64::INFINITY) => "__builtin_inf()".to_owned(),
        Value::Float(f64::NEG_INFINITY) => "-__builtin_inf()".to_owned(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(_) | Value::List(_) => "0".to_owned(), // never the value of a number
    };
    match primitive {
        Primitive::Bool | Primitive::Float64 => value,
        _ => format!("static_cast<{}>({value})", self::primitive(primitive)),
    }
}

/// The arguments for a text: its literal and its length. The length is needed because a 0 in the text would otherwise
/// end it.
pub(super) fn text(value: &str, is_wide: bool) -> String {
    match is_wide {
        false => format!("{}, {}", literal(value), value.len()),
        true => format!("u{}, {}", literal(value), value.encode_utf16().count()),
    }
}

/// A literal of a text.
pub(super) fn literal(value: &str) -> String {
    let mut literal = String::from("\"");
    for character in value.chars() {
        match character {
            '\\' | '"' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            // Characters that change the text direction are escaped, because they would make the source code
            // misleading. An octal escape ends after three digits.
            _ if character.is_ascii_control() => literal.push_str(&format!("\\{:03o}", u32::from(character))),
            _ if turns_direction(character) => literal.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => literal.push(character),
        }
    }
    literal + "\""
}

/// The literal of a text with several lines. Each line becomes one line of source code.
pub(super) fn long_literal(text: &str) -> String {
    let lines: Vec<String> = text.split_inclusive('\n').map(|line| format!("        {}", literal(line))).collect();
    if lines.is_empty() { "        \"\"".to_owned() } else { lines.join("\n") }
}

/// The lines of an indented C++ comment; empty if the comment is empty. A backslash at the end of a line would continue
/// the comment, and a carriage return would end it, so both are removed.
pub(super) fn comment(comment: &str, spaces: usize) -> String {
    let is_plain = |letter: &char| !turns_direction(*letter) && (!letter.is_control() || *letter == '\t');
    let continues = |letter: char| letter == '\\' || letter.is_whitespace();
    let lines = comment.trim().lines().map(|line| line.chars().filter(is_plain).collect::<String>());
    lines
        .map(|line| {
            format!("{}// {}", " ".repeat(spaces), line.trim_start()).trim_end_matches(continues).to_owned() + "\n"
        })
        .collect()
}

fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    #[test]
    fn headers_have_the_names_that_ros_2_gives_them() {
        let names = ["Image", "PointCloud2", "MultiDOFJointState", "UInt8MultiArray", "TFMessage", "NavSatFix", "Imu"];
        let expected = [
            "image",
            "point_cloud2",
            "multi_dof_joint_state",
            "u_int8_multi_array",
            "tf_message",
            "nav_sat_fix",
            "imu",
        ];
        assert_eq!(names.map(super::snake_case), expected);
    }

    #[test]
    fn texts_are_literals_of_cpp() {
        assert_eq!(super::literal("a\"b\\\n\u{1}7é"), "\"a\\\"b\\\\\\n\\0017é\"");
        assert_eq!(super::comment("ends with \\\n\nlast", 4), "    // ends with\n    //\n    // last\n");
        assert_eq!(super::comment("a \\ \\\nb\\\u{200e}\nc\rint d;", 0), "// a\n// b\n// cint d;\n");
    }
}
