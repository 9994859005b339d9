//! Message types, and the conversion of messages between C or C++ structs and CDR bytes.
//!
//! A type is resolved once into a `Program`, a list of steps. A publisher measures a message and writes it directly
//! into shared memory; a subscription reads it directly from there. No intermediate buffer exists. Only the read
//! allocates memory, for fields of the message.
//!
//! The bytes are a CDR body, as on ROS 2's wire but without the four bytes of encapsulation: XCDR1, little endian,
//! aligned from the first byte. Strings are not checked for valid UTF-8 and UTF-16: ROS 2 does not check them either,
//! and Gantry's own readers check them themselves.
//!
//! # Invariants
//! - M1: the type support and its library stay loaded as long as a [`MessageType`] made from it is used.
//! - M2: a message is an initialised struct of its type. No other thread uses it while it is read or written.

mod cpp_string;
mod cpp_vector;
mod definition;
mod fault;
mod in_place;
pub mod known;
mod message;
mod probe;
mod program;
mod read;
mod sequence;
pub mod serialized;
mod service_type;
mod shape;
mod size;
mod struct_memory;
mod structure;
#[cfg(test)]
mod tests;
mod text;
mod type_support;
mod write;

pub use in_place::MessageInPlace;
pub use message::Message;
pub use service_type::ServiceType;

use crate::{
    bindings::*,
    distribution,
    failure::{Failure, Result},
};
use program::{Action, Program};
use shape::Shape;
use std::{ffi::c_void, sync::Arc};
use structure::Structure;

/// The largest alignment of a value in CDR. The address of each body is a multiple of this number.
const BODY_ALIGNMENT: usize = 8;

/// A message type: its description for discovery, and the [`Codec`] for its messages.
pub struct MessageType {
    codec: Codec,
    description: gantry::TypeDescription,
}

/// The conversion of one type's messages between structs and CDR.
pub struct Codec {
    structure: Arc<Structure>,
    program: Program,
    /// The memory layout of a plain type, whose struct has the same bytes as its CDR. `None` if the type is not plain.
    plain: Option<Shape>,
    /// The CDR length of a message, if all messages of the type have the same length.
    fixed_bytes: Option<usize>,
    /// The functions that initialise and finalise a message.
    life: Option<message::Life>,
}

impl MessageType {
    /// Resolves a message type.
    ///
    /// # Safety
    /// `type_support` is null, or a valid type support. It and its library stay loaded as long as the value is used
    /// (M1).
    pub unsafe fn new(type_support: *const rosidl_message_type_support_t) -> Result<MessageType> {
        // SAFETY: the promise of the caller.
        let codec = unsafe { Codec::new(type_support) }?;
        let description = gantry::TypeDescription {
            name: codec.structure.name.clone(),
            // SAFETY: the promise of the caller; the pointer is not null.
            hash: unsafe { type_support::hash(type_support) },
            definition: definition::text(&codec.structure).into(),
            payload_bytes: codec.fixed_bytes.unwrap_or(usize::MAX),
        };
        Ok(MessageType { codec, description })
    }

    /// The description of the type for discovery. `hash` is the RIHS01 hash, or zeros if the type support has none.
    /// `payload_bytes` is the CDR length of all messages, or `usize::MAX` if their lengths differ.
    pub fn description(&self) -> &gantry::TypeDescription {
        &self.description
    }

    /// The size of the struct, if the type is *plain*: the bytes of the struct are the CDR body. A plain struct has
    /// only numbers, arrays and other plain structs, each at its offset in CDR. It may have padding inside, which no
    /// reader uses. It has no padding at the end, because CDR has none there, and no array of structs with booleans.
    pub fn plain_bytes(&self) -> Option<usize> {
        self.codec.plain.as_ref().map(|shape| shape.size_bytes)
    }

    /// True if a subscription can loan messages of the type: the type is plain, or has sequences that can point to a
    /// sample's bytes.
    pub fn can_be_loaned(&self) -> bool {
        self.plain_bytes().is_some() || self.codec.has_sequences_in_place()
    }

    /// See [`Codec::size_bytes`].
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2).
    pub unsafe fn size_bytes(&self, message: *const c_void) -> Result<usize> {
        // SAFETY: the promise of the caller.
        unsafe { self.codec.size_bytes(message) }
    }

    /// See [`Codec::write`].
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2), and does not overlap `target`.
    pub unsafe fn write(&self, message: *const c_void, target: &mut [u8]) -> Result<()> {
        // SAFETY: the promise of the caller.
        unsafe { self.codec.write(message, target) }
    }

    /// See [`Codec::read`].
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2), and does not overlap `bytes`.
    pub unsafe fn read(&self, bytes: &[u8], message: *mut c_void) -> Result<()> {
        // SAFETY: the promise of the caller.
        unsafe { self.codec.read(bytes, message) }
    }

    /// Removes the padding that other RMWs add at the end of a serialized message. Padding can be detected only for
    /// types of fixed length; readers of other types ignore it.
    pub fn without_padding<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        self.codec.fixed_bytes.and_then(|bytes| body.get(..bytes)).unwrap_or(body)
    }

    /// Checks that the bytes are a struct of this plain type: the length is right, and each boolean is 0 or 1. The
    /// publisher's process could change the bytes after the check; it is trusted not to do so.
    pub fn check_plain(&self, bytes: &[u8]) -> Result<()> {
        let name = &self.codec.structure.name;
        let Some(Shape { size_bytes, bools, .. }) = &self.codec.plain else {
            return Err(Failure::error(format_args!("{name} is not plain: its struct is not its CDR")));
        };
        if bytes.len() != *size_bytes {
            return Err(Failure::error(format_args!(
                "a message of {name} has {size_bytes} bytes, and these are {}",
                bytes.len()
            )));
        }
        let mut found = bools.iter().flat_map(|(start, count)| bytes.iter().skip(*start).take(*count));
        match found.find(|byte| **byte > 1) {
            None => Ok(()),
            Some(value) => Err(Failure::error(format_args!("a boolean of {name} is {value}; it may be 0 or 1"))),
        }
    }
}

