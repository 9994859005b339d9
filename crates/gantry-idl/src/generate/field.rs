//! The parts of a field's generated Rust code: its kind, types, shape and default value.

use super::{
    base::{BaseCode, GetterType, Setter},
    scope::Scope,
    text,
};
use crate::{
    model::{BaseType, Count, Field},
    value::Value,
};

/// The largest number of elements of an array that is not boxed. It applies to owned messages that may be moved over
/// the stack.
const LARGE_LENGTH: u32 = 4096;

/// Must equal `gantry_cdr::MAX_DEFAULT_BYTES`. In a message that is built in place, larger arrays keep the old bytes of
/// the memory.
pub(super) const MAX_DEFAULT_BYTES: usize = 4096;

/// The largest number of elements for which Rust arrays have a `Default`.
const DEFAULT_LENGTH: u32 = 32;

/// The way in which the generated code builds a field in place.
pub(super) enum Initializer {
    /// The code writes a value; this is the expression for the value.
    Value(String),
    /// The code lays out the field with a constant shape; this is the expression for the shape.
    Fixed(&'static str),
    /// The code lays out the field with its number of elements. The elements have no shapes.
    Counted,
    /// The code lays out the field with its part of the message's shape.
    Shape,
    /// The code lays out an array or a sequence; these are the expressions for its shape and for the default values of
    /// its first elements.
    Elements(String, String),
}

/// The expressions that take a field's part of the shape from an existing message.
pub(super) struct ShapeExpressions {
    /// The expression if the message is an owned message.
    pub owned: String,
    /// The expression if the message is a view.
    pub view: String,
}

/// A field's part of its message's shape.
pub(super) struct ShapeField {
    /// The type of this part. If the part is a type parameter, the default of the parameter. Lifetimes in it are `'a`.
    pub rust_type: String,
    /// The default value of this part.
    pub default: String,
    /// Whether the type of this part is a type parameter. This is so if the field is a list, whose part has a shape for
    /// each element.
    pub is_parameter: bool,
}

/// The parts of the generated code for a field. Each is a piece of Rust code.
pub(super) struct FieldCode<'a> {
    /// The name of the field in error messages.
    pub name: &'a str,
    /// The name of the field as a Rust identifier.
    pub identifier: String,
    /// The documentation lines of the field.
    pub documentation: String,
    /// The kind of the field, such as `kind::Slice<u8>`.
    pub kind: String,
    /// The type of the field in the owned struct.
    pub owned: String,
    /// The return type of the getter.
    pub get: GetterType,
    /// The method that writes the field in place.
    pub setter: Setter,
    /// The way in which the field is built in place.
    pub initializer: Initializer,
    /// The field's part of the shape, if the shape has one.
    pub shape: Option<ShapeField>,
    /// The expressions in `Shape::from`. `None` if a shape cannot be made from an existing message without an
    /// allocation.
    pub shape_from: Option<ShapeExpressions>,
    /// The default value in the owned struct; `None` if the `Default` of the Rust type is used.
    pub default: Option<String>,
    /// An expression that reverses the byte order of the field, for plain messages.
    pub swap: String,
    /// The statement that sets the field to its default value in place, for plain messages. It is empty for large
    /// arrays.
    pub set_default: String,
    /// The expression for the layout of the field in a view.
    pub layout: String,
}

