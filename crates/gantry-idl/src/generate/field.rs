//! What the code of a field is made of: its kind, its types, what its shape is, its default.

use super::base::{Base, Get, Write};
use super::message::Names;
use super::text;
use crate::model::{Count, Field};
use crate::value::Value;

/// Arrays of more numbers are on the heap in owned messages that are not all on the heap.
const LARGE_LENGTH: u32 = 4096;

/// Lists of no more elements have a `Default` in Rust.
const DEFAULT_LENGTH: u32 = 32;

/// How a field is built in place.
pub(super) enum Build {
    /// Its value is written: an expression.
    Value(String),
    /// It is laid out for a shape that is the same for all messages: an expression.
    Fixed(&'static str),
    /// It is laid out for a shape of that many elements without a shape of their own.
    Counted,
    /// It is laid out for what the message's shape says.
    Shape,
}

/// The field in the shape of a message that is there: expressions.
pub(super) struct ShapeOf {
    /// From the owned struct.
    pub owned: String,
    /// From the view.
    pub view: String,
}

/// What the code of a field is made of. Types are Rust code.
pub(super) struct FieldCode<'a> {
    /// The field's name in messages about it.
    pub name: &'a str,
    /// And as an identifier.
    pub identifier: String,
    /// Documentation lines.
    pub documentation: String,
    /// `kind::Slice<u8>`.
    pub kind: String,
    /// Its type in the owned struct.
    pub owned: String,
    /// What the getter returns.
    pub get: Get,
    /// How it is written.
    pub write: Write,
    /// How it is built.
    pub build: Build,
    /// Its type in the shape and its default there, if it is there.
    pub shape: Option<(String, String)>,
    /// How `Shape::from` can say it of a message that is there, if it can.
    pub shape_from: Option<ShapeOf>,
    /// Its default in the owned struct, if `Default::default()` is not that or does not exist.
    pub default: Option<String>,
    /// For a plain message: an expression that turns its bytes around.
    pub swap: String,
    /// In a view: an expression for where it is.
    pub place: String,
}

impl<'a> FieldCode<'a> {
    /// `offsets` are those of a field in a message of fixed size.
    pub(super) fn new(field: &'a Field, names: &Names<'_>, offsets: Option<[u32; 8]>) -> FieldCode<'a> {
        let identifier = text::identifier(&field.name);
        let base = Base::new(&field.field_type.base, names);
        let (count, default) = (field.field_type.count, field.default.as_ref());
        let (build, shape, shape_from) = build(&base, count, default, &identifier);
        let kind = base.kind(count);
        let place = match offsets {
            None => format!("self.layout.{identifier}"),
            Some(offsets) => {
                let start = format!("kind::place(self.layout.start_, &{offsets:?})");
                match count {
                    _ if base.is_flat() => start,
                    Count::One => format!("{}Layout {{ start_: {start} }}", base.element()),
                    _ => format!("<{kind}>::at({start})"),
                }
            }
        };
        // A message of fixed size is made of zeros on the heap; another one is moved there, and must not be large itself.
        let boxed = match (&base, count, default) {
            (Base::Number(number, _), Count::Array(length), None) if length > LARGE_LENGTH && offsets.is_none() => {
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
            place,
            documentation: text::documentation(&field.comment, &format!("`{}`", field.field_type)),
            kind,
            owned,
            get: base.get(count),
            write: base.write(count),
            build,
            shape,
            shape_from,
            default,
            swap: match (&base, count) {
                (Base::Number(..), Count::One) => {
                    format!("::gantry_cdr::Element::swap_bytes(::core::slice::from_mut(&mut self.{identifier}))")
                }
                (Base::Number(..), _) => format!("::gantry_cdr::Element::swap_bytes(&mut self.{identifier})"),
                (_, Count::One) => format!("::gantry_cdr::PlainBody::swap_bytes(&mut self.{identifier})"),
                _ => format!("self.{identifier}.iter_mut().all(::gantry_cdr::PlainBody::swap_bytes)"),
            },
            identifier,
        }
    }
}

/// How it is built, its type and default in the shape, and its value in `Shape::from`.
fn build(
    base: &Base,
    count: Count,
    default: Option<&Value>,
    identifier: &str,
) -> (Build, Option<(String, String)>, Option<ShapeOf>) {
    let field = format!("message.{identifier}");
    let length = || Some(ShapeOf { owned: format!("{field}.len()"), view: format!("{field}().len()") });
    match (base, count, base.shape()) {
        (Base::Number(number, zero), Count::One, _) => {
            let value = default.map_or_else(|| (*zero).to_owned(), text::literal);
            let value = if *number == "bool" { value } else { format!("{value}_{number}") };
            (Build::Value(value), None, None)
        }
        (Base::Plain { path, small: true }, Count::One, _) => {
            (Build::Value(format!("<{path} as ::core::default::Default>::default()")), None, None)
        }
        (Base::Plain { .. }, Count::One, _) | (_, Count::One, None) => (Build::Fixed("()"), None, None),
        (Base::Text { .. }, Count::One, Some((shape, zero))) => {
            let value = default.map_or(zero, text::literal);
            let of = ShapeOf { owned: format!("&{field}"), view: format!("{field}()") };
            (Build::Shape, Some((shape, value)), Some(of))
        }
        (Base::Message { shape_from, .. }, Count::One, Some(shape)) => {
            let of = ShapeOf { owned: format!("(&{field}).into()"), view: format!("{field}().into()") };
            (Build::Shape, Some(shape), shape_from.then_some(of))
        }
        (_, Count::Sequence { .. }, _) if base.is_flat() => {
            (Build::Shape, Some(("usize".to_owned(), "0".to_owned())), length())
        }
        (_, Count::Array(_), None) if base.is_flat() => (Build::Fixed("()"), None, None),
        (_, Count::Array(_), None) => (Build::Fixed("&[(); _]"), None, None),
        (_, Count::Sequence { .. }, None) => (Build::Counted, Some(("usize".to_owned(), "0".to_owned())), length()),
        (_, Count::Array(length), Some((shape, zero))) => {
            (Build::Shape, Some((format!("&'a [{shape}; {length}]"), format!("&[{zero}; {length}]"))), None)
        }
        (_, Count::Sequence { .. }, Some((shape, _))) => {
            (Build::Shape, Some((format!("&'a [{shape}]"), "&[]".to_owned())), None)
        }
    }
}

/// The owned default, where the type's own is another or none.
fn owned_default(base: &Base, count: Count, default: Option<&Value>) -> Option<String> {
    let owned_text = |value: &Value| format!("{}.into()", text::literal(value));
    match (default, count) {
        (Some(Value::List(values)), _) => {
            let texts = matches!(base, Base::Text { .. });
            let values: Vec<String> =
                values.iter().map(|value| if texts { owned_text(value) } else { text::literal(value) }).collect();
            let list = format!("[{}]", values.join(", "));
            Some(if matches!(count, Count::Array(_)) { list } else { format!("{list}.into()") })
        }
        (Some(value @ Value::Text(_)), _) => Some(owned_text(value)),
        (Some(value), _) => Some(text::literal(value)),
        (None, Count::Array(length)) if length > DEFAULT_LENGTH => Some(match base {
            Base::Number(_, zero) => format!("[{zero}; {length}]"),
            _ => "::core::array::from_fn(|_| ::core::default::Default::default())".to_owned(),
        }),
        (None, _) => None,
    }
}
