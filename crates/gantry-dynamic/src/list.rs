//! An array or a sequence in place. It gives its elements one by one, or its numbers as a slice.

use crate::{
    cursor::Cursor,
    message_type::{Layout, MessageType},
    value::Value,
};
use gantry_cdr::{
    ByteOrder,
    zerocopy::{FromBytes, Immutable},
};
use gantry_idl::{BaseType, Primitive};
use std::{fmt, iter::FusedIterator};

/// An array or a sequence, in place.
#[derive(Clone, Copy)]
pub struct List<'a> {
    /// The cursor at the first element.
    pub(crate) first: Cursor<'a>,
    pub(crate) element: Element<'a>,
    /// The layout of an element, if all elements have the same size.
    pub(crate) layout: Option<Layout>,
    pub(crate) count: usize,
}

/// The type of a list's elements.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) base: &'a BaseType,
    /// The index of the element's type in the list of types of the `MessageType` if the element is a message.
    pub(crate) nested: usize,
}

/// An iterator over the elements of a [`List`].
#[derive(Clone)]
pub struct Elements<'a> {
    next: Cursor<'a>,
    element: Element<'a>,
    left: usize,
}

/// A number type whose values have the same bytes in a [`List`] and in memory.
pub trait Number: FromBytes + Immutable + private::Sealed {
    /// The primitive types that have this representation.
    #[doc(hidden)]
    const PRIMITIVES: &'static [Primitive];
}

mod private {
    /// Seals `Number`, because messages have no other kinds of numbers.
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
    /// The layout of an element, if all elements have the same size.
    pub(crate) fn layout(self, types: &MessageType) -> Option<Layout> {
        match self.base {
            BaseType::Primitive(primitive) => {
                Some(Layout { size_bytes: primitive.size_bytes(), align: primitive.size_bytes() })
            }
            BaseType::Message(_) => types.structure(self.nested).plain,
            BaseType::String { .. } | BaseType::WString { .. } => None,
        }
    }
}

impl<'a> List<'a> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The element at `index`. If the elements differ in length, all elements before it are skipped one by one.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self.layout {
            Some(Layout { size_bytes, .. }) if index < self.count => {
                let mut cursor = self.first;
                cursor.offset += index * size_bytes;
                cursor.element(self.element).ok()
            }
            _ => self.iter().nth(index),
        }
    }

    /// The bytes of all elements in place, if all elements have the same size. Such elements are numbers, booleans, or
    /// messages of numbers.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        let Layout { size_bytes, .. } = self.layout?;
        let start = self.first.offset;
        self.first.body.get(start..start.checked_add(self.count.checked_mul(size_bytes)?)?)
    }

    /// Iterates over the elements.
    pub fn iter(&self) -> Elements<'a> {
        Elements { next: self.first, element: self.element, left: self.count }
    }

    /// The elements as a slice in place. The result is `None` if they are not numbers of this type, not little-endian,
    /// or not aligned in memory. Byte order and alignment do not matter for numbers of one byte.
    pub fn as_slice<T: Number>(&self) -> Option<&'a [T]> {
        let BaseType::Primitive(primitive) = self.element.base else { return None };
        let native = self.first.order == ByteOrder::LittleEndian || size_of::<T>() == 1;
        if !native || !T::PRIMITIVES.contains(primitive) {
            return None;
        }
        if self.count == 0 {
            return Some(&[]);
        }
        let start = self.first.offset;
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
            // The bytes have changed since they were checked.
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
