//! The cursor, which finds the fields of a message in its bytes and checks them, without copying. As in `composer`, the
//! code of a field is always inlined, because a call costs more than the field itself.

use crate::{
    error::{Error, Problem, Result},
    kind::{Kind, align_up, phase},
};

/// A position in a body. Each field that is found moves the position forward.
#[derive(Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
    /// The position of `bytes` in the body, modulo 8.
    phase: usize,
    /// Whether a view has already checked the texts of the body.
    pub(crate) is_checked: bool,
}

impl<'a> Cursor<'a> {
    /// Makes a cursor at `offset` in a body. The body must have less than 4 GiB, so that offsets fit in 32 bits.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], offset: usize) -> Result<Cursor<'a>> {
        match u32::try_from(bytes.len()) {
            Ok(_) => Ok(Cursor { bytes, offset, phase: 0, is_checked: false }),
            Err(_) => Err(Error::new(Problem::TooLarge, offset)),
        }
    }

    /// Makes a cursor at `offset` in a part of a body that a view has already checked. This cursor does not check
    /// texts, because [`Kind::get`] checks them.
    #[inline]
    pub(crate) fn over_checked(bytes: &'a [u8], offset: usize) -> Cursor<'a> {
        Cursor { bytes, offset, phase: phase(bytes), is_checked: true }
    }

    /// The current offset from the start of the body.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u32 {
        // The cast is lossless: `offset` is at most the length of the body, which fits in 32 bits.
        self.offset as u32
    }

    /// Finds the field `name` of the kind `K`.
    ///
    /// # Errors
    /// The bytes are not a valid field of this kind.
    #[inline(always)]
    pub fn field<K: Kind>(&mut self, name: &str) -> Result<K::Layout> {
        K::locate(self).map_err(|error| error.inside(name))
    }

    /// Skips `length_bytes` bytes from the next multiple of `align` on, and returns their offset.
    #[inline(always)]
    pub(crate) fn take(&mut self, length_bytes: usize, align: usize) -> Result<u32> {
        let start = align_up(self.offset, self.phase, align);
        match start.checked_add(length_bytes) {
            Some(end) if end <= self.bytes.len() => {
                self.offset = end;
                Ok(start as u32)
            }
            _ => {
                let left_bytes = self.bytes.len().saturating_sub(start);
                Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }))
            }
        }
    }

    /// Reads the length of a sequence or text.
    #[inline(always)]
    pub(crate) fn length(&mut self) -> Result<usize> {
        let start = self.take(4, 4)? as usize;
        let bytes = [self.bytes[start], self.bytes[start + 1], self.bytes[start + 2], self.bytes[start + 3]];
        // The value is loaded only once, so that the checked value is also the value that is used, even if another
        // process changes the bytes meanwhile.
        Ok(core::hint::black_box(u32::from_le_bytes(bytes)) as usize)
    }

    /// The bytes from `start` to the current offset.
    #[inline]
    pub(crate) fn bytes_from(&self, start: u32) -> &'a [u8] {
        &self.bytes[start as usize..self.offset]
    }

    /// An error at the current offset.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.offset)
    }
}
