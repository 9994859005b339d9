//! The generated C++ code of a message, and of a service.

use super::{
    field::{FieldCode, IN_PLACE, PlainField},
    text,
};
use crate::{
    definitions::Definitions,
    model::{BaseType, Constant, Count, EMPTY_MESSAGE_FIELD, Field, FieldType, MessageDefinition, Primitive},
    name::{Namespace, TypeName},
    value::Value,
};
use std::fmt::Write as _;

/// Generates the struct of a message.
pub(super) fn code(definitions: &Definitions, message: &MessageDefinition) -> String {
    let mut code = text::comment(&message.comment, 0);
    push!(code, "struct {} {{\n", text::type_name(&message.name.name));
    message.constants.iter().for_each(|constant| code.push_str(&constant_code(constant)));
    if !message.constants.is_empty() {
        code.push('\n');
    }
    let fields = fields(message);
    let is_struct = definitions.is_plain_body(&message.name);
    if is_struct {
        for field in fields.iter().map(|field| PlainField::new(field, definitions)) {
            code.push_str(&text::comment(field.comment, 4));
            push!(code, "    {} {}{};\n", field.member, field.identifier, field.initializer);
        }
    }
    if !definitions.is_plain(&message.name) {
        let kind = kind(&fields, definitions);
        if is_struct {
            push!(
                code,
                "\n    // The message as a field of another message, where its padding may differ.\n    struct \
                 {IN_PLACE} {{\n{}    }};\n",
                indented(&kind)
            );
        } else {
            code.push_str(&kind);
        }
    }
    code.push_str("};\n\n");
    code
}

/// Generates the items that make a message a kind of field.
fn kind(fields: &[Field], definitions: &Definitions) -> String {
    let fields: Vec<FieldCode<'_>> = fields.iter().map(|field| FieldCode::new(field, definitions)).collect();
    parts(&fields) + &view(&fields) + &mut_view(&fields) + &functions(&fields)
}

