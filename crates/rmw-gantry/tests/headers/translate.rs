//! Translates Rust declarations to C assertions, which a C compiler checks against the headers.

use crate::source::{Source, Struct};
use std::{collections::BTreeSet, fmt::Write};
use syn::{
    Expr, FnArg, GenericArgument, Lit, Pat, PathArguments, ReturnType, Signature, Type, TypeArray, TypeBareFn, TypePath,
};

/// The headers that declare the functions of an RMW and the structs of type supports.
const HEADERS: &[&str] = &[
    "rcutils/allocator.h",
    "rcutils/error_handling.h",
    "rcutils/strdup.h",
    "rcutils/types/string_array.h",
    "rmw/rmw.h",
    "rmw/dynamic_message_type_support.h",
    "rmw/event.h",
    "rmw/events_statuses/events_statuses.h",
    "rmw/features.h",
    "rmw/get_network_flow_endpoints.h",
    "rmw/get_node_info_and_types.h",
    "rmw/get_service_names_and_types.h",
    "rmw/get_topic_endpoint_info.h",
    "rmw/get_topic_names_and_types.h",
    "rmw/incompatible_qos_events_statuses.h",
    "rmw/init.h",
    "rmw/init_options.h",
    "rmw/names_and_types.h",
    "rmw/qos_profiles.h",
    "rmw/topic_endpoint_info_array.h",
    "rosidl_runtime_c/message_type_support_struct.h",
    "rosidl_runtime_c/primitives_sequence.h",
    "rosidl_runtime_c/service_type_support_struct.h",
    "rosidl_runtime_c/string.h",
    "rosidl_runtime_c/u16string.h",
    "rosidl_typesupport_introspection_c/field_types.h",
    "rosidl_typesupport_introspection_c/message_introspection.h",
    "rosidl_typesupport_introspection_c/service_introspection.h",
    "rmw_gantry.h",
];

/// Returns the C name of a type or a constant. Some names are shorter in Rust.
fn c_name(name: &str) -> String {
    match name {
        "MessageMember" | "MessageMembers" | "ServiceMembers" => format!("rosidl_typesupport_introspection_c__{name}"),
        "ErrorString" => "rcutils_error_string_t".to_owned(),
        "rosidl_runtime_c__Sequence" => "rosidl_runtime_c__uint8__Sequence".to_owned(),
        _ if name.starts_with("ROS_TYPE_") => format!("rosidl_typesupport_introspection_c__{name}"),
        _ => name.to_owned(),
    }
}

/// The fields whose types differ in Rust on purpose. Only the offsets of these fields are compared.
const PLACES_ONLY: &[(&str, &str)] = &[
    // The C function returns whether there was memory; the C++ function returns nothing.
    ("MessageMembers", "init_function"),
    ("MessageMember", "resize_function"),
];

/// Makes a C program that compiles if the headers agree with `source`.
pub fn program(source: &Source) -> String {
    let mut text = String::from("#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n");
    HEADERS.iter().for_each(|header| writeln!(text, "#include <{header}>").unwrap());
    text += "#define SAME(one, other) __builtin_types_compatible_p(one, other)\n";
    source.constants.iter().for_each(|(name, value)| constant(&mut text, name, *value));
    source.aliases.iter().for_each(|(name, target)| alias(&mut text, name, target));
    let names: BTreeSet<&str> = source.structs.iter().map(|item| &item.name[..]).collect();
    source.structs.iter().for_each(|item| layout(&mut text, item, &names));
    source.functions.iter().for_each(|function| prototype(&mut text, function));
    source.called.iter().for_each(|(name, function)| called(&mut text, name, function));
    text
}

fn constant(text: &mut String, name: &str, value: i64) {
    let c = c_name(name);
    writeln!(text, "_Static_assert((long long)({c}) == {value}LL, \"{name} is not {value}\");").unwrap();
}

fn alias(text: &mut String, name: &str, target: &Type) {
    // Rust declares no fields of this type, so there is nothing to compare.
    if is_void(target) {
        return;
    }
    let (c, target) = (c_name(name), declare(target, "", false));
    // A C enumeration is a separate type, so only its size and its signedness are compared.
    let test = if ["unsigned int ", "int ", "int32_t "].contains(&&target[..]) {
        format!("sizeof({c}) == sizeof({target}) && (({c})-1 < ({c})1) == (({target})-1 < ({target})1)")
    } else {
        format!("SAME({c}, {target})")
    };
    writeln!(text, "_Static_assert({test}, \"{name} is not {target}\");").unwrap();
}

