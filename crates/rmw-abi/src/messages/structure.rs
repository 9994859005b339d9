//! The structure of a message type, read once from the tables of its introspection type support and checked.
//!
//! # Invariants
//! - S1: each field lies in its struct: offset + size ≤ size of the struct.
//! - S2: a value with the type of [`Element`] and [`Count`] lies at the offset of the field. This is a promise of the
//!   type support, on which the ROS 2 program itself relies, too.

use super::{
    cpp_string, cpp_vector,
    fault::{Fault, Result},
    sequence::{self, Sequence},
    text::{self, Language},
};
use crate::bindings::*;
use std::{
    collections::HashMap,
    ffi::{CStr, c_char},
    sync::Arc,
};

/// The largest depth of nested types. A deeper nesting shows a damaged table, because types cannot contain themselves.
const MAX_DEPTH: usize = 64;
/// The only field of a message without fields, because C has no empty structs. In CDR, the field is one byte.
pub(super) const PLACEHOLDER: &str = "structure_needs_at_least_one_member";

/// A struct.
#[derive(Debug)]
pub(super) struct Structure {
    /// The full name, such as `sensor_msgs/msg/Image`.
    pub name: String,
    pub size_bytes: usize,
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Debug)]
pub(super) struct Field {
    pub name: String,
    pub offset: usize,
    pub element: Element,
    pub count: Count,
}

/// The type of a field's value, or of an element if the field is an array or a sequence.
#[derive(Debug)]
pub(super) enum Element {
    Number(Number),
    Text {
        language: Language,
        /// The largest length in bytes; `usize::MAX` if the string is unbounded.
        bound: usize,
    },
    WideText {
        language: Language,
        /// The largest length in UTF-16 units; `usize::MAX` if the string is unbounded.
        bound: usize,
    },
    Message(Arc<Structure>),
}

/// A number or a boolean. Its alignment is equal to its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub size_bytes: usize,
    pub is_bool: bool,
    /// The name of the type in message definitions.
    pub name: &'static str,
}

/// The number of values in a field: one, an array, or a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    One,
    Array(usize),
    Sequence(Sequence),
}

impl Element {
    /// True if the element consists only of numbers, and so needs no construction and no destruction.
    fn has_only_numbers(&self) -> bool {
        match self {
            Element::Number(_) => true,
            Element::Text { .. } | Element::WideText { .. } => false,
            Element::Message(structure) => structure
                .fields
                .iter()
                .all(|field| !matches!(field.count, Count::Sequence(_)) && field.element.has_only_numbers()),
        }
    }

    /// The size in memory.
    pub fn size_bytes(&self) -> usize {
        match self {
            Element::Number(number) => number.size_bytes,
            Element::Text { language, .. } | Element::WideText { language, .. } => text::struct_bytes(*language),
            Element::Message(structure) => structure.size_bytes,
        }
    }
}

impl Structure {
    /// # Safety
    /// `members` is null or points to the table of an introspection type support of this language.
    pub unsafe fn new(members: *const MessageMembers, language: Language) -> Result<Arc<Structure>> {
        let mut reader = Reader { language, known: HashMap::new() };
        // SAFETY: the promise of the caller.
        unsafe { reader.structure(members, 0) }
    }
}

/// Reads the tables of a type and of its nested types; each table only once.
struct Reader {
    language: Language,
    known: HashMap<*const MessageMembers, Arc<Structure>>,
}

impl Reader {
    /// # Safety
    /// `members` is null or points to a valid table.
    unsafe fn structure(&mut self, members: *const MessageMembers, depth: usize) -> Result<Arc<Structure>> {
        if let Some(known) = self.known.get(&members) {
            return Ok(known.clone());
        }
        // SAFETY: the promise of the caller.
        let Some(table) = (unsafe { members.as_ref() }) else {
            return Err(Fault::new("its type support has no members"));
        };
        // SAFETY: the table is valid, so its names are null or strings.
        let name = unsafe { type_name(table.message_namespace_, table.message_name_) }?;
        if depth > MAX_DEPTH {
            return Err(Fault::new(format_args!("{name} is nested more than {MAX_DEPTH} levels deep")));
        }
        let mut fields = Vec::new();
        if table.member_count_ > 0 && table.members_.is_null() {
            return Err(Fault::new(format_args!("the type support of {name} has no members")));
        }
        for index in 0..table.member_count_ as usize {
            // SAFETY: `index` is less than the number of the table's members.
            let member = unsafe { &*table.members_.wrapping_add(index) };
            // SAFETY: the member belongs to this table.
            fields.push(unsafe { self.field(table, member, depth) }?);
        }
        let structure = Arc::new(Structure { name, size_bytes: table.size_of_, fields });
        self.known.insert(members, structure.clone());
        Ok(structure)
    }

