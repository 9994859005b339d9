//! ROS 2's type hashes, RIHS01 (REP 2016). A hash is the SHA-256 of a JSON text that describes the type and all types
//! nested in it.
//!
//! The text has the format of Python's `json.dumps` with its default separators. It contains only names and numbers: no
//! default values, constants or comments, and nothing that needs an escape. The numbers of types are from
//! `type_description_interfaces/msg/FieldType`.

use crate::{
    definitions::Definitions,
    model::{BaseType, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive, ServiceDefinition},
    name::TypeName,
};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, fmt::Write};

const NESTED_TYPE: u8 = 1;
const ARRAY_OFFSET: u8 = 48;
const BOUNDED_SEQUENCE_OFFSET: u8 = 96;
const SEQUENCE_OFFSET: u8 = 144;

impl Definitions {
    /// ROS 2's hash of a message (RIHS01); `None` if there is no such message.
    pub fn hash(&self, name: &TypeName) -> Option<[u8; 32]> {
        let message = self.messages.get(name)?;
        let needed = self.needed_by(&[message]).into_iter().map(|nested| (nested.name.clone(), individual(nested)));
        Some(digest(&individual(message), &needed.collect()))
    }

    /// ROS 2's hash of a service (RIHS01). `request` and `response` are their definitions in the format of
    /// [`Definitions::definition_text`]. Returns `None` if a text cannot be read.
    pub fn service_hash_of_texts(name: &TypeName, request: &str, response: &str) -> Option<[u8; 32]> {
        let part = |suffix: &str, text: &str| {
            let part = TypeName { name: format!("{}_{suffix}", name.name), ..name.clone() };
            let definitions = Definitions::from_text(&part, text).ok()?;
            Some((definitions.messages.get(&part)?.clone(), definitions.messages))
        };
        let ((request, mut messages), (response, of_response)) =
            (part("Request", request)?, part("Response", response)?);
        messages.extend(of_response);
        let service = ServiceDefinition { name: name.clone(), request, response, comment: String::new() };
        let services = [(name.clone(), service)].into();
        Definitions { messages, services }.service_hash(name)
    }

    /// ROS 2's hash of a service (RIHS01); `None` if there is no such service.
    pub fn service_hash(&self, name: &TypeName) -> Option<[u8; 32]> {
        let service = self.services.get(name)?;
        let own = [&service.request, &service.response];
        let needed = self.needed_by(&own);
        let event = event(service);
        let messages = own.into_iter().chain(needed).chain([&event]);
        let mut needed: BTreeMap<TypeName, String> =
            messages.map(|message| (message.name.clone(), individual(message))).collect();
        for nested in event_info() {
            needed.entry(nested.name.clone()).or_insert_with(|| individual(&nested));
        }
        let part = |field: &str, message: &MessageDefinition| nested_field(field, &message.name, Count::One);
        let fields = vec![
            part("request_message", &service.request),
            part("response_message", &service.response),
            part("event_message", &event),
        ];
        Some(digest(&individual(&message(service.name.clone(), fields)), &needed))
    }
}

/// The message that ROS 2's service introspection publishes.
fn event(service: &ServiceDefinition) -> MessageDefinition {
    let name = TypeName { name: format!("{}_Event", service.name.name), ..service.name.clone() };
    let at_most_one = Count::Sequence { bound: Some(1) };
    let fields = vec![
        nested_field("info", &TypeName::message("service_msgs", "ServiceEventInfo"), Count::One),
        nested_field("request", &service.request.name, at_most_one),
        nested_field("response", &service.response.name, at_most_one),
    ];
    message(name, fields)
}

/// `service_msgs/msg/ServiceEventInfo` and the message nested in it. They are part of every service's hash, so they are
/// built in here: their packages may not have been read.
fn event_info() -> [MessageDefinition; 2] {
    let number = |name: &str, primitive, count| field(name, BaseType::Primitive(primitive), count);
    let time = TypeName::message("builtin_interfaces", "Time");
    let info_fields = vec![
        number("event_type", Primitive::Uint8, Count::One),
        nested_field("stamp", &time, Count::One),
        number("client_gid", Primitive::Char, Count::Array(16)),
        number("sequence_number", Primitive::Int64, Count::One),
    ];
    let time_fields =
        vec![number("sec", Primitive::Int32, Count::One), number("nanosec", Primitive::Uint32, Count::One)];
    [message(TypeName::message("service_msgs", "ServiceEventInfo"), info_fields), message(time, time_fields)]
}

