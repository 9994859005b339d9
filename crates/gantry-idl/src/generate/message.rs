//! The code of one message, and of one service; and where other messages are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::field::FieldCode;
use super::{owned, place, text, view};
use crate::definitions::Definitions;
use crate::model::{
    BaseType, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive, ServiceDefinition,
};
use crate::name::TypeName;

/// All messages, which packages are another crate's, and which message the code is of.
pub(super) struct Names<'a> {
    pub definitions: &'a Definitions,
    pub crates: &'a BTreeMap<String, String>,
    pub own: &'a TypeName,
}

impl Names<'_> {
    /// The path of a message's struct, as seen from the module of this message.
    pub(super) fn path(&self, name: &TypeName) -> String {
        let TypeName { package, namespace, name } = name;
        let module = text::identifier(package);
        match self.crates.get(package) {
            Some(its_crate) => format!("::{its_crate}::{module}::{namespace}::{name}"),
            None if (package, namespace) == (&self.own.package, &self.own.namespace) => name.clone(),
            None if package == &self.own.package => format!("super::{namespace}::{name}"),
            None => format!("super::super::{module}::{namespace}::{name}"),
        }
    }

    fn any_field(&self, name: &TypeName, test: &dyn Fn(&FieldType) -> bool) -> bool {
        self.definitions.message(name).is_some_and(|message| message.fields.iter().any(|field| test(&field.field_type)))
    }

    /// Whether messages of the type differ in length.
    pub(super) fn has_shape(&self, name: &TypeName) -> bool {
        self.any_field(name, &|field| match &field.base {
            _ if matches!(field.count, Count::Sequence { .. }) => true,
            BaseType::Primitive(_) => false,
            BaseType::String { .. } | BaseType::WString { .. } => true,
            BaseType::Message(nested) => self.has_shape(nested),
        })
    }

    /// Whether its shape holds references: to texts, or to shapes of a list's elements.
    pub(super) fn shape_borrows(&self, name: &TypeName) -> bool {
        self.any_field(name, &|field| match &field.base {
            BaseType::Primitive(_) => false,
            BaseType::String { .. } | BaseType::WString { .. } => true,
            BaseType::Message(nested) if field.count == Count::One => self.shape_borrows(nested),
            BaseType::Message(nested) => self.has_shape(nested),
        })
    }

    /// Whether its shape can be had from a message without allocation: no list has elements with shapes of their own.
    pub(super) fn shape_from(&self, name: &TypeName) -> bool {
        !self.any_field(name, &|field| match &field.base {
            BaseType::Primitive(_) => false,
            BaseType::String { .. } | BaseType::WString { .. } => field.count != Count::One,
            BaseType::Message(nested) if field.count == Count::One => !self.shape_from(nested),
            BaseType::Message(nested) => self.has_shape(nested),
        })
    }

    /// Whether its shape can be had from a view as well: texts are `&str` there, but wide ones are not.
    pub(super) fn shape_from_view(&self, name: &TypeName) -> bool {
        self.shape_from(name)
            && !self.any_field(name, &|field| match &field.base {
                BaseType::Primitive(_) | BaseType::String { .. } => false,
                BaseType::WString { .. } => true,
                BaseType::Message(nested) => field.count == Count::One && !self.shape_from_view(nested),
            })
    }
}

/// All code of one message.
pub(super) fn code(definition: &MessageDefinition, names: &Names<'_>) -> String {
    let name = &definition.name.name;
    let placeholder = [Field {
        name: EMPTY_MESSAGE_FIELD.to_owned(),
        field_type: FieldType { base: BaseType::Primitive(Primitive::Uint8), count: Count::One },
        default: None,
        comment: "The one byte that an empty message has.".to_owned(),
    }];
    let fields = if definition.fields.is_empty() { &placeholder } else { definition.fields.as_slice() };
    let offsets = names.definitions.field_offsets(&definition.name);
    let offset = |index: usize| offsets.as_ref().map(|offsets| offsets.get(index).copied().unwrap_or_default());
    let code_of = |(index, field)| FieldCode::new(field, names, offset(index));
    let fields: Vec<FieldCode<'_>> = fields.iter().enumerate().map(code_of).collect();
    let plain_body = names.definitions.is_plain_body(&definition.name);
    let has_shape = names.has_shape(&definition.name);
    let mut code = owned::code(definition, &fields, plain_body, has_shape, names);
    if names.definitions.is_plain(&definition.name) {
        code.push_str(&owned::plain(definition, &fields, names));
        return code;
    }
    if has_shape {
        code.push_str(&place::shape(definition, &fields, names));
    }
    code.push_str(&view::code(name, &fields, has_shape));
    code.push_str(&place::kind(definition, &fields, names));
    if plain_body {
        code.push_str(&owned::plain_body(definition, &fields, names));
    } else {
        code.push_str(&place::message(definition, has_shape, names));
    }
    code
}

/// The type of a service; its request and response are messages.
pub(super) fn service_code(service: &ServiceDefinition, names: &Names<'_>) -> String {
    let name = &service.name.name;
    let mut code = text::documentation(&service.comment, &format!("`{}`", service.name));
    let hash = names.definitions.service_hash(&service.name).map(hash_text).unwrap_or_default();
    let _ = write!(
        code,
        "#[derive(Clone, Copy, Debug)]\npub enum {name} {{}}\n\n\
         impl ::gantry_cdr::Service for {name} {{\n    type Request = {name}_Request;\n    type Response = {name}_Response;\n    \
         const TYPE_NAME: &'static str = \"{}\";\n    const TYPE_HASH: [u8; 32] = {hash};\n}}\n\n",
        service.name
    );
    code
}

/// The constants that every message type has, as lines of an `impl`.
pub(super) fn constants(definition: &MessageDefinition, names: &Names<'_>) -> String {
    let text = names.definitions.definition_text(&definition.name).unwrap_or_default();
    let hash = names.definitions.hash(&definition.name).map(hash_text).unwrap_or_default();
    format!(
        "    const TYPE_NAME: &'static str = \"{}\";\n    const DEFINITION: &'static str = r#\"{text}\"#;\n    \
         const TYPE_HASH: [u8; 32] = {hash};\n",
        definition.name
    )
}

fn hash_text(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("::gantry_cdr::type_hash(\"RIHS01_{digits}\")")
}
