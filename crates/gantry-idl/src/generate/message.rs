//! The generated Rust code of one message or service.

use super::{
    field::FieldCode,
    kind, owned,
    scope::{Scope, hash_text},
    text, view,
};
use crate::model::{
    BaseType, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive, ServiceDefinition,
};
use std::fmt::Write as _;

/// Generates all code of one message.
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

/// Generates the type of a service. Its request and response are messages, whose code is generated separately.
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
