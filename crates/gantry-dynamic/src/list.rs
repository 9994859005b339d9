//! An array or a sequence in place: element by element, or, for numbers, as bytes and slices.

use std::fmt;
use std::iter::FusedIterator;

use gantry_cdr::ByteOrder;
use gantry_cdr::zerocopy::{FromBytes, Immutable};

use crate::cursor::Cursor;
use crate::message_type::{Layout, MessageType, layout};
use crate::value::Value;
use gantry_idl::{BaseType, Primitive};

/// An array or a sequence, in place.
#[derive(Clone, Copy)]
pub struct List<'a> {
    /// At the first element.
    pub(crate) first: Cursor<'a>,
    pub(crate) element: Element<'a>,
    /// Of the elements, if all take the same memory.
    pub(crate) layout: Option<Layout>,
    pub(crate) count: usize,
}

/// What a list has many of.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) base: &'a BaseType,
    /// The structure of a message.
    pub(crate) nested: usize,
}

/// The elements of a [`List`], one after the other.
#[derive(Clone)]
pub struct Elements<'a> {
    next: Cursor<'a>,
    element: Element<'a>,
    left: usize,
}

/// A number that can lie in a [`List`] as it lies in memory.
pub trait Number: FromBytes + Immutable + private::Sealed {
    /// The types that are this number.
    #[doc(hidden)]
    const PRIMITIVES: &'static [Primitive];
}

mod private {
    /// Nobody else's numbers are in messages.
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty: $($primitive:ident)+;)+) => {$(
        impl private::Sealed for $number {}
        impl Number for $number {
            const PRIMITIVES: &'static [Primitive] = &[$(Primitive::$primitive),+];
        }
    )+};
}
numbers! {
    u8: Byte Char Uint8; i8: Int8; u16: Uint16; i16: Int16; u32: Uint32; i32: Int32; u64: Uint64; i64: Int64;
    f32: Float32; f64: Float64;
}

impl Element<'_> {
    /// The memory that each takes, if that is the same for all.
    pub(crate) fn layout(self, types: &MessageType) -> Option<Layout> {
        layout(types, self.base, self.nested)
    }
}

impl<'a> List<'a> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What its elements are.
    pub fn element_type(&self) -> &'a BaseType {
        self.element.base
    }

    /// The element at `index`; passes over those before it if they differ in length.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self.layout {
            Some(Layout { size_bytes, .. }) if index < self.count => {
                let mut cursor = self.first;
                cursor.at += index * size_bytes;
                cursor.element(self.element).ok()
            }
            _ => self.iter().nth(index),
        }
    }

    /// The elements, one after the other.
    pub fn iter(&self) -> Elements<'a> {
        Elements { next: self.first, element: self.element, left: self.count }
    }

    /// The elements in place, if they are numbers of this type and lie in memory as this machine has them: little endian, and
    /// aligned. Bytes always do.
    pub fn as_slice<T: Number>(&self) -> Option<&'a [T]> {
        let BaseType::Primitive(primitive) = self.element.base else { return None };
        let native = self.first.order == ByteOrder::LittleEndian || size_of::<T>() == 1;
        if !native || !T::PRIMITIVES.contains(primitive) {
            return None;
        }
        if self.count == 0 {
            return Some(&[]);
        }
        let start = self.first.at;
        <[T]>::ref_from_bytes(self.first.body.get(start..start + self.count * size_of::<T>())?).ok()
    }
}

impl<'a> IntoIterator for List<'a> {
    type Item = Value<'a>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        self.iter()
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let value = self.next.element(self.element).ok();
        if value.is_none() {
            // The bytes are not what they were.
            self.left = 0;
        }
        value
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

impl FusedIterator for Elements<'_> {}

impl fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
