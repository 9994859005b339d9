//! Finds the fields of a message in its bytes, and checks them, without copying.
//!
//! Used by the `locate` of kinds and generated messages.

use crate::{
    error::{Error, Problem, Result},
    kind::Kind,
};

/// A place in a body, which moves on field by field.
#[derive(Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At an offset in a body; offsets fit in 32 bits.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Result<Cursor<'a>> {
        match u32::try_from(bytes.len()) {
            Ok(_) => Ok(Cursor { bytes, at }),
            Err(_) => Err(Error::new(Problem::TooLarge, at)),
        }
    }

    /// The offset from the start of the body.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u32 {
        // `at` is at most the length, which fits (`new`).
        self.at as u32
    }

    /// Finds the field `name`, of kind `K`.
    ///
    /// # Errors
    /// Its bytes are not those of such a field.
    #[inline]
    pub fn field<K: Kind>(&mut self, name: &str) -> Result<K::Layout> {
        K::locate(self).map_err(|error| error.inside(name))
    }

    /// Passes over `length_bytes` from the next multiple of `align`, and returns where they start.
    #[inline]
    pub(crate) fn take(&mut self, length_bytes: usize, align: usize) -> Result<u32> {
        let start = self.at.next_multiple_of(align);
        match start.checked_add(length_bytes) {
            Some(end) if end <= self.bytes.len() => {
                self.at = end;
                Ok(start as u32)
            }
            _ => {
                let left_bytes = self.bytes.len().saturating_sub(start);
                Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }))
            }
        }
    }

    /// A length, and that many bytes fit at all.
    #[inline]
    pub(crate) fn length(&mut self) -> Result<usize> {
        let at = self.take(4, 4)? as usize;
        let bytes = [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]];
        // Read once: what is checked must be what is used, whatever the writer does meanwhile.
        Ok(core::hint::black_box(u32::from_le_bytes(bytes)) as usize)
    }

    /// What was passed over from `start` on.
    #[inline]
    pub(crate) fn bytes_from(&self, start: u32) -> &'a [u8] {
        &self.bytes[start as usize..self.at]
    }

    /// A problem here.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.at)
    }

    /// Refuses more than padding after the message.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.bytes.len() - self.at {
            0..=crate::MOST_TRAILING_BYTES => Ok(()),
            bytes => Err(self.error(Problem::TooLong { bytes })),
        }
    }
}