    /// # Safety
    /// `member` belongs to `table`, which is a valid introspection table.
    unsafe fn field(&mut self, table: &MessageMembers, member: &MessageMember, depth: usize) -> Result<Field> {
        // SAFETY: the member is valid, so its name is null or a string.
        let name = unsafe { text_of(member.name_) }?;
        // SAFETY: the promise of the caller.
        let element = unsafe { self.element(member, depth) }.map_err(|fault| fault.inside(&name))?;
        let is_sequence = member.is_array_ && (member.array_size_ == 0 || member.is_upper_bound_);
        let (count, size_bytes) = if is_sequence {
            let is_bool = matches!(element, Element::Number(Number { is_bool: true, .. }));
            let sequence = Sequence::new(member, self.language, is_bool).map_err(|fault| fault.inside(&name))?;
            if self.language == Language::Cpp && element.has_only_numbers() {
                // SAFETY: the member is a vector in a valid C++ table.
                unsafe { cpp_vector::check_layout(table, member, &sequence, element.size_bytes()) };
            }
            (Count::Sequence(sequence), sequence::STRUCT_BYTES)
        } else if member.is_array_ {
            (Count::Array(member.array_size_), element.size_bytes().saturating_mul(member.array_size_))
        } else {
            (Count::One, element.size_bytes())
        };
        let offset = member.offset_ as usize;
        if offset.saturating_add(size_bytes) > table.size_of_ {
            let sentence = format!(
                "it has {size_bytes} bytes at offset {offset} of a struct of {}, so its type support is damaged or of \
                 another version",
                table.size_of_
            );
            return Err(Fault::new(sentence).inside(&name));
        }
        if self.language == Language::Cpp {
            // SAFETY: the member belongs to a valid C++ table.
            unsafe { cpp_string::check_layout(table, member, &count) }.map_err(|fault| fault.inside(&name))?;
        }
        Ok(Field { name, offset, element, count })
    }

    /// # Safety
    /// A valid member.
    unsafe fn element(&mut self, member: &MessageMember, depth: usize) -> Result<Element> {
        let language = self.language;
        let bound = match member.string_upper_bound_ {
            0 => usize::MAX,
            bound => bound,
        };
        Ok(match member.type_id_ {
            ROS_TYPE_STRING => Element::Text { language, bound },
            ROS_TYPE_WSTRING => Element::WideText { language, bound },
            ROS_TYPE_MESSAGE => {
                // SAFETY: the pointer is null, or the type support of the nested message.
                let Some(nested) = (unsafe { member.members_.as_ref() }) else {
                    return Err(Fault::new("its type support is missing"));
                };
                // SAFETY: `data` of an introspection type support is null or a valid table.
                Element::Message(unsafe { self.structure(nested.data.cast(), depth + 1) }?)
            }
            id => Element::Number(number(id)?),
        })
    }
}

fn number(id: u8) -> Result<Number> {
    let (size_bytes, name) = match id {
        ROS_TYPE_BOOLEAN => (1, "bool"),
        ROS_TYPE_OCTET => (1, "byte"),
        // `char` of IDL. (`char` of .msg files is a `uint8`.)
        ROS_TYPE_CHAR => (1, "char"),
        ROS_TYPE_UINT8 => (1, "uint8"),
        ROS_TYPE_INT8 => (1, "int8"),
        // A `wchar` has two bytes in memory and in CDR (Fast CDR 2 and rmw_cyclonedds). .msg files have no `wchar`, so
        // the definition has `uint16`.
        ROS_TYPE_UINT16 | ROS_TYPE_WCHAR => (2, "uint16"),
        ROS_TYPE_INT16 => (2, "int16"),
        ROS_TYPE_FLOAT => (4, "float32"),
        ROS_TYPE_UINT32 => (4, "uint32"),
        ROS_TYPE_INT32 => (4, "int32"),
        ROS_TYPE_DOUBLE => (8, "float64"),
        ROS_TYPE_UINT64 => (8, "uint64"),
        ROS_TYPE_INT64 => (8, "int64"),
        ROS_TYPE_LONG_DOUBLE => {
            return Err(Fault::new("it is a long double, which Gantry does not support; use a double"));
        }
        id => return Err(Fault::new(format_args!("its type has the number {id}, which Gantry does not know"))),
    };
    Ok(Number { size_bytes, is_bool: id == ROS_TYPE_BOOLEAN, name })
}

/// Returns the full name of a type, such as `sensor_msgs/msg/Image`. `namespace` is `sensor_msgs__msg` in C, and
/// `sensor_msgs::msg` in C++.
///
/// # Safety
/// `namespace` and `name` are null, or strings that end with 0.
pub(super) unsafe fn type_name(namespace: *const c_char, name: *const c_char) -> Result<String> {
    // SAFETY: the promise of the caller.
    let namespace = unsafe { text_of(namespace) }?;
    // SAFETY: the promise of the caller.
    let name = unsafe { text_of(name) }?;
    Ok(format!("{}/{name}", namespace.replace("::", "/").replace("__", "/")))
}

/// # Safety
/// `text` is null, or a string that ends with 0.
unsafe fn text_of(text: *const c_char) -> Result<String> {
    if text.is_null() {
        return Err(Fault::new("a name in its type support is null"));
    }
    // SAFETY: the pointer is not null, so it is a string by the promise of the caller.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
