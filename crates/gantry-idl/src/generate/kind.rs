//! The generated code for a message's shape, and for its implementations of `Kind` and `Message`.

use super::{
    field::{FieldCode, Initializer, ShapeExpressions, ShapeField},
    scope::{Scope, constants},
    text,
};
use crate::model::MessageDefinition;
use std::fmt::Write as _;

/// Generates the struct of a message's shape. It has the lengths and texts that determine the size of a message before
/// it is built in place.
pub(super) fn shape(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let name = &text::type_name(&definition.name.name);
    let properties = scope.shape(&definition.name);
    let (lifetime, anonymous) = if properties.borrows { ("<'a>", "<'_>") } else { ("", "") };
    let shaped: Vec<_> = fields.iter().filter_map(|field| Some((field, field.shape.as_ref()?))).collect();
    let mut code = format!(
        "/// The texts and sequence lengths of a [`{name}`](struct@{name}), which fix its size before it is built in place.\n\
         #[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name}Shape{} {{\n",
        with_defaults(&shaped, properties.borrows)
    );
    for (field, part) in &shaped {
        let note = match (part.is_parameter, part.rust_type.as_str()) {
            (true, list) if list.starts_with('&') => {
                "/// The shapes of the elements: a slice, an array or an iterator.\n///\n"
            }
            (false, "usize") => "/// The number of elements.\n///\n",
            _ => "",
        };
        code.push_str(&text::indented(&format!("{note}{}", field.documentation), 4));
        let rust_type = if part.is_parameter { text::parameter(field.name) } else { part.rust_type.clone() };
        let _ = writeln!(code, "    pub {}: {rust_type},", field.identifier);
    }
    let slices = if properties.is_generic {
        "\n    /// Its lists are slices: beside `..DEFAULT`, write `&list[..]`."
    } else {
        ""
    };
    let _ = writeln!(
        code,
        "}}\n\nimpl {name}Shape{anonymous} {{\n    /// The default texts and sequence lengths of the definition, or empty ones.{slices}\n    \
         pub const DEFAULT: Self = Self {{"
    );
    for (field, part) in &shaped {
        let _ = writeln!(code, "        {}: {},", field.identifier, part.default);
    }
    let _ = write!(
        code,
        "    }};\n}}\n\nimpl ::core::default::Default for {name}Shape{anonymous} {{\n    #[inline]\n    fn default() -> Self {{\n        \
         Self::DEFAULT\n    }}\n}}\n\n"
    );
    if !properties.is_generic {
        code.push_str(&shape_from(name, lifetime, &format!("&'a {name}"), &|of| of.owned.clone(), fields));
    }
    if properties.from_view {
        code.push_str(&shape_from(name, lifetime, &format!("{name}Ref<'a>"), &|of| of.view.clone(), fields));
    }
    code.push_str(&shape_impl(name, fields, &shaped, properties.borrows));
    code
}

/// The lifetime and the type parameters of a shape, with their defaults. The shape has a lifetime only if some field
/// needs it and is not a type parameter.
fn with_defaults(shaped: &[(&FieldCode<'_>, &ShapeField)], borrows: bool) -> String {
    let lifetime = if borrows { "'a" } else { "'static" };
    let own = borrows.then(|| lifetime.to_owned());
    let parameters = shaped
        .iter()
        .filter(|(_, part)| part.is_parameter)
        .map(|(field, part)| format!("{} = {}", text::parameter(field.name), part.rust_type.replace("'a", lifetime)));
    in_angle_brackets(own.into_iter().chain(parameters))
}

fn in_angle_brackets(arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<String> = arguments.collect();
    if arguments.is_empty() { String::new() } else { format!("<{}>", arguments.join(", ")) }
}

/// Generates the implementations of `Shape` for the struct of a shape and for a reference to it. The reference is
/// needed as an element of a slice.
fn shape_impl(name: &str, fields: &[FieldCode<'_>], shaped: &[(&FieldCode<'_>, &ShapeField)], borrows: bool) -> String {
    let parameters = || shaped.iter().filter(|(_, part)| part.is_parameter).map(|(field, _)| field);
    let bounds = in_angle_brackets(
        parameters().map(|field| format!("{}: ::gantry_cdr::Shape<{}>", text::parameter(field.name), field.kind)),
    );
    let own = borrows.then(|| "'_".to_owned());
    let arguments = in_angle_brackets(own.into_iter().chain(parameters().map(|field| text::parameter(field.name))));
    let compose: String =
        fields.iter().map(|field| format!("            {}: {}?,\n", field.identifier, composed(field))).collect();
    let head = "#[inline]\n    fn compose(self, composer: &mut ::gantry_cdr::Composer<'_>)";
    format!(
        "impl{bounds} ::gantry_cdr::Shape<{name}> for {name}Shape{arguments} {{
    {head} -> ::gantry_cdr::Result<{name}Layout> {{
        Ok({name}Layout {{
            start_: composer.position(),
{compose}        }})
    }}
}}

impl{bounds} ::gantry_cdr::Shape<{name}> for &{name}Shape{arguments} {{
    {head} -> ::gantry_cdr::Result<{name}Layout> {{
        ::gantry_cdr::Shape::compose(::core::clone::Clone::clone(self), composer)
    }}
}}

"
    )
}

