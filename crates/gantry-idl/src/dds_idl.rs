//! The generator of OMG IDL 4.2 for messages, as input for the compilers of DDS implementations.
//!
//! Types have the names that ROS 2 gives them on the wire: `std_msgs/msg/String` is `std_msgs::msg::dds_::String_`.
//! Names of fields and constants are not changed. ROS 2's rosidl_generator_dds_idl adds an underscore to these as well,
//! but then `idlc` and `fastddsgen` confuse a field `uuid_` with a type `UUID_`. Structures are `@final`, so their
//! XCDR1 is ROS 2's CDR.

use crate::{
    definitions::Definitions,
    model::{BaseType, Constant, Count, EMPTY_MESSAGE_FIELD, Field, MessageDefinition, Primitive},
    value::Value,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt::Write as _,
};

/// Generates one text in OMG IDL 4.2 with all messages of `sets`, including requests and responses. Cyclone DDS's
/// `idlc`, Fast DDS's `fastddsgen` and other IDL compilers can read it. The XCDR1 of a structure is the CDR of its
/// message.
///
/// Each message is written once, after the messages that it contains. If several sets have the same message, its
/// definition in the first one is used. A `wstring` becomes a sequence of `unsigned long`, because ROS 2 writes
/// four bytes for each UTF-16 unit, while DDS writes two. Default values and comments are not written.
#[must_use]
pub fn dds_idl<'a>(sets: impl IntoIterator<Item = &'a Definitions>) -> String {
    let mut all = Definitions::default();
    for message in sets.into_iter().flat_map(Definitions::messages) {
        all.messages.entry(message.name.clone()).or_insert_with(|| message.clone());
    }
    let packages = packages_in_order(&all);
    let in_order = packages.iter().flat_map(|package| all.messages().filter(move |root| root.name.package == *package));
    let mut written = HashSet::new();
    let messages: Vec<&MessageDefinition> =
        in_order.flat_map(|root| all.nested_first(root)).filter(|message| written.insert(&message.name)).collect();
    let mut text =
        String::from("// OMG IDL 4.2. The XCDR1 of these types is the CDR of ROS 2's messages of the same names.\n");
    for package in messages.chunk_by(|a, b| a.name.package == b.name.package) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\nmodule {} {{", package[0].name.package);
        for namespace in package.chunk_by(|a, b| a.name.namespace == b.name.namespace) {
            let _ = writeln!(text, "module {} {{ module dds_ {{", namespace[0].name.namespace);
            namespace.iter().for_each(|message| write_message(&mut text, message));
            text.push_str("}; };\n");
        }
        text.push_str("};\n");
    }
    text
}

/// The packages in the order in which they are written: each package after the packages that its messages need. Then
/// each package can be one module, as the Python generator of `idlc` requires. Packages that need each other are in any
/// order, and are written as several modules.
fn packages_in_order(all: &Definitions) -> Vec<&str> {
    let mut remaining: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for message in all.messages() {
        let needs = remaining.entry(&message.name.package).or_default();
        for field in &message.fields {
            if let BaseType::Message(name) = &field.field_type.base
                && name.package != message.name.package
            {
                needs.insert(&name.package);
            }
        }
    }
    let mut order = Vec::new();
    while let Some(first) = remaining.keys().next() {
        let is_ready = |needs: &BTreeSet<&str>| !needs.iter().any(|package| remaining.contains_key(package));
        let package = remaining.iter().find(|(_, needs)| is_ready(needs)).map_or(*first, |(package, _)| *package);
        remaining.remove(package);
        order.push(package);
    }
    order
}

fn write_message(text: &mut String, message: &MessageDefinition) {
    let name = &message.name.name;
    if !message.constants.is_empty() {
        let _ = writeln!(text, "  module {name}_Constants {{");
        message.constants.iter().for_each(|constant| write_constant(text, constant));
        text.push_str("  };\n");
    }
    let _ = writeln!(text, "  @final\n  struct {name}_ {{");
    message.fields.iter().for_each(|field| write_field(text, field));
    if message.fields.is_empty() {
        let _ = writeln!(text, "    uint8 {EMPTY_MESSAGE_FIELD};");
    }
    text.push_str("  };\n");
}

/// Writes a constant. If IDL cannot express its value in a portable way, writes a comment instead: IDL has no
/// infinities, and its compilers disagree on escapes.
fn write_constant(text: &mut String, constant: &Constant) {
    let (kind, name) = (base(&constant.primitive), identifier(&constant.name));
    let literal = match (&constant.primitive, &constant.value) {
        (_, Value::Bool(value)) => Some(value.to_string().to_uppercase()),
        (_, Value::Integer(value)) => Some(value.to_string()),
        // `Debug` always writes a decimal point or an exponent. Without one, an IDL compiler would read an integer.
        (_, Value::Float(value)) => value.is_finite().then(|| format!("{value:?}")),
        (BaseType::String { .. }, Value::Text(value)) => {
            let is_same_everywhere = |c: char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\' | '?');
            value.chars().all(is_same_everywhere).then(|| format!("\"{value}\""))
        }
        (_, Value::Text(_) | Value::List(_)) => None,
    };
    let _ = match literal {
        Some(literal) => writeln!(text, "    const {kind} {name} = {literal};"),
        None => writeln!(text, "    // {name}: IDL cannot express the value."),
    };
}

/// The keywords of IDL 4.2 that a field or constant of a message may have as its name. IDL ignores case, so they apply
/// to constants as well.
const KEYWORDS: &str = "abstract any alias attribute bitfield bitmask bitset boolean case char component connector const consumes \
    context custom default double emits enum eventtype exception factory false finder fixed float getraises home import in inout \
    int8 int16 int32 int64 interface local long manages map mirrorport module multiple native object octet oneway out port \
    porttype primarykey private provides public publishes raises readonly sequence setraises short string struct supports switch \
    true truncatable typedef typeid typename typeprefix uint8 uint16 uint32 uint64 union unsigned uses valuebase valuetype void \
    wchar wstring";

/// The name as an IDL identifier. A keyword is escaped by a leading underscore, which IDL compilers remove.
fn identifier(name: &str) -> String {
    let is_keyword = KEYWORDS.split(' ').any(|keyword| keyword.eq_ignore_ascii_case(name));
    format!("{}{name}", if is_keyword { "_" } else { "" })
}

fn write_field(text: &mut String, field: &Field) {
    let (base, name) = (base(&field.field_type.base), identifier(&field.name));
    let _ = match field.field_type.count {
        Count::One => write!(text, "    {base} {name};"),
        Count::Array(length) => write!(text, "    {base} {name}[{length}];"),
        Count::Sequence { bound } => write!(text, "    {} {name};", sequence(&base, bound)),
    };
    let is_wide = matches!(field.field_type.base, BaseType::WString { .. });
    text.push_str(if is_wide { " // wstring: UTF-16 units, four bytes each\n" } else { "\n" });
}

fn sequence(element: &str, bound: Option<u32>) -> String {
    match bound {
        Some(bound) => format!("sequence<{element}, {bound}>"),
        // The space is needed, because `idlc` reads `>>` as a shift.
        None if element.ends_with('>') => format!("sequence<{element} >"),
        None => format!("sequence<{element}>"),
    }
}

fn base(base: &BaseType) -> String {
    match base {
        BaseType::Primitive(kind) => primitive(*kind).to_owned(),
        BaseType::String { bound: None } => "string".to_owned(),
        BaseType::String { bound: Some(bound) } => format!("string<{bound}>"),
        BaseType::WString { bound } => sequence(primitive(Primitive::Uint32), *bound),
        BaseType::Message(name) => format!("{}::{}::dds_::{}_", name.package, name.namespace, name.name),
    }
}

fn primitive(kind: Primitive) -> &'static str {
    match kind {
        Primitive::Bool => "boolean",
        Primitive::Byte => "octet",
        Primitive::Char | Primitive::Uint8 => "uint8",
        Primitive::Float32 => "float",
        Primitive::Float64 => "double",
        Primitive::Int8 => "int8",
        Primitive::Int16 => "short",
        Primitive::Uint16 => "unsigned short",
        Primitive::Int32 => "long",
        Primitive::Uint32 => "unsigned long",
        Primitive::Int64 => "long long",
        Primitive::Uint64 => "unsigned long long",
    }
}
