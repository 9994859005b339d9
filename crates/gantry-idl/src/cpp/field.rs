//! The parts of the generated C++ code for a field.

use super::text;
use crate::{
    definitions::Definitions,
    model::{BaseType, Count, Field, Primitive},
    value::Value,
};

/// Must equal `gantry::cdr::max_default_bytes` in the C++ headers.
const MAX_DEFAULT_BYTES: usize = 4096;
/// The name of the nested struct that describes a message as a field of another one, if the message is plain only at
/// the start of a body. It differs from all field names, because no field's name ends with an underscore.
pub(super) const IN_PLACE: &str = "InPlace_";

/// The parts of the code for a field in a message that is not plain.
pub(super) struct FieldCode<'a> {
    /// The name of the field in error messages.
    pub name: &'a str,
    /// The name of the field in C++.
    pub identifier: String,
    /// The comment of the field.
    pub comment: &'a str,
    /// The C++ type of the field's kind, such as `::gantry::cdr::sequence<::std::uint8_t>`.
    pub kind: String,
    /// Whether the field is one number.
    pub is_number: bool,
    /// The default value of the field in the shape, as an initializer in braces; `None` if the field is not in the
    /// shape.
    pub shape: Option<String>,
    /// The default value of a number, or the default values of the first elements of an array or sequence of numbers.
    pub default: Option<String>,
}

impl<'a> FieldCode<'a> {
    pub(super) fn new(field: &'a Field, definitions: &Definitions) -> FieldCode<'a> {
        let (base, count) = (&field.field_type.base, field.field_type.count);
        let has_shape = match base {
            BaseType::Primitive(_) => false,
            BaseType::String { .. } | BaseType::WString { .. } => true,
            BaseType::Message(name) => !definitions.is_fixed_size(name),
        };
        let shape = match count {
            Count::One | Count::Array(_) => has_shape.then(|| shape_default(field, has_shape)),
            Count::Sequence { .. } => Some(shape_default(field, has_shape)),
        };
        FieldCode {
            name: &field.name,
            identifier: text::identifier(&field.name),
            comment: &field.comment,
            kind: kind(base, count, definitions),
            is_number: matches!((base, count), (BaseType::Primitive(_), Count::One)),
            shape,
            default: match base {
                BaseType::Primitive(primitive) => number_default(*primitive, field.default.as_ref()),
                _ => None,
            },
        }
    }
}

fn kind(base: &BaseType, count: Count, definitions: &Definitions) -> String {
    let bound_of_text = |bound: Option<u32>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    let element = match base {
        BaseType::Primitive(primitive) => text::primitive(*primitive).to_owned(),
        BaseType::String { bound } => format!("::gantry::cdr::text<{}>", bound_of_text(*bound)),
        BaseType::WString { bound } => format!("::gantry::cdr::wide_text<{}>", bound_of_text(*bound)),
        BaseType::Message(name) if definitions.is_plain_body(name) && !definitions.is_plain(name) => {
            format!("{}::{IN_PLACE}", text::path(name))
        }
        BaseType::Message(name) => text::path(name),
    };
    let is_flat = is_flat(base, definitions);
    let one = match base {
        BaseType::Primitive(_) => format!("::gantry::cdr::number<{element}>"),
        BaseType::Message(_) if is_flat => format!("::gantry::cdr::plain<{element}>"),
        _ => element.clone(),
    };
    let (sequence, array) = if is_flat { ("sequence", "array") } else { ("list", "fixed_list") };
    match count {
        Count::One => one,
        Count::Array(length) => format!("::gantry::cdr::{array}<{element}, {length}>"),
        Count::Sequence { bound: None } => format!("::gantry::cdr::{sequence}<{element}>"),
        Count::Sequence { bound: Some(bound) } => format!("::gantry::cdr::{sequence}<{element}, {bound}>"),
    }
}

/// Whether an array of this type is a contiguous C++ array.
fn is_flat(base: &BaseType, definitions: &Definitions) -> bool {
    match base {
        BaseType::Primitive(_) => true,
        BaseType::String { .. } | BaseType::WString { .. } => false,
        BaseType::Message(name) => definitions.is_plain(name),
    }
}

/// The default value of a field in the shape of its message. `has_shape` states whether an element of the field has a
/// shape.
fn shape_default(field: &Field, has_shape: bool) -> String {
    let is_wide = matches!(field.field_type.base, BaseType::WString { .. });
    let text_type = if is_wide { "::std::u16string" } else { "::std::string_view" };
    match (&field.default, field.field_type.count) {
        (Some(Value::Text(value)), _) => format!("{{{}}}", text::text(value, is_wide)),
        (Some(Value::List(values)), count) if has_shape => {
            let texts = values.iter().map(|value| match value {
                Value::Text(value) => format!("{text_type}{{{}}}", text::text(value, is_wide)),
                _ => format!("{text_type}{{}}"),
            });
            let texts = texts.collect::<Vec<_>>().join(", ");
            if matches!(count, Count::Array(_)) { format!("{{{{{texts}}}}}") } else { format!("{{{texts}}}") }
        }
        (Some(Value::List(values)), _) => format!("{{{}}}", values.len()),
        _ => "{}".to_owned(),
    }
}

fn number_default(primitive: Primitive, default: Option<&Value>) -> Option<String> {
    match default? {
        Value::List(values) if values.is_empty() => None,
        Value::List(values) => {
            Some(values.iter().map(|value| text::number(primitive, value)).collect::<Vec<_>>().join(", "))
        }
        value => Some(text::number(primitive, value)),
    }
}

/// The parts of the code for a field in a plain message.
pub(super) struct PlainField<'a> {
    /// The name of the field in C++.
    pub identifier: String,
    /// The comment of the field.
    pub comment: &'a str,
    /// The C++ type of the struct member.
    pub member: String,
    /// The initializer of the struct member, in braces.
    pub initializer: String,
    /// The statement that sets the default value in place. It is empty for a large array, which keeps the old bytes of
    /// the memory.
    pub set_default: String,
}

