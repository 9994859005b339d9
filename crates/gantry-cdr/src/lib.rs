//! ROS 2's CDR in place: messages are read and built in their final memory, without serialisation.
//!
//! ROS 2's wire format is XCDR1 ("plain CDR"). Numbers are aligned to their size, counted from the start of the *body*,
//! which follows a 4-byte encapsulation header. In a body that is aligned to 8 bytes, numbers and sequences of numbers
//! are ordinary Rust values and slices. A message can therefore be *viewed* where it is, and *built* where it will be
//! read:
//!
//! - A [`PlainMessage`] is a struct whose memory is its CDR. Viewing and building it are casts.
//! - Every other [`Message`] has a generated view, which finds and checks the fields once, in time proportional to
//!   their number. To build such a message, a *shape* (its texts and the lengths of its sequences) is needed first; it
//!   determines the position of every field.
//! - The owned struct, with `String` and `Vec`, is for the *copy path*: [`Message::to_cdr`], [`Message::from_cdr`].
//!
//! `gantry-idl` generates the code for messages.
//!
//! # Invariants
//! - Bytes are not trusted. A view checks lengths, texts, booleans and nested messages when it is made, and reads each
//!   length once. A defect is an [`Error`] with the field's path and the offset, never a panic. If another process can
//!   still write the memory of a view, that process is trusted not to change it. Memory of an untrusted process is
//!   copied first ([`Message::read_body`]).
//! - Work is limited by the number of bytes, because each element of a sequence takes at least one byte.
//! - Messages in place are little-endian, like every machine on which Gantry runs. The copy path reads both byte
//!   orders.
//! - No I/O, no clock, no unsafe code. Viewing and building a message allocate nothing, except for errors. Without the
//!   feature `error-paths`, errors have no path of the field and allocate nothing, so a microcontroller needs no heap.

#![no_std]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub extern crate alloc;

#[cfg(not(target_endian = "little"))]
compile_error!("messages are little endian in place; Gantry runs on x86-64 and aarch64");

mod aligned;
mod composer;
mod copy;
mod cursor;
mod element;
mod encapsulation;
mod error;
mod in_place;
mod input;
pub mod kind;
mod message;
mod plain;
mod plain_body;
mod service;
mod shape;
mod view;

pub use aligned::{AlignedBytes, BODY_ALIGN};
pub use composer::{Composer, MAX_DEFAULT_BYTES};
#[doc(hidden)]
pub use copy::copy;
pub use cursor::Cursor;
pub use element::Element;
pub use encapsulation::{ByteOrder, ENCAPSULATION, split as split_encapsulation};
pub use error::{Error, Problem, Result};
pub use in_place::InPlace;
pub use input::Input;
pub use kind::{Kind, Layout};
pub use message::{FixedSize, Message, type_hash};
pub use plain::PlainMessage;
pub use plain_body::{PlainBody, plain_bytes, read_plain, write_plain, zeroed_box};
pub use service::Service;
pub use shape::Shape;
pub use view::{View, read_at};
pub use zerocopy;