/// Compares a C struct with a struct that has the fields of the Rust struct.
fn layout(text: &mut String, item: &Struct, structs: &BTreeSet<&str>) {
    let (name, c) = (&item.name, c_name(&item.name));
    writeln!(text, "struct twin_{name} {{").unwrap();
    item.fields
        .iter()
        .for_each(|(field, of)| writeln!(text, "    {};", declare(of, field_name(field), false)).unwrap());
    writeln!(text, "}};").unwrap();
    let twin = format!("struct twin_{name}");
    writeln!(text, "_Static_assert(sizeof({c}) == sizeof({twin}), \"the size of {name}\");").unwrap();
    writeln!(text, "_Static_assert(_Alignof({c}) == _Alignof({twin}), \"the alignment of {name}\");").unwrap();
    for (field, of) in &item.fields {
        let (c_field, what) = (field_name(field), format!("the field {field} of {name}"));
        let (place, own) = (format!("(({c} *)0)->{c_field}"), format!("(({twin} *)0)->{c_field}"));
        writeln!(text, "_Static_assert(offsetof({c}, {c_field}) == offsetof({twin}, {c_field}), \"{what}\");").unwrap();
        writeln!(text, "_Static_assert(sizeof({place}) == sizeof({own}), \"the size of {what}\");").unwrap();
        if !is_pointer_to_void(of) && !PLACES_ONLY.contains(&(name, field)) {
            let same = format!("SAME(__typeof__({place}), __typeof__({own}))");
            writeln!(text, "_Static_assert({same}, \"the type of {what}\");").unwrap();
        }
    }
    // The initialiser has a value for each Rust field: the compiler warns if C has more or fewer fields.
    let values: Vec<&str> =
        item.fields.iter().map(|(_, of)| if is_aggregate(of, structs) { "{0}" } else { "0" }).collect();
    writeln!(text, "extern const {c} every_field_of_{name};").unwrap();
    writeln!(text, "const {c} every_field_of_{name} = {{{}}};", values.join(", ")).unwrap();
}

/// Declares the function with the types that Rust has. The program does not compile if C declares other types.
fn prototype(text: &mut String, function: &Signature) {
    let name = function.ident.to_string();
    let arguments: Vec<String> = function.inputs.iter().map(argument).collect();
    let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
    writeln!(text, "extern __typeof__({name}) {name};").unwrap();
    writeln!(text, "{};", returned(&function.output, &format!("{name}({arguments})"))).unwrap();
}

/// Does the same as [`prototype`] for a function that the bridge calls.
fn called(text: &mut String, name: &str, function: &TypeBareFn) {
    let arguments: Vec<String> = function.inputs.iter().map(|input| declare(&input.ty, "", false)).collect();
    let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
    writeln!(text, "extern __typeof__({name}) {name};").unwrap();
    writeln!(text, "{};", returned(&function.output, &format!("{name}({arguments})"))).unwrap();
}

fn argument(argument: &FnArg) -> String {
    let FnArg::Typed(argument) = argument else { panic!("a C function has no receiver") };
    let name = match &*argument.pat {
        Pat::Ident(pattern) => pattern.ident.to_string(),
        _ => String::new(),
    };
    declare(&argument.ty, &name, false)
}

fn returned(output: &ReturnType, declarator: &str) -> String {
    match output {
        ReturnType::Default => format!("void {declarator}"),
        ReturnType::Type(_, of) => declare(of, declarator, false),
    }
}

/// Returns the C name of a field. In Rust, `impl` is a keyword.
fn field_name(name: &str) -> &str {
    if name == "implementation" { "impl" } else { name }
}

/// Declares `declarator` with the type `of` in C syntax, which is built from the inside out.
fn declare(of: &Type, declarator: &str, is_const: bool) -> String {
    let qualifier = if is_const { "const " } else { "" };
    match of {
        Type::Ptr(pointer) => {
            declare(&pointer.elem, &format!("*{qualifier}{declarator}"), pointer.const_token.is_some())
        }
        Type::Reference(pointer) => {
            declare(&pointer.elem, &format!("*{qualifier}{declarator}"), pointer.mutability.is_none())
        }
        Type::Array(TypeArray { elem, len, .. }) => {
            let Expr::Lit(length) = len else { panic!("the length of an array is a literal") };
            let Lit::Int(length) = &length.lit else { panic!("the length of an array is an integer") };
            declare(elem, &format!("{declarator}[{length}]"), is_const)
        }
        Type::BareFn(TypeBareFn { inputs, output, .. }) => {
            let arguments: Vec<String> = inputs.iter().map(|input| declare(&input.ty, "", false)).collect();
            let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
            returned(output, &format!("(*{qualifier}{declarator})({arguments})"))
        }
        Type::Path(path) => match inside_option(path) {
            Some(of) => declare(of, declarator, is_const),
            None => format!("{qualifier}{} {declarator}", primitive(&last_word(path))),
        },
        _ => panic!("a type that C does not have"),
    }
}

fn primitive(name: &str) -> String {
    match name {
        "c_char" => "char".to_owned(),
        "c_int" => "int".to_owned(),
        "c_uint" => "unsigned int".to_owned(),
        "c_void" => "void".to_owned(),
        "usize" => "size_t".to_owned(),
        "bool" => "bool".to_owned(),
        "f32" => "float".to_owned(),
        "f64" => "double".to_owned(),
        "u8" | "u16" | "u32" | "u64" => format!("uint{}_t", &name[1..]),
        "i8" | "i16" | "i32" | "i64" => format!("int{}_t", &name[1..]),
        _ => c_name(name),
    }
}

/// Returns the type `T` of an `Option<T>`, whose `None` is null in C.
fn inside_option(path: &TypePath) -> Option<&Type> {
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    })
}

fn last_word(path: &TypePath) -> String {
    path.path.segments.last().unwrap().ident.to_string()
}

fn is_void(of: &Type) -> bool {
    matches!(of, Type::Path(path) if last_word(path) == "c_void")
}

fn is_pointer_to_void(of: &Type) -> bool {
    matches!(of, Type::Ptr(pointer) if is_void(&pointer.elem))
}

fn is_aggregate(of: &Type, structs: &BTreeSet<&str>) -> bool {
    match of {
        Type::Array(_) => true,
        Type::Path(path) => structs.contains(&last_word(path)[..]),
        _ => false,
    }
}
