//! The parser of field types: `int32`, `string<=10[<=5]`, `Point`, `geometry_msgs/Point[]`.

use crate::{
    error::Problem,
    model::{BaseType, Count, FieldType, Primitive},
    name::{Namespace, TypeName, check_interface, check_package},
    suggestion::nearest,
    token::Token,
};

/// Parses a type. A message without a package in its name belongs to `package`. `resolve` checks later whether the
/// message exists.
pub(crate) fn parse(token: Token<'_>, package: &str) -> Result<FieldType, Problem> {
    let Some(open_end) = token.strip_suffix("]") else {
        return Ok(FieldType { base: base(token, package)?, count: Count::One });
    };
    let Some(bracket) = open_end.text.rfind('[') else {
        return Err(token.problem(format!("`{}` ends with `]`, but has no `[`", token.text)));
    };
    let (element, rest) = open_end.split_at(bracket);
    let (_, size) = rest.split_at(1);
    let count = match size.strip_prefix("<=") {
        Some(bound) => Count::Sequence { bound: Some(positive(bound)?) },
        None if size.text.is_empty() => Count::Sequence { bound: None },
        None => Count::Array(positive(size)?),
    };
    if element.text.ends_with(']') {
        return Err(token.problem("an array of arrays is not possible; make a message of the inner one"));
    }
    Ok(FieldType { base: base(element, package)?, count })
}

fn base(token: Token<'_>, package: &str) -> Result<BaseType, Problem> {
    if let Some(primitive) = Primitive::from_name(token.text) {
        return Ok(BaseType::Primitive(primitive));
    }
    let (word, bound) = token.split_before(|c| c == '<');
    let bound = match bound.strip_prefix("<=") {
        Some(bound) if matches!(word.text, "string" | "wstring") => Some(positive(bound)?),
        _ if bound.text.is_empty() => None,
        _ => {
            return Err(
                bound.problem("only a string or a sequence can have a bound, as in `string<=10` or `int32[<=10]`")
            );
        }
    };
    match word.text {
        "string" => Ok(BaseType::String { bound }),
        "wstring" => Ok(BaseType::WString { bound }),
        _ => message(token, package).map(BaseType::Message),
    }
}

fn message(token: Token<'_>, package: &str) -> Result<TypeName, Problem> {
    let parts: Vec<&str> = token.text.splitn(4, '/').collect();
    let (package, name) = match parts[..] {
        [name] => (package, name),
        [package, name] | [package, "msg", name] => (package, name),
        _ => {
            return Err(token.problem(format!(
                "`{}` is not a type; a message of another package is written `package/Name`",
                token.text
            )));
        }
    };
    if parts.len() == 1 && !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err(token.problem(unknown_word(name)));
    }
    check_package(package).and_then(|()| check_interface(name, Namespace::Msg)).map_err(|why| token.problem(why))?;
    Ok(TypeName::message(package, name))
}

/// The sentence for an unknown lower-case word as a type. Names of messages begin with a capital letter, so the author
/// probably meant a primitive type or a string.
fn unknown_word(word: &str) -> String {
    let known = Primitive::ALL.iter().map(|(name, _)| *name).chain(["string", "wstring"]);
    let suggestion = match word {
        "time" => Some("builtin_interfaces/Time"),
        "duration" => Some("builtin_interfaces/Duration"),
        "float" => Some("float32"),
        "double" => Some("float64"),
        "int" => Some("int32"),
        _ => nearest(word, known),
    };
    match suggestion {
        Some(suggestion) => format!("unknown type `{word}`; did you mean `{suggestion}`?"),
        None => format!("unknown type `{word}`; the name of a message begins with a capital letter"),
    }
}

fn positive(token: Token<'_>) -> Result<u32, Problem> {
    let digits_only = token.text.bytes().all(|byte| byte.is_ascii_digit());
    token.text.parse().ok().filter(|number| digits_only && *number > 0).ok_or_else(|| {
        token.problem(format!("`{}` cannot be a length or a bound, which is from 1 to {}", token.text, u32::MAX))
    })
}
