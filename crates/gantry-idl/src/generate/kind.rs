//! The code of a message's shape and of its implementations of `Kind` and `Message`.

use super::{
    field::{FieldCode, Initializer, ShapeExpressions},
    message::{Scope, constants},
    text,
};
use crate::model::MessageDefinition;
use std::fmt::Write as _;

/// The struct of a message's shape: the lengths and texts that fix its size before it is built.
pub(super) fn shape(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let name = &text::type_name(&definition.name.name);
    let lifetime = if scope.shape(&definition.name).borrows { "<'a>" } else { "" };
    let mut code = format!(
        "/// The texts and sequence lengths of a [`{name}`](struct@{name}), which fix its size before it is built in place.\n\
         #[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name}Shape{lifetime} {{\n"
    );
    let shaped = || fields.iter().filter_map(|field| Some((field, field.shape.as_ref()?)));
    for (field, (shape, _)) in shaped() {
        let length = if shape == "usize" { "/// The number of elements.\n///\n" } else { "" };
        code.push_str(&text::indented(&format!("{length}{}", field.documentation), 4));
        let _ = writeln!(code, "    pub {}: {shape},", field.identifier);
    }
    let anonymous = lifetime.replace("'a", "'_");
    let _ = writeln!(
        code,
        "}}\n\nimpl {name}Shape{anonymous} {{\n    /// The default texts and sequence lengths of the definition, or empty ones.\n    \
         pub const DEFAULT: Self = Self {{"
    );
    for (field, (_, default)) in shaped() {
        let _ = writeln!(code, "        {}: {default},", field.identifier);
    }
    let _ = write!(
        code,
        "    }};\n}}\n\nimpl ::core::default::Default for {name}Shape{anonymous} {{\n    fn default() -> Self {{\n        \
         Self::DEFAULT\n    }}\n}}\n\n"
    );
    if scope.shape(&definition.name).from_owned {
        code.push_str(&shape_from(name, lifetime, &format!("&'a {name}"), &|of| of.owned.clone(), fields));
    }
    if scope.shape(&definition.name).from_view {
        code.push_str(&shape_from(name, lifetime, &format!("{name}Ref<'a>"), &|of| of.view.clone(), fields));
    }
    code
}

/// The conversion of an existing message, owned or in place, to its shape.
fn shape_from(
    name: &str,
    lifetime: &str,
    source: &str,
    value: &dyn Fn(&ShapeExpressions) -> String,
    fields: &[FieldCode<'_>],
) -> String {
    let mut code = format!(
        "impl<'a> ::core::convert::From<{source}> for {name}Shape{lifetime} {{\n    fn from(message: {source}) -> Self {{\n        Self {{\n"
    );
    for field in fields {
        if let Some(of) = &field.shape_from {
            let _ = writeln!(code, "            {}: {},", field.identifier, value(of));
        }
    }
    code.push_str("        }\n    }\n}\n\n");
    code
}

/// The type of a message's shape.
fn shape_type(definition: &MessageDefinition, scope: &Scope<'_>) -> String {
    let (name, shape) = (text::type_name(&definition.name.name), scope.shape(&definition.name));
    match (shape.exists, shape.borrows) {
        (false, _) => "()".to_owned(),
        (true, false) => format!("{name}Shape"),
        (true, true) => format!("{name}Shape<'a>"),
    }
}

/// The implementation of `Kind`.
pub(super) fn kind(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let (name, shape) = (text::type_name(&definition.name.name), shape_type(definition, scope));
    let has_shape = scope.shape(&definition.name).exists;
    let argument = if has_shape { "shape" } else { "()" };
    let anonymous = shape.replace("'a", "'_");
    let lines = |line: &dyn Fn(&FieldCode<'_>) -> String| fields.iter().map(line).collect::<String>();
    // In a message of fixed size the positions of all fields follow from its start.
    let part = |identifier: &str| if has_shape { format!("            {identifier}: ") } else { "        ".to_owned() };
    let end = if has_shape { "?,\n" } else { "?;\n" };
    let locate =
        lines(&|field| format!("{}cursor.field::<{}>(\"{}\"){end}", part(&field.identifier), field.kind, field.name));
    let compose = lines(&|field| format!("{}{}{end}", part(&field.identifier), composed(field)));
    let found = |place: &str, fields: &str| {
        if has_shape {
            format!("        Ok({name}Layout {{\n            start_: {place}.position(),\n{fields}        }})\n")
        } else {
            format!("        let start_ = {place}.position();\n{fields}        Ok({name}Layout {{ start_ }})\n")
        }
    };
    let each = |call: &str, reference: &str| {
        lines(&|field| {
            format!("        {call}::<{}>(\"{}\", {reference}message.{})?;\n", field.kind, field.name, field.identifier)
        })
    };
    format!(
        "impl ::gantry_cdr::Kind for {name} {{
    type Owned = {name};
    type Layout = {name}Layout;
    type Shape<'a> = {shape};
    type Ref<'a> = {name}Ref<'a>;
    type Mut<'a> = {name}View<&'a mut [u8]>;

    #[inline]
    fn locate(cursor: &mut ::gantry_cdr::Cursor<'_>) -> ::gantry_cdr::Result<{name}Layout> {{
{}    }}

    #[inline]
    fn compose(composer: &mut ::gantry_cdr::Composer<'_>, {argument}: {anonymous}) -> ::gantry_cdr::Result<{name}Layout> {{
{}    }}

    #[inline]
    fn get(body: &[u8], layout: {name}Layout) -> {name}Ref<'_> {{
        {name}Ref {{ memory: body, layout }}
    }}

    #[inline]
    fn get_mut(body: &mut [u8], layout: {name}Layout) -> {name}View<&mut [u8]> {{
        {name}View {{ memory: body, layout }}
    }}

    fn write(message: &{name}, composer: &mut ::gantry_cdr::Composer<'_>) -> ::gantry_cdr::Result<()> {{
{}        Ok(())
    }}

    fn read(message: &mut {name}, input: &mut ::gantry_cdr::Input<'_>) -> ::gantry_cdr::Result<()> {{
{}        Ok(())
    }}
}}

