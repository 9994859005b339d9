//! A field of a message that a filter reads. Its path is resolved once, when the filter is compiled.

use crate::{message::DynamicMessage, message_type::MessageType, value::Value};
use gantry_idl::{BaseType, Count, Field as Definition, Primitive};

/// The largest number of field names that an error lists.
const LISTED_FIELDS: usize = 12;

/// A field that is a number, a boolean or a text.
#[derive(Clone, Debug)]
pub(super) struct Field {
    steps: Box<[Step]>,
    pub(super) kind: FieldKind,
    /// The path as the expression has it.
    pub(super) path: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Primitive(Primitive),
    /// A `string` or a `wstring`.
    Text,
}

/// A step from a message to one of its fields, or to an element of that field.
#[derive(Clone, Copy, Debug)]
struct Step {
    field: usize,
    element: Option<usize>,
}

impl Field {
    /// # Errors
    /// A sentence with the reason: there is no such field, or the field is a list or a message, which cannot be
    /// compared.
    pub(super) fn new(message_type: &MessageType, path: &str) -> Result<Self, String> {
        let (mut steps, mut structure) = (Vec::new(), message_type.structure(message_type.root_index()));
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let (name, index) = split_index(part)?;
            let position = structure.definition.fields.iter().position(|field| field.name == name);
            let found = position.and_then(|position| Some((position, structure.field(position)?)));
            let Some((position, (field, nested))) = found else {
                return Err(unknown(&structure.definition.name.to_string(), name, &structure.definition.fields));
            };
            steps.push(Step { field: position, element: element(field, index)? });
            let kind = match &field.field_type.base {
                BaseType::Message(_) if parts.peek().is_some() => {
                    structure = message_type.structure(nested);
                    continue;
                }
                BaseType::Message(_) => {
                    let fields = list(&message_type.structure(nested).definition.fields);
                    return Err(format!(
                        "`{path}` is a {}, and a filter compares numbers, booleans and texts; name one of its fields: {fields}",
                        field.field_type.base
                    ));
                }
                BaseType::Primitive(primitive) => FieldKind::Primitive(*primitive),
                BaseType::String { .. } | BaseType::WString { .. } => FieldKind::Text,
            };
            return match parts.peek() {
                None => Ok(Self { steps: steps.into(), kind, path: path.into() }),
                Some(next) => Err(format!("`{name}` is one {}, so it has no field `{next}`", field.field_type.base)),
            };
        }
        Err(format!("`{path}` is not the path of a field"))
    }

    /// The value of the field in a message; `None` if the message does not have the needed list element. All earlier
    /// fields are skipped one by one.
    pub(super) fn value<'a>(&self, message: &DynamicMessage<'a>) -> Option<Value<'a>> {
        let (last, before) = self.steps.split_last()?;
        let mut message = *message;
        for step in before {
            let Value::Message(inner) = step.value(&message)? else { return None };
            message = inner;
        }
        last.value(&message)
    }

    /// The type of the field in words for an error, such as "an int32".
    pub(super) fn kind_in_words(&self) -> String {
        match self.kind {
            FieldKind::Text => "a text".to_owned(),
            FieldKind::Primitive(Primitive::Bool) => "a boolean".to_owned(),
            FieldKind::Primitive(primitive) => {
                let name = primitive.name();
                format!("{} {name}", if name.starts_with('i') { "an" } else { "a" })
            }
        }
    }
}

impl Step {
    fn value<'a>(&self, message: &DynamicMessage<'a>) -> Option<Value<'a>> {
        let (_, value) = message.fields().nth(self.field)?;
        match self.element {
            None => Some(value),
            Some(index) => value.as_list()?.get(index),
        }
    }
}

/// Splits a part of a path such as `ranges[3]` into its name and its index.
fn split_index(part: &str) -> Result<(&str, Option<usize>), String> {
    let Some((name, rest)) = part.split_once('[') else { return Ok((part, None)) };
    let index = rest.strip_suffix(']').and_then(|index| index.parse().ok());
    index.map(|index| (name, Some(index))).ok_or_else(|| format!("`{part}` has no index as in `{name}[0]`"))
}

/// Checks the index of a step against the type of its field, and returns it.
fn element(field: &Definition, index: Option<usize>) -> Result<Option<usize>, String> {
    let Definition { name, field_type, .. } = field;
    let most = match field_type.count {
        Count::One => None,
        Count::Array(count) | Count::Sequence { bound: Some(count) } => Some(count as usize),
        Count::Sequence { bound: None } => Some(usize::MAX),
    };
    match (most, index) {
        (None, None) => Ok(None),
        (Some(most), Some(index)) if index < most => Ok(Some(index)),
        (None, Some(_)) => Err(format!("`{name}` is one {field_type}, so it has no index")),
        (Some(_), None) => Err(format!("`{name}` is a {field_type}; name an element, as `{name}[0]`")),
        (Some(most), Some(index)) => Err(format!(
            "`{name}` is a {}, so `{name}[{}]` is its last possible element, and `{name}[{index}]` does not exist",
            field_type,
            most - 1
        )),
    }
}

fn unknown(message: &str, name: &str, fields: &[Definition]) -> String {
    match fields {
        [] => format!("{message} has no field `{name}`, and no other one"),
        fields => format!("{message} has no field `{name}`; its fields are {}", list(fields)),
    }
}

/// The names of the first fields, for an error.
fn list(fields: &[Definition]) -> String {
    let names: Vec<&str> = fields.iter().take(LISTED_FIELDS).map(|field| field.name.as_str()).collect();
    let more = if fields.len() > LISTED_FIELDS { ", …" } else { "" };
    names.join(", ") + more
}
