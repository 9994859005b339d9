//! ROS 2's CDR in place: messages are read and built in their final memory, without serialisation.
//!
//! ROS 2's wire format is XCDR1 ("plain CDR"): numbers are aligned to their size, counted from the start of the
//! *body*, which follows a 4-byte encapsulation header. In a body that is 8-byte aligned, numbers, and arrays and
//! sequences of numbers, are ordinary Rust values and slices. A message can therefore be *viewed* where it is, and
//! *built* where it will be read:
//!
//! - A [`PlainMessage`] is a struct whose memory is its CDR: making a view and building are casts.
//! - Every other [`Message`] has a generated view, which finds and checks the fields once, in time proportional to
//!   their number. Before such a message is built, a *shape* (lengths of sequences, texts) determines the position
//!   of every field.
//! - The owned struct, with `String` and `Vec`, is for the *copy path*: [`Message::to_cdr`], [`Message::from_cdr`].
//!
//! `gantry-idl` generates the code for messages.
//!
//! # Invariants
//! - Bytes are not trusted. When a view is made, it checks lengths, texts, booleans and nested messages, and reads
//!   each length once. A defect is an [`Error`] with the field's path and the offset, never a panic. A view of
//!   memory that another process can still write trusts that process as Rust trusts memory. Memory of an untrusted
//!   process is copied first ([`Message::read_body`]).
//! - Work is limited by the number of bytes: each element of a sequence takes at least one byte.
//! - Messages in place are little endian, as is every machine on which Gantry runs. The copy path reads both
//!   byte orders.
//! - No I/O, no clock, no unsafe code. Making a view and building a message allocate nothing, except for errors.
//!   Without the feature `error-paths`, errors allocate nothing, either, and do not name their field, so a
//!   microcontroller needs no heap.

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
