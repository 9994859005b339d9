//! The code of one message or service, and the paths of other messages in it.

use super::{
    field::FieldCode,
    kind, owned,
    shapes::{Shape, Shapes},
    text, view,
};
use crate::{
    definitions::Definitions,
    model::{BaseType, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive, ServiceDefinition},
    name::TypeName,
};
use std::{collections::BTreeMap, fmt::Write as _};

/// The names that the code of one message can use: all messages, the crates of packages, and the message itself.
pub(super) struct Scope<'a> {
    pub definitions: &'a Definitions,
    pub shapes: &'a Shapes<'a>,
    pub crates: &'a BTreeMap<String, String>,
    pub own: &'a TypeName,
}

impl Scope<'_> {
    /// The path of a message's struct, as seen from the module of this message.
    pub(super) fn path(&self, name: &TypeName) -> String {
        let TypeName { package, namespace, name } = name;
        let name = &text::type_name(name);
        let module = text::identifier(package);
        match self.crates.get(package) {
            Some(its_crate) => format!("::{its_crate}::{module}::{namespace}::{name}"),
            None if (package, namespace) == (&self.own.package, &self.own.namespace) => name.clone(),
            None if package == &self.own.package => format!("super::{namespace}::{name}"),
            None => format!("super::super::{module}::{namespace}::{name}"),
        }
    }

    /// The properties of a message's shape.
    pub(super) fn shape(&self, name: &TypeName) -> Shape {
        self.shapes.of(name)
    }
}

/// All code of one message.
pub(super) fn code(definition: &MessageDefinition, scope: &Scope<'_>) -> String {
    let placeholder = [Field {
        name: EMPTY_MESSAGE_FIELD.to_owned(),
        field_type: FieldType { base: BaseType::Primitive(Primitive::Uint8), count: Count::One },
        default: None,
        comment: "The only byte of an empty message.".to_owned(),
    }];
    let fields = if definition.fields.is_empty() { &placeholder } else { definition.fields.as_slice() };
    let offsets = scope.definitions.field_offsets(&definition.name);
    let offset = |index: usize| offsets.as_ref().map(|offsets| offsets.get(index).copied().unwrap_or_default());
    let code_of = |(index, field)| FieldCode::new(field, scope, offset(index));
    let fields: Vec<FieldCode<'_>> = fields.iter().enumerate().map(code_of).collect();
    let plain_body = scope.definitions.is_plain_body(&definition.name);
    let has_shape = scope.shape(&definition.name).exists;
    let mut code = owned::code(definition, &fields, plain_body, has_shape, scope);
    if scope.definitions.is_plain(&definition.name) {
        code.push_str(&owned::plain(definition, &fields, scope));
        return code;
    }
    if has_shape {
        code.push_str(&kind::shape(definition, &fields, scope));
    }
    code.push_str(&view::code(&definition.name, &fields, has_shape));
    code.push_str(&kind::kind(definition, &fields, scope));
    if plain_body {
        code.push_str(&kind::fixed_size(definition, &fields));
        code.push_str(&owned::plain_body(definition, &fields, scope));
    } else {
        code.push_str(&kind::message(definition, &fields, has_shape, scope));
    }
    code
}

/// The type of a service. Its request and response are messages with code of their own.
pub(super) fn service_code(service: &ServiceDefinition, scope: &Scope<'_>) -> String {
    let name = text::type_name(&service.name.name);
    let mut code = text::documentation(&service.comment, &format!("`{}`", service.name));
    let hash = scope.definitions.service_hash(&service.name).map(hash_text).unwrap_or_default();
    let _ = write!(
        code,
        "#[derive(Clone, Copy, Debug)]\npub enum {name} {{}}\n\n\
         impl ::gantry_cdr::Service for {name} {{\n    type Request = {0}_Request;\n    type Response = {0}_Response;\n    \
         const TYPE_NAME: &'static str = \"{1}\";\n    const TYPE_HASH: [u8; 32] = {hash};\n}}\n\n",
        service.name.name, service.name
    );
    code
}

/// The constants that every message type has, as lines of an `impl`.
pub(super) fn constants(definition: &MessageDefinition, scope: &Scope<'_>) -> String {
    let text = scope.definitions.definition_text(&definition.name).unwrap_or_default();
    let hash = scope.definitions.hash(&definition.name).map(hash_text).unwrap_or_default();
    let text = text::raw_literal(&text);
    format!(
        "    const TYPE_NAME: &'static str = \"{}\";\n    const DEFINITION: &'static str = {text};\n    \
         const TYPE_HASH: [u8; 32] = {hash};\n",
        definition.name
    )
}

fn hash_text(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("::gantry_cdr::type_hash(\"RIHS01_{digits}\")")
}