impl<'a> FieldCode<'a> {
    /// Makes the code of `field`. If the message is of fixed size, `offsets` are the offsets of the field; otherwise
    /// `None`.
    pub(super) fn new(field: &'a Field, scope: &Scope<'_>, offsets: Option<[u32; 8]>) -> FieldCode<'a> {
        let identifier = text::identifier(&field.name);
        let base = BaseCode::new(&field.field_type.base, scope);
        let (count, default) = (field.field_type.count, field.default.as_ref());
        let (initializer, shape, shape_from) = initializer(&base, count, default, &identifier);
        let set_default = set_default(field, &base, &identifier, scope);
        let kind = base.kind(count);
        let layout = match offsets {
            None => format!("self.layout.{identifier}"),
            Some(offsets) => {
                let start = format!("kind::field_offset(self.memory.as_ref(), self.layout.start_, &{offsets:?})");
                match count {
                    _ if base.is_flat() => start,
                    Count::One => format!("{}Layout {{ start_: {start} }}", base.element()),
                    _ => format!("<{kind}>::at({start})"),
                }
            }
        };
        // A message of fixed size is created on the heap as zeros. Any other message is created on the stack and then
        // moved, so it must not contain a large array.
        let boxed = match (&base, count, default) {
            (BaseCode::Number(number, _), Count::Array(length), None) if length > LARGE_LENGTH && offsets.is_none() => {
                Some((
                    format!("kind::BoxedArray<{number}, {length}>"),
                    format!("::gantry_cdr::alloc::boxed::Box<[{number}; {length}]>"),
                    "::gantry_cdr::zeroed_box()".to_owned(),
                ))
            }
            _ => None,
        };
        let (kind, owned, default) = match boxed {
            Some((kind, owned, default)) => (kind, owned, Some(default)),
            None => (kind, base.owned_of(count), owned_default(&base, count, default)),
        };
        FieldCode {
            name: &field.name,
            layout,
            documentation: text::documentation(&field.comment, &format!("`{}`", field.field_type)),
            kind,
            owned,
            get: base.get(count),
            setter: base.setter(count),
            initializer,
            shape,
            shape_from,
            default,
            set_default,
            swap: match (&base, count) {
                (BaseCode::Number(..), Count::One) => {
                    format!("::gantry_cdr::Element::swap_bytes(::core::slice::from_mut(&mut self.{identifier}))")
                }
                (BaseCode::Number(..), _) => format!("::gantry_cdr::Element::swap_bytes(&mut self.{identifier})"),
                (_, Count::One) => format!("::gantry_cdr::PlainBody::swap_bytes(&mut self.{identifier})"),
                _ => format!("self.{identifier}.iter_mut().all(::gantry_cdr::PlainBody::swap_bytes)"),
            },
            identifier,
        }
    }
}

/// The way in which a field is built, the field's part of the shape, and the expressions in `Shape::from`.
fn initializer(
    base: &BaseCode,
    count: Count,
    default: Option<&Value>,
    identifier: &str,
) -> (Initializer, Option<ShapeField>, Option<ShapeExpressions>) {
    let field = format!("message.{identifier}");
    let defaults = match default {
        Some(Value::List(values)) => values.as_slice(),
        _ => &[],
    };
    let part = |rust_type: String, default: String, is_parameter| Some(ShapeField { rust_type, default, is_parameter });
    let count_of = |default: usize| part("usize".to_owned(), default.to_string(), false);
    let length = || Some(ShapeExpressions { owned: format!("{field}.len()"), view: format!("{field}().len()") });
    match (base, count, base.shape()) {
        (BaseCode::Number(number, zero), Count::One, _) => {
            let value = default.map_or_else(|| (*zero).to_owned(), text::literal);
            let value = match default {
                _ if *number == "bool" => value,
                Some(Value::Float(float)) if !float.is_finite() => {
                    format!("{{ const DEFAULT: {number} = {value}; DEFAULT }}")
                }
                _ => format!("{value}_{number}"),
            };
            (Initializer::Value(value), None, None)
        }
        (BaseCode::Plain { .. }, Count::One, _) | (_, Count::One, None) => (Initializer::Fixed("()"), None, None),
        (BaseCode::Text { .. }, Count::One, Some((shape, zero))) => {
            let value = default.map_or(zero, text::literal);
            let of = ShapeExpressions { owned: format!("&{field}"), view: format!("{field}()") };
            (Initializer::Shape, part(shape, value, false), Some(of))
        }
        (BaseCode::Message { is_generic, .. }, Count::One, Some((shape, zero))) => {
            let of = ShapeExpressions { owned: format!("(&{field}).into()"), view: format!("{field}().into()") };
            (Initializer::Shape, part(shape, zero, *is_generic), (!is_generic).then_some(of))
        }
        (BaseCode::Number(number, _), Count::Sequence { .. }, _) if !defaults.is_empty() => {
            let elements = Initializer::Elements(format!("self.{identifier}"), typed_list(number, defaults));
            (elements, count_of(defaults.len()), length())
        }
        (BaseCode::Number(number, _), Count::Array(_), _) if !defaults.is_empty() => {
            (Initializer::Elements("()".to_owned(), typed_list(number, defaults)), None, None)
        }
        (_, Count::Sequence { .. }, _) if base.is_flat() => (Initializer::Shape, count_of(0), length()),
        (_, Count::Array(_), None) if base.is_flat() => (Initializer::Fixed("()"), None, None),
        (_, Count::Array(_), None) => (Initializer::Fixed("[(); _]"), None, None),
        (_, Count::Sequence { .. }, None) => (Initializer::Counted, count_of(0), length()),
        (_, Count::Array(length), Some((shape, zero))) => {
            let value = default.map_or_else(|| format!("[{zero}; {length}]"), text::literal);
            (Initializer::Shape, part(format!("&'a [{shape}; {length}]"), format!("&{value}"), true), None)
        }
        (_, Count::Sequence { .. }, Some((shape, _))) => {
            let value = default.map_or_else(|| "[]".to_owned(), text::literal);
            (Initializer::Shape, part(format!("&'a [{shape}]"), format!("&{value}"), true), None)
        }
    }
}

