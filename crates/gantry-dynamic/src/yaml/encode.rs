//! Messages from YAML, in the form that `ros2 topic pub` and `ros2 service call` accept. Values are given by field
//! names; all other fields have their default values.

use super::{error::YamlError, scalar_input, tree::Node};
use crate::message_type::MessageType;
use gantry_idl::{BaseType, Count, Field, FieldType, Value};
use std::time::{Duration, SystemTime};

/// The largest length of a message that is made. Without this limit, a definition with nested arrays could use up the
/// memory.
const LIMIT_BYTES: usize = 1 << 26;

impl MessageType {
    /// Makes the body (little-endian CDR without an encapsulation header) of a message. `values` is a YAML mapping from
    /// field names to values. Fields that are not in the mapping have the default values of the definition. As in `ros2
    /// topic pub`, the value `auto` for a `std_msgs/Header` and `now` for a `builtin_interfaces/Time` mean the time of
    /// this call.
    ///
    /// # Errors
    /// The text is not a YAML mapping; the type has no such field; a value does not have the type of its field; or the
    /// message would have more than 64 MiB. The error contains the path of the field.
    pub fn encode_yaml(&self, values: &str) -> Result<Vec<u8>, YamlError> {
        // This check comes first, because writing the default values of huge nested arrays would take long.
        check_length(self.least_bytes())?;
        let values = Node::parse(values).map_err(YamlError::new)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut encoder = Encoder { types: self, body: Vec::new(), now };
        encoder.message(self.root_index(), Some(&values))?;
        Ok(encoder.body)
    }

    /// A lower bound for the length of a message of this type: without padding, and with empty texts and sequences.
    fn least_bytes(&self) -> usize {
        let mut least: Vec<usize> = Vec::new(); // the lower bound of each type, nested types first
        for index in 0..=self.root_index() {
            let of_field = |(field, nested): (&Field, usize)| {
                let one = match &field.field_type.base {
                    BaseType::Primitive(primitive) => primitive.size_bytes(),
                    BaseType::String { .. } => 5,
                    BaseType::WString { .. } => 4,
                    BaseType::Message(_) => least[nested],
                };
                match field.field_type.count {
                    Count::One => one,
                    Count::Array(length) => one.saturating_mul(length as usize),
                    Count::Sequence { .. } => 4,
                }
            };
            let bytes = self.structure(index).fields().map(of_field).fold(0, usize::saturating_add);
            least.push(bytes.max(1));
        }
        least.last().copied().unwrap_or_default()
    }
}

fn check_length(length_bytes: usize) -> Result<(), YamlError> {
    match length_bytes {
        0..=LIMIT_BYTES => Ok(()),
        _ => Err(YamlError::new(format!("the message has more than {LIMIT_BYTES} bytes"))),
    }
}

struct Encoder<'a> {
    types: &'a MessageType,
    body: Vec<u8>,
    now: Duration,
}

