//! Puts a message into memory, or only counts how much it needs.
//!
//! Used by the `compose` (building in place) and `write` (copy path) of kinds and generated messages. Counting and writing are
//! the same code, so they cannot disagree.

use crate::{
    element::Element,
    error::{Error, Problem, Result},
    kind::{Kind, check_bound},
};
use zerocopy::{Immutable, IntoBytes};

/// A place in a body to be, which moves on field by field.
#[derive(Debug)]
pub struct Composer<'a> {
    /// None while counting.
    memory: Option<&'a mut [u8]>,
    at: usize,
}

impl<'a> Composer<'a> {
    /// Counts only, from an offset in a body on.
    pub(crate) fn counting(at: usize) -> Composer<'static> {
        Composer { memory: None, at }
    }

    /// Writes to `memory`, which is the body, from an offset on.
    pub(crate) fn writing(memory: &'a mut [u8], at: usize) -> Composer<'a> {
        Composer { memory: Some(memory), at }
    }

    /// The offset from the start of the body.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u32 {
        // `reserve` keeps it within 32 bits.
        self.at as u32
    }

    /// Lays out the field `name`, of kind `K`, for `shape`; elements of sequences and arrays stay what the memory held.
    ///
    /// # Errors
    /// The memory ends; a length is above its bound.
    #[inline]
    pub fn field<K: Kind>(&mut self, name: &str, shape: K::Shape<'_>) -> Result<K::Layout> {
        K::compose(self, shape).map_err(|error| error.inside(name))
    }

    /// Writes the number or plain message `name`.
    ///
    /// # Errors
    /// The memory ends.
    #[inline]
    pub fn value<T: Element>(&mut self, name: &str, value: &T) -> Result<u32> {
        self.put(value, T::ALIGN).map_err(|error| error.inside(name))
    }

    /// Writes the field `name` of an owned message.
    ///
    /// # Errors
    /// The memory ends; a length is above its bound.
    #[inline]
    pub fn write<K: Kind>(&mut self, name: &str, value: &K::Owned) -> Result<()> {
        K::write(value, self).map_err(|error| error.inside(name))
    }

    /// Fills with zeros up to the next multiple of `align`, then passes over `length_bytes`, which stay what they are.
    #[inline]
    pub(crate) fn reserve(&mut self, length_bytes: usize, align: usize) -> Result<u32> {
        let start = self.at.next_multiple_of(align);
        let Some(end) = start.checked_add(length_bytes).filter(|end| u32::try_from(*end).is_ok()) else {
            return Err(self.error(Problem::TooLarge));
        };
        if let Some(memory) = &mut self.memory {
            if end > memory.len() {
                let left_bytes = memory.len().saturating_sub(start);
                return Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }));
            }
            memory[self.at..start].fill(0);
        }
        self.at = end;
        Ok(start as u32)
    }

    /// Writes `value` at the next multiple of `align`.
    #[inline]
    pub(crate) fn put<T: IntoBytes + Immutable + ?Sized>(&mut self, value: &T, align: usize) -> Result<u32> {
        let bytes = value.as_bytes();
        let start = self.reserve(bytes.len(), align)?;
        if let Some(memory) = &mut self.memory {
            memory[start as usize..self.at].copy_from_slice(bytes);
        }
        Ok(start)
    }

    /// Passes over `length_bytes` and makes them zeros.
    #[inline]
    pub(crate) fn zeros(&mut self, length_bytes: usize, align: usize) -> Result<u32> {
        let start = self.reserve(length_bytes, align)?;
        if let Some(memory) = &mut self.memory {
            memory[start as usize..self.at].fill(0);
        }
        Ok(start)
    }

    /// Writes the length of a sequence, within its bound.
    #[inline]
    pub(crate) fn length(&mut self, length: usize, bound: u32) -> Result<u32> {
        check_bound(length, bound).map_err(|problem| self.error(problem))?;
        self.put(&(length as u32), 4)?;
        Ok(length as u32)
    }

    /// A problem here.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.at)
    }
}