",
        found("cursor", &locate),
        found("composer", &compose),
        each("composer.write", "&"),
        each("input.field", "&mut ")
    )
}

/// The call that lays out a field.
fn composed(field: &FieldCode<'_>) -> String {
    let FieldCode { identifier, kind, name, .. } = field;
    let shape = match &field.initializer {
        Initializer::Value(value) => return format!("composer.value(\"{name}\", &{value})"),
        Initializer::Elements(shape, defaults) => {
            return format!("composer.field_from::<{kind}, _>(\"{name}\", {shape}, {defaults})");
        }
        Initializer::Fixed(shape) => (*shape).to_owned(),
        // A list of units takes no memory.
        Initializer::Counted => format!("&::gantry_cdr::alloc::vec![(); shape.{identifier}]"),
        Initializer::Shape => format!("shape.{identifier}"),
    };
    format!("composer.field::<{kind}>(\"{name}\", {shape})")
}

/// The implementation of `Message`.
pub(super) fn message(definition: &MessageDefinition, has_shape: bool, scope: &Scope<'_>) -> String {
    let name = &text::type_name(&definition.name.name);
    let max_bytes = match scope.definitions.max_size_bytes(&definition.name) {
        Some(bytes) => bytes.to_string(),
        None => "usize::MAX".to_owned(),
    };
    let fixed_size =
        if has_shape { String::new() } else { format!("impl ::gantry_cdr::FixedSize for {name} {{}}\n\n") };
    let new_box =
        if has_shape { "::gantry_cdr::alloc::boxed::Box::new(Self::default())" } else { "::gantry_cdr::zeroed_box()" };
    format!(
        "impl ::gantry_cdr::Message for {name} {{
{}    const MAX_BYTES: usize = {max_bytes};
    type View<B_: ::core::convert::AsRef<[u8]>> = {name}View<B_>;

    #[inline]
    fn in_memory<B_: ::core::convert::AsRef<[u8]>>(memory: B_, layout: {name}Layout) -> {name}View<B_> {{
        {name}View {{ memory, layout }}
    }}

    fn new_box() -> ::gantry_cdr::alloc::boxed::Box<Self> {{
        {new_box}
    }}
}}

{fixed_size}",
        constants(definition, scope)
    )
}