impl Encoder<'_> {
    /// Writes a message with the given values, or with the default values if there are none. The recursion is bounded,
    /// because the nesting of definitions is bounded.
    fn message(&mut self, index: usize, values: Option<&Node>) -> Result<(), YamlError> {
        let types = self.types;
        let structure = types.structure(index);
        let name = &structure.definition.name;
        let time;
        let entries: &[(String, Node)] = match values {
            None => &[],
            Some(values) if values.is_null() => &[],
            Some(Node::Mapping(entries)) => entries,
            Some(Node::Text { text, .. }) if text == "now" && name.to_string() == "builtin_interfaces/msg/Time" => {
                time = [
                    ("sec".to_owned(), number(self.now.as_secs().into())),
                    ("nanosec".to_owned(), number(self.now.subsec_nanos().into())),
                ];
                &time
            }
            Some(Node::Text { text, .. }) if text == "auto" && name.to_string() == "std_msgs/msg/Header" => {
                time = [("stamp".to_owned(), plain("now")), ("frame_id".to_owned(), plain(""))];
                &time
            }
            Some(other) => {
                let sentence = format!(
                    "{} is not a valid {name}; give the fields of the message by name, as {{field: value}}",
                    other.kind()
                );
                return Err(YamlError::new(sentence));
            }
        };
        let fields = &structure.definition.fields;
        if let Some((unknown, _)) = entries.iter().find(|(key, _)| fields.iter().all(|field| field.name != *key)) {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            let known = if known.is_empty() { "no fields".to_owned() } else { known.join(", ") };
            return Err(YamlError::new(format!("{name} has no field `{unknown}`; it has {known}")));
        }
        if fields.is_empty() {
            self.body.push(0);
        }
        for (field, nested) in structure.fields() {
            let given = entries.iter().find(|(key, _)| *key == field.name).map(|(_, value)| value);
            let default = field.default.as_ref().map(node_of);
            let value = given.filter(|value| !value.is_null() || is_text(&field.field_type)).or(default.as_ref());
            self.field(&field.field_type, nested, value).map_err(|error| error.inside(&field.name))?;
        }
        Ok(())
    }

    fn field(&mut self, field_type: &FieldType, nested: usize, value: Option<&Node>) -> Result<(), YamlError> {
        let items = match (field_type.count, value) {
            (Count::One, value) => return self.element(&field_type.base, nested, value),
            (_, Some(Node::List(items))) => Some(items.as_slice()),
            (_, None) => None,
            (_, Some(other)) => {
                return Err(YamlError::new(format!("{} is not a list; the field is {field_type}", other.kind())));
            }
        };
        let given = items.map_or(0, <[Node]>::len);
        let count = match (field_type.count, items) {
            (Count::Array(length), Some(_)) if given != length as usize => {
                let sentence = format!("the list has {given} elements; the field is {field_type}");
                return Err(YamlError::new(sentence));
            }
            (Count::Array(length), _) => length as usize,
            (Count::Sequence { bound: Some(bound) }, _) if given > bound as usize => {
                let sentence = format!("the list has {given} elements; the field is {field_type}");
                return Err(YamlError::new(sentence));
            }
            _ => {
                self.number(given as u64, 4);
                given
            }
        };
        if let (None, BaseType::Primitive(primitive)) = (items, &field_type.base) {
            let size_bytes = primitive.size_bytes();
            let start = self.body.len().next_multiple_of(if count == 0 { 1 } else { size_bytes });
            let end = start.saturating_add(count.saturating_mul(size_bytes));
            check_length(end)?;
            self.body.resize(end, 0);
            return Ok(());
        }
        for index in 0..count {
            let item = items.and_then(|items| items.get(index));
            let encoded = self.element(&field_type.base, nested, item);
            encoded.map_err(|error| error.inside(&format!("[{index}]")))?;
        }
        Ok(())
    }

    fn element(&mut self, base: &BaseType, nested: usize, value: Option<&Node>) -> Result<(), YamlError> {
        check_length(self.body.len())?;
        let is_too_long = |length: usize, bound: Option<u32>| bound.is_some_and(|bound| length > bound as usize);
        match base {
            BaseType::Message(_) => return self.message(nested, value),
            BaseType::Primitive(primitive) => {
                let bits = match value {
                    Some(Node::Text { text, plain }) => scalar_input::bits(*primitive, text, *plain)?,
                    Some(other) => return Err(YamlError::new(format!("{} is not a valid {primitive}", other.kind()))),
                    None => 0,
                };
                self.number(bits, primitive.size_bytes());
            }
            BaseType::String { bound } => {
                let text = text_of(value, base)?;
                if is_too_long(text.len(), *bound) {
                    return Err(YamlError::new(format!("the text has {} bytes; the field is {base}", text.len())));
                }
                self.number(text.len() as u64 + 1, 4);
                self.body.extend_from_slice(text.as_bytes());
                self.body.push(0);
            }
            BaseType::WString { bound } => {
                let units: Vec<u16> = text_of(value, base)?.encode_utf16().collect();
                if is_too_long(units.len(), *bound) {
                    return Err(YamlError::new(format!("the text has {} units; the field is {base}", units.len())));
                }
                self.number(units.len() as u64, 4);
                units.into_iter().for_each(|unit| self.number(unit.into(), 4));
            }
        }
        Ok(())
    }

    /// Writes the lowest `size_bytes` bytes of `bits` at an aligned offset.
    fn number(&mut self, bits: u64, size_bytes: usize) {
        self.body.resize(self.body.len().next_multiple_of(size_bytes), 0);
        self.body.extend_from_slice(&bits.to_le_bytes()[..size_bytes]);
    }
}

/// The text for a `string` or `wstring`. A text with a 0 is refused, because C strings cannot contain it.
fn text_of<'v>(value: Option<&'v Node>, base: &BaseType) -> Result<&'v str, YamlError> {
    match value {
        Some(Node::Text { text, .. }) if text.contains('\0') => {
            Err(YamlError::new("the text contains the character 0 (NUL), which a string of ROS 2 cannot contain"))
        }
        Some(Node::Text { text, .. }) => Ok(text),
        Some(other) => Err(YamlError::new(format!("{} is not a valid {base}", other.kind()))),
        None => Ok(""),
    }
}

/// Whether every text, even `null`, is a valid value of the field.
fn is_text(field_type: &FieldType) -> bool {
    field_type.count == Count::One && matches!(field_type.base, BaseType::String { .. } | BaseType::WString { .. })
}

fn plain(text: &str) -> Node {
    Node::Text { text: text.to_owned(), plain: true }
}

fn number(number: u128) -> Node {
    plain(&number.to_string())
}

/// Converts a default value of the definition to the same form as a value of the caller.
fn node_of(default: &Value) -> Node {
    match default {
        Value::Bool(value) => plain(&value.to_string()),
        Value::Integer(value) => plain(&value.to_string()),
        Value::Float(value) => plain(&format!("{value:?}")),
        Value::Text(text) => Node::Text { text: text.clone(), plain: false },
        Value::List(values) => Node::List(values.iter().map(node_of).collect()),
    }
}
