//! Sequences of texts, properties and locators, which are read one by one.

use super::{Reader, Writer};
use core::fmt;

/// An element of a [`List`].
pub trait Item<'a>: Sized {
    /// Reads an element. If the element has a defect, [`Reader::check`] returns it.
    fn read(reader: &mut Reader<'a>) -> Self;

    /// Writes the element.
    fn write(&self, writer: &mut Writer<'_>);
}

/// A sequence: either a slice of the caller, or bytes of a message, whose elements were checked when the message
/// was read.
#[derive(Clone, Copy)]
pub struct List<'a, T>(Source<'a, T>);

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Slice(&'a [T]),
    Bytes { reader: Reader<'a>, count: u32 },
}

impl<'a, T: Item<'a>> List<'a, T> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        let count = reader.u32();
        let list = Self(Source::Bytes { reader: *reader, count });
        // Each element takes at least one byte, so a wrong count causes at most one step for each byte of the message.
        for _ in 0..count {
            T::read(reader);
            if reader.check().is_err() {
                break;
            }
        }
        list
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>)
    where
        T: Copy,
    {
        writer.u32(self.len() as u32);
        for item in *self {
            item.write(writer);
        }
    }
}

impl<T> List<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self.0 {
            Source::Slice(items) => items.len(),
            Source::Bytes { count, .. } => count as usize,
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, T: Item<'a> + Copy> List<'a, T> {
    /// The elements.
    pub fn iter(&self) -> Items<'a, T> {
        Items(self.0)
    }
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(items: &'a [T]) -> Self {
        Self(Source::Slice(items))
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self(Source::Slice(&[]))
    }
}

impl<'a, T: Item<'a> + Copy + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'a, T: Item<'a> + Copy + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Item<'a> + Copy> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.iter()
    }
}

/// An iterator over the elements of a [`List`].
#[derive(Clone)]
pub struct Items<'a, T>(Source<'a, T>);

impl<'a, T: Item<'a> + Copy> Iterator for Items<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Source::Slice(items) => {
                let (first, rest) = items.split_first()?;
                *items = rest;
                Some(*first)
            }
            Source::Bytes { reader, count } => {
                *count = count.checked_sub(1)?;
                Some(T::read(reader))
            }
        }
    }
}