impl Codec {
    /// Resolves a message type without its description, as serialization needs it.
    ///
    /// # Safety
    /// The same as for [`MessageType::new`].
    pub unsafe fn new(type_support: *const rosidl_message_type_support_t) -> Result<Codec> {
        distribution::current()?; // a program may serialize before it creates a context
        // SAFETY: the promise of the caller.
        let (introspection, language) = unsafe { type_support::find_message(type_support) }?;
        // SAFETY: the pointer is not null, and stays valid as long as the type support.
        let members = unsafe { (*introspection).data }.cast();
        // SAFETY: `members` is the data of an introspection type support of this language.
        let structure = unsafe { Structure::new(members, language) }
            // SAFETY: as above.
            .map_err(|fault| Failure::error(format_args!("{} cannot be used: {fault}", unsafe { name(members) })))?;
        let program = Program::new(&structure, BODY_ALIGNMENT);
        let fixed_bytes = fixed_bytes(&program);
        // SAFETY: as above; `Structure::new` has read this table, so the pointer is not null.
        let life = message::Life::new(unsafe { &*members });
        Ok(Codec { plain: Shape::from_structure(&structure), fixed_bytes, life, structure, program })
    }

    /// Returns the length of a message's CDR body in bytes. Allocates nothing.
    ///
    /// # Errors
    /// A sequence or a string is invalid or longer than its bound; or the message is longer than 4 GiB, the limit of
    /// CDR.
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2).
    pub unsafe fn size_bytes(&self, message: *const c_void) -> Result<usize> {
        if let Some(bytes) = self.fixed_bytes {
            return Ok(bytes);
        }
        // SAFETY: the promise of the caller.
        let bytes =
            unsafe { size::end(&self.program, message.cast(), 0) }.map_err(|fault| self.cannot("written", fault))?;
        if u32::try_from(bytes).is_err() {
            let sentence = format_args!("it needs {bytes} bytes, and CDR has at most 4 GiB").to_string();
            return Err(self.cannot("written", fault::Fault::new(sentence)));
        }
        Ok(bytes)
    }

    /// Writes the CDR body of a message into `target`, whose length [`Codec::size_bytes`] returned. Fills padding with
    /// zeros. Allocates nothing.
    ///
    /// # Errors
    /// The same as for `size_bytes`; or the length of the message has changed since then. `target` has no valid message
    /// afterwards.
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2), and does not overlap `target`.
    pub unsafe fn write(&self, message: *const c_void, target: &mut [u8]) -> Result<()> {
        let mut writer = write::Writer::new(target);
        // SAFETY: the promise of the caller.
        unsafe { writer.program(&self.program, message.cast()) }.map_err(|fault| self.cannot("written", fault))?;
        match writer.left_bytes() {
            0 => Ok(()),
            bytes => {
                let sentence =
                    "bytes fewer than when it was measured, so another thread changes it while it is published";
                Err(self.cannot("written", fault::Fault::new(format_args!("the message needs {bytes} {sentence}"))))
            }
        }
    }

    /// Reads a message from its CDR body. Ignores bytes after the message, because some RMWs add padding. Allocates
    /// memory only for fields, and nothing if the message's sequences have the right lengths already.
    ///
    /// # Errors
    /// The bytes are not a message of this type. `message` stays valid, but some of its fields have new values.
    ///
    /// # Safety
    /// `message` is an initialised message of this type (M2), and does not overlap `bytes`.
    pub unsafe fn read(&self, bytes: &[u8], message: *mut c_void) -> Result<()> {
        let mut reader = read::Reader::new(bytes);
        // SAFETY: the promise of the caller.
        let done = unsafe { reader.program(&self.program, message.cast()) };
        done.map_err(|fault| self.cannot_read(&fault, &reader))
    }

    #[cold]
    fn cannot_read(&self, fault: &fault::Fault, reader: &read::Reader<'_>) -> Failure {
        self.cannot("read", fault::Fault::new(format_args!("{fault} (at byte {})", reader.position())))
    }

    #[cold]
    fn cannot(&self, done: &str, fault: fault::Fault) -> Failure {
        Failure::error(format_args!("a message of {} cannot be {done}: {fault}", self.structure.name))
    }
}

/// The CDR length that all messages of the type have; `None` if the type has strings or sequences.
fn fixed_bytes(program: &Program) -> Option<usize> {
    let mut position: usize = 0;
    add_fixed(program, &mut position)?;
    u32::try_from(position).is_ok().then_some(position)
}

fn add_fixed(program: &Program, position: &mut usize) -> Option<()> {
    for step in &program.steps {
        match &step.action {
            Action::Bytes { length, alignment } => {
                *position = size::aligned(*position, *alignment).checked_add(*length)?
            }
            Action::Bools { .. } => {}
            Action::Array { count, item: program::Item::Message(nested), .. } => {
                for _ in 0..*count {
                    add_fixed(nested, position)?;
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// The name of a type, for error texts.
///
/// # Safety
/// `members` is null or a valid introspection table.
unsafe fn name(members: *const MessageMembers) -> String {
    // SAFETY: the promise of the caller.
    let members = unsafe { members.as_ref() };
    // SAFETY: the table is valid, so its names are null or strings.
    let name =
        members.map(|members| unsafe { structure::type_name(members.message_namespace_, members.message_name_) });
    name.and_then(std::result::Result::ok).unwrap_or_else(|| "a message type without a name".to_owned())
}