/// Generates the conversion of an existing message (an owned message or a view) to its shape.
fn shape_from(
    name: &str,
    lifetime: &str,
    source: &str,
    value: &dyn Fn(&ShapeExpressions) -> String,
    fields: &[FieldCode<'_>],
) -> String {
    let mut code = format!(
        "impl<'a> ::core::convert::From<{source}> for {name}Shape{lifetime} {{\n    #[inline]\n    fn from(message: {source}) -> Self {{\n        Self {{\n"
    );
    for field in fields {
        if let Some(of) = &field.shape_from {
            let _ = writeln!(code, "            {}: {},", field.identifier, value(of));
        }
    }
    code.push_str("        }\n    }\n}\n\n");
    code
}

/// Generates the implementation of `Kind`.
pub(super) fn kind(definition: &MessageDefinition, fields: &[FieldCode<'_>], scope: &Scope<'_>) -> String {
    let name = text::type_name(&definition.name.name);
    let has_shape = scope.shape(&definition.name).exists;
    let lines = |line: &dyn Fn(&FieldCode<'_>) -> String| fields.iter().map(line).collect::<String>();
    // The layout of a message of fixed size is only its start, from which the positions of all fields follow.
    let part = |identifier: &str| if has_shape { format!("            {identifier}: ") } else { "        ".to_owned() };
    let end = if has_shape { "?,\n" } else { "?;\n" };
    let locate =
        lines(&|field| format!("{}cursor.field::<{}>(\"{}\"){end}", part(&field.identifier), field.kind, field.name));
    let locate = if has_shape {
        format!("        Ok({name}Layout {{\n            start_: cursor.position(),\n{locate}        }})\n")
    } else {
        format!("        let start_ = cursor.position();\n{locate}        Ok({name}Layout {{ start_ }})\n")
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
    type Ref<'a> = {name}Ref<'a>;
    type Mut<'a> = {name}View<&'a mut [u8]>;

    #[inline]
    fn locate(cursor: &mut ::gantry_cdr::Cursor<'_>) -> ::gantry_cdr::Result<{name}Layout> {{
{locate}    }}

    #[inline]
    fn get(body: &[u8], layout: {name}Layout) -> {name}Ref<'_> {{
        {name}Ref {{ memory: body, layout }}
    }}

    #[inline]
    fn get_mut(body: &mut [u8], layout: {name}Layout) -> {name}View<&mut [u8]> {{
        {name}View {{ memory: body, layout }}
    }}

    #[inline]
    fn write(message: &{name}, composer: &mut ::gantry_cdr::Composer<'_>) -> ::gantry_cdr::Result<()> {{
{}        Ok(())
    }}

    #[inline]
    fn read(message: &mut {name}, input: &mut ::gantry_cdr::Input<'_>) -> ::gantry_cdr::Result<()> {{
{}        Ok(())
    }}
}}

",
        each("composer.write", "&"),
        each("input.field", "&mut ")
    )
}

/// Generates the call of the composer that lays out a field in memory.
fn composed(field: &FieldCode<'_>) -> String {
    let FieldCode { identifier, kind, name, .. } = field;
    let shape = match &field.initializer {
        Initializer::Value(value) => return format!("composer.value(\"{name}\", &{value})"),
        Initializer::Elements(shape, defaults) => {
            return format!("composer.field_from::<{kind}, _>(\"{name}\", {shape}, {defaults})");
        }
        Initializer::Fixed(shape) => (*shape).to_owned(),
        Initializer::Counted => format!("::core::iter::repeat_n((), self.{identifier})"),
        Initializer::Shape => format!("self.{identifier}"),
    };
    format!("composer.field::<{kind}>(\"{name}\", {shape})")
}

/// Generates the implementation of `Message`.
pub(super) fn message(
    definition: &MessageDefinition,
    fields: &[FieldCode<'_>],
    has_shape: bool,
    scope: &Scope<'_>,
) -> String {
    let name = &text::type_name(&definition.name.name);
    let max_bytes = match scope.definitions.max_size_bytes(&definition.name) {
        Some(bytes) => bytes.to_string(),
        None => "usize::MAX".to_owned(),
    };
    let fixed_size = if has_shape { String::new() } else { fixed_size(definition, fields) };
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

    #[inline]
    fn new_box() -> ::gantry_cdr::alloc::boxed::Box<Self> {{
        {new_box}
    }}
}}

{fixed_size}",
        constants(definition, scope)
    )
}

/// Generates the implementation of `FixedSize` for a message that is not plain.
pub(super) fn fixed_size(definition: &MessageDefinition, fields: &[FieldCode<'_>]) -> String {
    let name = text::type_name(&definition.name.name);
    let compose: String = fields.iter().map(|field| format!("        {}?;\n", composed(field))).collect();
    format!(
        "impl ::gantry_cdr::FixedSize for {name} {{
    #[inline]
    fn compose(composer: &mut ::gantry_cdr::Composer<'_>) -> ::gantry_cdr::Result<{name}Layout> {{
        let start_ = composer.position();
{compose}        Ok({name}Layout {{ start_ }})
    }}
}}

"
    )
}
