//! Generates the owned struct of a message. For a plain message, this struct is also the view.

use super::{
    field::{FieldCode, MAX_DEFAULT_BYTES},
    scope::{Scope, constants},
    text,
};
use crate::model::{BaseType, Constant, Field, MessageDefinition};
use std::fmt::Write as _;

/// The largest size in bytes of a plain message that is `Copy`.
const COPY_BYTES: usize = 128;

/// Generates the struct of a message, its constants and its `Default`.
pub(super) fn code(
    definition: &MessageDefinition,
    fields: &[FieldCode<'_>],
    plain_body: bool,
    has_shape: bool,
    scope: &Scope<'_>,
) -> String {
    let name = &text::type_name(&definition.name.name);
    let mut code = text::documentation(&definition.comment, &format!("`{}`", definition.name));
    let defaults = fields.iter().any(|field| field.default.is_some());
    let default = if defaults { "" } else { ", Default" };
    if plain_body {
        let small = scope.definitions.max_size_bytes(&definition.name).is_some_and(|bytes| bytes <= COPY_BYTES);
        let copy = if small { "Clone, Copy" } else { "Clone" };
        let _ = write!(
            code,
            "///\n/// The memory of this struct is its CDR, so messages are read and written in place.\n\
             #[derive({copy}, Debug, PartialEq{default})]\n\
             #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::KnownLayout, zerocopy::Immutable)]\n\
             #[zerocopy(crate = \"::gantry_cdr::zerocopy\")]\n#[repr(C)]\n"
        );
    } else {
        let _ = writeln!(code, "#[derive(Clone, Debug, PartialEq{default})]");
        if !has_shape {
            code.push_str("#[derive(zerocopy::FromZeros)]\n#[zerocopy(crate = \"::gantry_cdr::zerocopy\")]\n");
        }
    }
    let _ = writeln!(code, "pub struct {name} {{");
    for field in fields {
        code.push_str(&text::indented(&field.documentation, 4));
        let _ = writeln!(code, "    pub {}: {},", field.identifier, field.owned);
    }
    code.push_str("}\n\n");
    if defaults {
        let _ = writeln!(
            code,
            "impl ::core::default::Default for {name} {{\n    #[inline]\n    fn default() -> Self {{\n        {name} {{"
        );
        for field in fields {
            let default = field.default.as_deref().unwrap_or("::core::default::Default::default()");
            let _ = writeln!(code, "            {}: {default},", field.identifier);
        }
        code.push_str("        }\n    }\n}\n\n");
    }
    if !definition.constants.is_empty() {
        let _ = writeln!(code, "impl {name} {{");
        definition.constants.iter().for_each(|constant| code.push_str(&constant_code(constant)));
        code.push_str("}\n\n");
    }
    code
}

fn constant_code(constant: &Constant) -> String {
    let rust_type = match &constant.primitive {
        BaseType::Primitive(primitive) => text::primitive(*primitive),
        _ => "&'static str",
    };
    let documentation = text::documentation(&constant.comment, &format!("`{}`", constant.primitive));
    format!(
        "{}    pub const {}: {rust_type} = {};\n",
        text::indented(&documentation, 4),
        constant.name,
        text::literal(&constant.value)
    )
}

/// Generates the implementation of `PlainMessage`.
pub(super) fn plain(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let (name, constants) = (text::type_name(&definition.name.name), constants(definition, scope));
    format!("impl ::gantry_cdr::PlainMessage for {name} {{\n{constants}\n{}}}\n\n", in_place(definition, fields, scope))
}

/// Generates the implementations of `PlainBody` and `Message` for a message that is plain at the start of a body.
pub(super) fn plain_body(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let (name, constants) = (text::type_name(&definition.name.name), constants(definition, scope));
    format!(
        "impl ::gantry_cdr::PlainBody for {name} {{\n{}}}\n\n\
         impl ::gantry_cdr::Message for {name} {{\n{constants}\n    ::gantry_cdr::plain_body!();\n}}\n\n",
        in_place(definition, fields, scope)
    )
}

/// Generates the functions that a plain message needs for its byte order and default values.
fn in_place(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let swaps: Vec<&str> = fields.iter().map(|field| field.swap.as_str()).collect();
    let mut code = format!(
        "    #[inline]\n    fn swap_bytes(&mut self) -> bool {{\n        {}\n    }}\n",
        swaps.join("\n            && ")
    );
    // A small struct without default values needs no function, because the trait's provided method fills it with zeros.
    let is_large = scope.definitions.max_size_bytes(&definition.name).is_none_or(|bytes| bytes > MAX_DEFAULT_BYTES);
    let has_defaults = |field: &Field| field.default.is_some() || matches!(field.field_type.base, BaseType::Message(_));
    if is_large || definition.fields.iter().any(has_defaults) {
        code.push_str("\n    #[inline]\n    fn set_defaults(&mut self) {\n");
        for field in fields.iter().filter(|field| !field.set_default.is_empty()) {
            let _ = writeln!(code, "        {}", field.set_default);
        }
        code.push_str("    }\n");
    }
    code
}