fn message(name: TypeName, fields: Vec<Field>) -> MessageDefinition {
    MessageDefinition { name, fields, constants: Vec::new(), comment: String::new() }
}

fn nested_field(name: &str, target: &TypeName, count: Count) -> Field {
    field(name, BaseType::Message(target.clone()), count)
}

fn field(name: &str, base: BaseType, count: Count) -> Field {
    Field { name: name.to_owned(), field_type: FieldType { base, count }, default: None, comment: String::new() }
}

fn digest(own: &str, needed: &BTreeMap<TypeName, String>) -> [u8; 32] {
    // The map has the order of full names that the hash requires. This is true because the slash sorts before all other
    // characters of full names.
    let needed: Vec<&str> = needed.values().map(String::as_str).collect();
    let text = format!("{{\"type_description\": {own}, \"referenced_type_descriptions\": [{}]}}", needed.join(", "));
    Sha256::digest(text).into()
}

/// The description of a single type, without its nested types.
fn individual(message: &MessageDefinition) -> String {
    let placeholder = || field(EMPTY_MESSAGE_FIELD, BaseType::Primitive(Primitive::Uint8), Count::One);
    let mut fields: Vec<String> = message.fields.iter().map(describe).collect();
    if fields.is_empty() {
        fields.push(describe(&placeholder()));
    }
    format!("{{\"type_name\": \"{}\", \"fields\": [{}]}}", message.name, fields.join(", "))
}

fn describe(field: &Field) -> String {
    let FieldType { base, count } = &field.field_type;
    let (offset, capacity) = match count {
        Count::One => (0, 0),
        Count::Array(length) => (ARRAY_OFFSET, *length),
        Count::Sequence { bound: Some(bound) } => (BOUNDED_SEQUENCE_OFFSET, *bound),
        // Here ROS 2 deviates from REP 2016, and all its hashes have this error: rosidl_parser takes the bound of a
        // wide string (but not of a string) as the bound of the sequence.
        Count::Sequence { bound: None } => match base {
            BaseType::WString { bound: Some(bound) } => (BOUNDED_SEQUENCE_OFFSET, *bound),
            _ => (SEQUENCE_OFFSET, 0),
        },
    };
    let (base_id, string_capacity, nested) = match base {
        BaseType::Primitive(primitive) => (primitive_id(*primitive), 0, None),
        BaseType::String { bound: None } => (17, 0, None),
        BaseType::WString { bound: None } => (18, 0, None),
        BaseType::String { bound: Some(bound) } => (21, *bound, None),
        BaseType::WString { bound: Some(bound) } => (22, *bound, None),
        BaseType::Message(name) => (NESTED_TYPE, 0, Some(name)),
    };
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {capacity}, \"string_capacity\": \
         {string_capacity}, \"nested_type_name\": \"{}\"}}}}",
        field.name,
        base_id + offset,
        nested.map(TypeName::to_string).unwrap_or_default(),
    );
    text
}

/// The number of a primitive type in ROS 2's type descriptions. ROS 2 replaces `char` by `uint8` when it reads a file,
/// but it does not replace `byte`.
fn primitive_id(primitive: Primitive) -> u8 {
    match primitive {
        Primitive::Int8 => 2,
        Primitive::Uint8 | Primitive::Char => 3,
        Primitive::Int16 => 4,
        Primitive::Uint16 => 5,
        Primitive::Int32 => 6,
        Primitive::Uint32 => 7,
        Primitive::Int64 => 8,
        Primitive::Uint64 => 9,
        Primitive::Float32 => 10,
        Primitive::Float64 => 11,
        Primitive::Bool => 15,
        Primitive::Byte => 16,
    }
}