/// An expression for a slice of numbers with an explicit element type.
fn typed_list(number: &str, values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(text::literal).collect();
    format!("{{ const DEFAULTS: &[{number}] = &[{}]; DEFAULTS }}", values.join(", "))
}

/// The statement that sets a field of a plain message to its default value in place.
fn set_default(field: &Field, base: &BaseCode, identifier: &str, scope: &Scope<'_>) -> String {
    let bytes = match &field.field_type.base {
        BaseType::Primitive(primitive) => Some(primitive.size_bytes()),
        BaseType::Message(name) => scope.definitions.max_size_bytes(name),
        BaseType::String { .. } | BaseType::WString { .. } => None,
    };
    let is_large = |length: u32| bytes.is_none_or(|bytes| bytes.saturating_mul(length as usize) > MAX_DEFAULT_BYTES);
    let nested = "::gantry_cdr::PlainBody::set_defaults";
    match (base, field.field_type.count, &field.default) {
        (_, Count::Array(length), _) if is_large(length) => String::new(),
        (BaseCode::Number(..), _, Some(value)) => format!("self.{identifier} = {};", text::literal(value)),
        (BaseCode::Number(_, zero), Count::Array(length), None) => format!("self.{identifier} = [{zero}; {length}];"),
        (BaseCode::Number(_, zero), ..) => format!("self.{identifier} = {zero};"),
        (_, Count::Array(_), _) => format!("self.{identifier}.iter_mut().for_each({nested});"),
        _ => format!("{nested}(&mut self.{identifier});"),
    }
}

/// The default value in the owned struct, if the Rust type has no `Default` or its `Default` is another value.
fn owned_default(base: &BaseCode, count: Count, default: Option<&Value>) -> Option<String> {
    let owned_text = |value: &Value| format!("{}.into()", text::literal(value));
    match (default, count) {
        (Some(Value::List(values)), _) => {
            let texts = matches!(base, BaseCode::Text { .. });
            let values: Vec<String> =
                values.iter().map(|value| if texts { owned_text(value) } else { text::literal(value) }).collect();
            let list = format!("[{}]", values.join(", "));
            Some(if matches!(count, Count::Array(_)) { list } else { format!("{list}.into()") })
        }
        (Some(value @ Value::Text(_)), _) => Some(owned_text(value)),
        (Some(value), _) => Some(text::literal(value)),
        (None, Count::Array(length)) if length > DEFAULT_LENGTH => Some(match base {
            BaseCode::Number(_, zero) => format!("[{zero}; {length}]"),
            _ => "::core::array::from_fn(|_| ::core::default::Default::default())".to_owned(),
        }),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_default_is_that_of_the_library_that_runs_the_code() {
        assert_eq!(super::MAX_DEFAULT_BYTES, gantry_cdr::MAX_DEFAULT_BYTES);
    }
}