fn indented(code: &str) -> String {
    code.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// The fields of a message on the wire. A message without fields has one byte.
fn fields(message: &MessageDefinition) -> Vec<Field> {
    if !message.fields.is_empty() {
        return message.fields.clone();
    }
    let field_type = FieldType { base: BaseType::Primitive(Primitive::Uint8), count: Count::One };
    vec![Field { name: EMPTY_MESSAGE_FIELD.to_owned(), field_type, default: None, comment: String::new() }]
}

fn constant_code(constant: &Constant) -> String {
    let comment = text::comment(&constant.comment, 4);
    let name = text::constant(&constant.name);
    match (&constant.primitive, &constant.value) {
        (BaseType::Primitive(primitive), value) => {
            let number = text::number(*primitive, value);
            format!("{comment}    static constexpr {} {name} = {number};\n", text::primitive(*primitive))
        }
        (base, Value::Text(value)) => {
            let is_wide = matches!(base, BaseType::WString { .. });
            let text_type = if is_wide { "u16string_view" } else { "string_view" };
            format!("{comment}    static constexpr ::std::{text_type} {name}{{{}}};\n", text::text(value, is_wide))
        }
        _ => String::new(), // a constant is never a list
    }
}

/// Generates the kinds of the fields, the layout and the shape.
fn parts(fields: &[FieldCode<'_>]) -> String {
    let mut code = String::from("    struct kinds_ {\n");
    fields.iter().for_each(|field| push!(code, "        using {} = {};\n", field.identifier, field.kind));
    code.push_str("    };\n\n    // The positions of the fields.\n    struct Layout {\n");
    fields.iter().for_each(|field| push!(code, "        kinds_::{0}::layout {0}{{}};\n", field.identifier));
    code.push_str("    };\n\n    // The texts and lengths that fix the size of a message before it is built.\n    struct Shape {\n");
    for field in fields {
        if let Some(default) = &field.shape {
            code.push_str(&text::comment(field.comment, 8));
            push!(code, "        kinds_::{0}::shape {0}{default};\n", field.identifier);
        }
    }
    code.push_str("    };\n\n");
    code
}

/// Generates the class that reads a message in place.
fn view(fields: &[FieldCode<'_>]) -> String {
    let mut code = String::from(
        "    // A message in place. Its texts, spans and views lie in the memory of the message.\n    class View {\n    public:\n        \
         View(const ::std::uint8_t *body, ::std::size_t size, const Layout &layout) noexcept\n            \
         : body_(body), size_(size), layout_(layout) {}\n\n",
    );
    for field in fields {
        code.push_str(&text::comment(field.comment, 8));
        code.push_str(&getter(&field.identifier));
    }
    code.push_str(
        "\n    private:\n        const ::std::uint8_t *body_;\n        ::std::size_t size_;\n        Layout layout_;\n    };\n\n",
    );
    code
}

fn getter(identifier: &str) -> String {
    format!(
        "        kinds_::{identifier}::ref {identifier}() const noexcept {{\n            \
         return kinds_::{identifier}::get(body_, size_, layout_.{identifier});\n        }}\n"
    )
}

/// Generates the class that writes a message in place.
fn mut_view(fields: &[FieldCode<'_>]) -> String {
    let mut code = String::from(
        "    // A message in place, to be written. Its texts and lengths are fixed.\n    class MutView {\n    public:\n        \
         MutView(::std::uint8_t *body, ::std::size_t size, const Layout &layout) noexcept\n            \
         : body_(body), size_(size), layout_(layout) {}\n        \
         operator View() const noexcept { return {body_, size_, layout_}; }\n\n",
    );
    for field in fields {
        let identifier = &field.identifier;
        code.push_str(&text::comment(field.comment, 8));
        if field.is_number {
            code.push_str(&getter(identifier));
            push!(
                code,
                "        void {}(kinds_::{identifier}::ref value) const noexcept {{\n            \
                 kinds_::{identifier}::set(body_, layout_.{identifier}, value);\n        }}\n",
                setter(field, fields)
            );
        } else {
            push!(
                code,
                "        kinds_::{identifier}::mut {identifier}() const noexcept {{\n            \
                 return kinds_::{identifier}::get_mut(body_, size_, layout_.{identifier});\n        }}\n"
            );
        }
    }
    code.push_str(
        "\n    private:\n        ::std::uint8_t *body_;\n        ::std::size_t size_;\n        Layout layout_;\n    };\n\n",
    );
    code
}

/// The name of a setter. If a field has the same name, an underscore is added; no field's name ends with one.
fn setter(field: &FieldCode<'_>, fields: &[FieldCode<'_>]) -> String {
    let name = format!("set_{}", field.name);
    if fields.iter().any(|other| other.name == name) { name + "_" } else { name }
}

/// Generates the functions that make the message a kind of field.
fn functions(fields: &[FieldCode<'_>]) -> String {
    let mut code = String::from(
        "    // The types and functions for fields that have this message as their type.\n    using layout = Layout;\n \
         using shape = Shape;\n    using ref = View;\n    using mut = MutView;\n\n    static bool \
         locate(::gantry::cdr::cursor &from, Layout &at) {\n",
    );
    for FieldCode { name, identifier, .. } in fields {
        push!(
            code,
            "        if (!kinds_::{identifier}::locate(from, at.{identifier})) return from.inside(\"{name}\");\n"
        );
    }
    code.push_str(
        "        return true;\n    }\n    \
         static bool compose(::gantry::cdr::composer &to, const Shape &shape_, Layout &at) {\n        (void)shape_;\n",
    );
    for field in fields {
        let (name, identifier) = (field.name, &field.identifier);
        push!(code, "        if (!{}) return to.inside(\"{name}\");\n", composed(field, identifier));
    }
    code.push_str(
        "        return true;\n    }\n    \
         static View get(const ::std::uint8_t *body, ::std::size_t size, const Layout &at) noexcept {\n        \
         return {body, size, at};\n    }\n    \
         static MutView get_mut(::std::uint8_t *body, ::std::size_t size, const Layout &at) noexcept {\n        \
         return {body, size, at};\n    }\n    \
         // The shape of an existing message.\n    \
         static Shape shape_of(const View &from) {\n        (void)from;\n        \
         Shape made;\n",
    );
    for FieldCode { identifier, .. } in fields.iter().filter(|field| field.shape.is_some()) {
        push!(code, "        made.{identifier} = kinds_::{identifier}::shape_of(from.{identifier}());\n");
    }
    code.push_str(
        "        return made;\n    }\n    // Copies all but texts and lengths, which must agree.\n    \
         static void copy(const MutView &to, const View &from) {\n",
    );
    for field in fields {
        let identifier = &field.identifier;
        match field.is_number {
            true => push!(code, "        to.{}(from.{identifier}());\n", setter(field, fields)),
            false => push!(code, "        kinds_::{identifier}::copy(to.{identifier}(), from.{identifier}());\n"),
        }
    }
    code.push_str("    }\n");
    code
}

/// Generates the call that lays out a field.
fn composed(field: &FieldCode<'_>, identifier: &str) -> String {
    let shape = if field.shape.is_some() { format!("shape_.{identifier}") } else { "{}".to_owned() };
    match &field.default {
        None => format!("kinds_::{identifier}::compose(to, {shape}, at.{identifier})"),
        Some(value) if field.is_number => format!("kinds_::{identifier}::compose_value(to, {value}, at.{identifier})"),
        Some(values) => {
            format!("::gantry::cdr::compose_with<kinds_::{identifier}>(to, {shape}, {{{values}}}, at.{identifier})")
        }
    }
}

/// Generates the specialisation of `gantry::message` for a message.
pub(super) fn traits(definitions: &Definitions, message: &MessageDefinition) -> String {
    let (path, name) = (text::path(&message.name), &message.name);
    let is_plain = definitions.is_plain_body(name);
    let hash = definitions.hash(name).unwrap_or_default().map(|byte| format!("0x{byte:02x}")).join(", ");
    let max_bytes = definitions.max_size_bytes(name).unwrap_or(0);
    let definition = text::long_literal(&definitions.definition_text(name).unwrap_or_default());
    let (kind, shape, view, mut_view) = match is_plain {
        true => ("::gantry::cdr::plain<M>", "::gantry::cdr::no_shape", "const M *", "M *"),
        false => ("M", "M::Shape", "M::View", "M::MutView"),
    };
    let mut code = format!(
        "template <>\nstruct gantry::message<{path}> {{\n    using M = {path};\n    \
         static constexpr const char *name = \"{name}\";\n    static constexpr bool is_plain = {is_plain};\n    \
         using kind = {kind};\n    using shape = {shape};\n    using view = {view};\n    using mut_view = {mut_view};\n    \
         inline static constexpr gantry_type description = {{\n        sizeof(gantry_type), name,\n{definition},\n        \
         {max_bytes}u, {{{hash}}}}};\n    static const gantry_type &type() noexcept {{ return description; }}\n"
    );
    if is_plain {
        push!(code, "    static void set_defaults(M &target) noexcept {{\n        (void)target;\n");
        for field in fields(message).iter().map(|field| PlainField::new(field, definitions)) {
            if !field.set_default.is_empty() {
                push!(code, "        {}\n", field.set_default);
            }
        }
        code.push_str("    }\n");
    }
    code.push_str("};\n");
    if is_plain {
        push!(code, "static_assert(sizeof({path}) == {max_bytes});\n");
    }
    if name.namespace == Namespace::Msg {
        code.push_str(&ros_class(name));
    }
    code
}

/// Generates the link to ROS 2's C++ class of a message, without including the definition of that class. ROS 2's
/// namespaces do not appear in the code for programs without ROS 2, because they would be ambiguous after `using
/// namespace gantry_msgs`.
fn ros_class(name: &TypeName) -> String {
    let TypeName { package, name: class, .. } = name;
    let (namespace, header) = (text::identifier(package), text::snake_case(class));
    format!(
        "\n#if __has_include(<{package}/msg/{header}.hpp>)\nnamespace {namespace}::msg {{\ntemplate <class Allocator>\n\
         struct {class}_;\n}}\ntemplate <>\n\
         struct gantry::of_ros<::{namespace}::msg::{class}_<::std::allocator<void>>> {{\n    using type = {};\n}};\n#endif\n",
        text::path(name)
    )
}

/// Generates the type of a service.
pub(super) fn service(name: &TypeName, interface: &str) -> String {
    let TypeName { package, namespace, .. } = name;
    let struct_name = text::type_name(interface);
    format!(
        "struct {struct_name} {{\n    using Request = {interface}_Request;\n    using Response = {interface}_Response;\n    \
         inline static constexpr gantry_service_type description = {{\n        sizeof(gantry_service_type), \
         \"{package}/{namespace}/{interface}\",\n        &::gantry::message<Request>::description, \
         &::gantry::message<Response>::description}};\n    \
         static const gantry_service_type &type() noexcept {{ return description; }}\n}};\n\n"
    )
}
