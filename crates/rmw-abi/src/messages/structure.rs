//! The structure of a message type: the tables of its introspection type support, read once and checked.
//!
//! # Invariants
//! - S1: a field lies in its struct: offset + size ≤ size of the struct.
//! - S2: the number, text, sequence or struct of an [`Element`] and a [`Count`] lies at the offset of the field.
//!   The type support asserts this, and the program itself relies on it, too.

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

/// The largest depth of nested types. A deeper table is damaged: types cannot contain themselves.
const MAX_DEPTH: usize = 64;
/// The name of the only field of a message without fields: C has no empty structs. The field is a byte in CDR, too.
pub(super) const PLACEHOLDER: &str = "structure_needs_at_least_one_member";

/// A struct.
#[derive(Debug)]
pub(super) struct Structure {
    /// As `sensor_msgs/msg/Image`.
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

/// The value of a field, or an element of its array or sequence.
#[derive(Debug)]
pub(super) enum Element {
    Number(Number),
    Text {
        language: Language,
        /// In bytes; `usize::MAX`: none.
        bound: usize,
    },
    WideText {
        language: Language,
        /// In UTF-16 units; `usize::MAX`: none.
        bound: usize,
    },
    Message(Arc<Structure>),
}

/// A number or a boolean. Its alignment is equal to its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub size_bytes: usize,
    pub is_bool: bool,
    /// In definitions.
    pub name: &'static str,
}

/// The number of values in a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    One,
    Array(usize),
    Sequence(Sequence),
}

impl Element {
    /// Whether the element consists only of numbers, so that it needs no construction and no destruction.
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
    /// `members` are the valid members of an introspection type support of this language.
    pub unsafe fn new(members: *const MessageMembers, language: Language) -> Result<Arc<Structure>> {
        let mut reader = Reader { language, known: HashMap::new() };
        // SAFETY: the promise of the caller.
        unsafe { reader.structure(members, 0) }
    }
}

/// Reads tables.
struct Reader {
    language: Language,
    known: HashMap<*const MessageMembers, Arc<Structure>>,
}

impl Reader {
    /// # Safety
    /// `members` are null or valid.
    unsafe fn structure(&mut self, members: *const MessageMembers, depth: usize) -> Result<Arc<Structure>> {
        if let Some(known) = self.known.get(&members) {
            return Ok(known.clone());
        }
        // SAFETY: the promise of the caller.
        let Some(table) = (unsafe { members.as_ref() }) else {
            return Err(Fault::new("its type support has no members"));
        };
        // SAFETY: the name of a valid table.
        let name = unsafe { type_name(table.message_namespace_, table.message_name_) }?;
        if depth > MAX_DEPTH {
            return Err(Fault::new(format_args!("{name} is nested more than {MAX_DEPTH} levels deep")));
        }
        let mut fields = Vec::new();
        if table.member_count_ > 0 && table.members_.is_null() {
            return Err(Fault::new(format_args!("the type support of {name} has no members")));
        }
        for index in 0..table.member_count_ as usize {
            // SAFETY: one of the table's `member_count_` members.
            let member = unsafe { &*table.members_.wrapping_add(index) };
            // SAFETY: a member of this table.
            fields.push(unsafe { self.field(table, member, depth) }?);
        }
        let structure = Arc::new(Structure { name, size_bytes: table.size_of_, fields });
        self.known.insert(members, structure.clone());
        Ok(structure)
    }

    /// # Safety
    /// `member` belongs to `table`, which is a valid table.
    unsafe fn field(&mut self, table: &MessageMembers, member: &MessageMember, depth: usize) -> Result<Field> {
        // SAFETY: the name of a valid member.
        let name = unsafe { text_of(member.name_) }?;
        // SAFETY: the promise of the caller.
        let element = unsafe { self.element(member, depth) }.map_err(|fault| fault.inside(&name))?;
        let is_sequence = member.is_array_ && (member.array_size_ == 0 || member.is_upper_bound_);
        let (count, size_bytes) = if is_sequence {
            let is_bool = matches!(element, Element::Number(Number { is_bool: true, .. }));
            let sequence = Sequence::new(member, self.language, is_bool).map_err(|fault| fault.inside(&name))?;
            if self.language == Language::Cpp && element.has_only_numbers() {
                // SAFETY: a vector of a valid C++ table.
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
            // SAFETY: a member of a valid C++ table.
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
                // SAFETY: the data of an introspection type support.
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
        // IDL's `char`; the `char` of .msg files is a `uint8`.
        ROS_TYPE_CHAR => (1, "char"),
        ROS_TYPE_UINT8 => (1, "uint8"),
        ROS_TYPE_INT8 => (1, "int8"),
        // A `wchar` has two bytes in memory and on the wire (Fast CDR 2 and rmw_cyclonedds); .msg files have no
        // such type.
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

/// The full name of a type, such as `sensor_msgs/msg/Image`, made of the namespace `sensor_msgs__msg` (C) or
/// `sensor_msgs::msg` (C++) and the name.
///
/// # Safety
/// `namespace` and `name` are null, or texts that end with 0.
pub(super) unsafe fn type_name(namespace: *const c_char, name: *const c_char) -> Result<String> {
    // SAFETY: the promise of the caller.
    let namespace = unsafe { text_of(namespace) }?;
    // SAFETY: the promise of the caller.
    let name = unsafe { text_of(name) }?;
    Ok(format!("{}/{name}", namespace.replace("::", "/").replace("__", "/")))
}

/// # Safety
/// `text` is null, or a text that ends with 0.
unsafe fn text_of(text: *const c_char) -> Result<String> {
    if text.is_null() {
        return Err(Fault::new("a name in its type support is null"));
    }
    // SAFETY: the text is not null; the promise of the caller.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