impl<'a> PlainField<'a> {
    pub(super) fn new(field: &'a Field, definitions: &Definitions) -> PlainField<'a> {
        let identifier = text::identifier(&field.name);
        let (element, element_bytes) = match &field.field_type.base {
            BaseType::Primitive(primitive) => (text::primitive(*primitive).to_owned(), Some(primitive.size_bytes())),
            BaseType::Message(name) => (text::path(name), definitions.max_size_bytes(name)),
            BaseType::String { .. } | BaseType::WString { .. } => (String::new(), None), // a plain message has no texts
        };
        let default = match &field.field_type.base {
            BaseType::Primitive(primitive) => number_default(*primitive, field.default.as_ref()).unwrap_or_default(),
            _ => String::new(),
        };
        let count = match field.field_type.count {
            Count::Array(length) => Some(length),
            Count::One | Count::Sequence { .. } => None,
        };
        let is_large = count.is_some_and(|count| {
            element_bytes.is_none_or(|bytes| bytes.saturating_mul(count as usize) > MAX_DEFAULT_BYTES)
        });
        let member = count.map_or_else(|| element.clone(), |count| format!("::std::array<{element}, {count}>"));
        let initializer = if count.is_some() && !default.is_empty() {
            format!("{{{{{default}}}}}")
        } else {
            format!("{{{default}}}")
        };
        let is_message = matches!(field.field_type.base, BaseType::Message(_));
        let set_default = match (is_large, is_message, count) {
            (true, ..) => String::new(),
            (_, true, None) => format!("message<{element}>::set_defaults(target.{identifier});"),
            (_, true, Some(_)) => {
                format!("for (auto &each : target.{identifier}) message<{element}>::set_defaults(each);")
            }
            (_, false, _) => format!("target.{identifier} = {member}{initializer};"),
        };
        PlainField { identifier, comment: &field.comment, member, initializer, set_default }
    }
}
