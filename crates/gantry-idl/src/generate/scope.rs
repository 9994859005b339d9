//! The names that the generated code of a message can use, and the constants of the message's type.

use super::{
    shapes::{Shape, Shapes},
    text,
};
use crate::{definitions::Definitions, model::MessageDefinition, name::TypeName};
use std::collections::BTreeMap;

/// The names that the generated code of one message can use: all messages, the crates of packages, and the message
/// itself.
pub(super) struct Scope<'a> {
    pub definitions: &'a Definitions,
    pub shapes: &'a Shapes<'a>,
    pub crates: &'a BTreeMap<String, String>,
    pub own: &'a TypeName,
}

impl Scope<'_> {
    /// The path of a message's struct, relative to the module of this message.
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
        self.shapes.shape(name)
    }
}

/// The constants of the `Message` trait for this message type, as lines of an `impl`.
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

/// The Rust expression for a type hash.
pub(super) fn hash_text(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("::gantry_cdr::type_hash(\"RIHS01_{digits}\")")
}
