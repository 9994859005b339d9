//! The input, which reads the bytes of a message into an owned message (the copy path), in both byte orders.
//!
//! Each byte is copied once, and only the copy is checked. So a process that changes the bytes meanwhile cannot bypass
//! the checks.

use crate::{
    element::Element,
    encapsulation::ByteOrder,
    error::{Error, Problem, Result},
    kind::{Kind, align_up, check_bound, phase},
};

/// A position in a body. Each read moves the position forward.
#[derive(Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    offset: usize,
    /// The position of `bytes` in the body, modulo 8.
    phase: usize,
    swapped: bool,
}

impl<'a> Input<'a> {
    /// Makes an input at `offset` in a body.
    pub(crate) fn new(bytes: &'a [u8], offset: usize, order: ByteOrder) -> Input<'a> {
        Input { bytes, offset, phase: 0, swapped: order == ByteOrder::BigEndian }
    }

    /// Makes an input at `offset` in `bytes`, a part of a little-endian body in place.
    pub(crate) fn of_part(bytes: &'a [u8], offset: usize) -> Input<'a> {
        Input { bytes, offset, phase: phase(bytes), swapped: false }
    }

    /// Reads the field `name` of the kind `K` into `value`.
    ///
    /// # Errors
    /// The bytes are not a valid field of this kind.
    #[inline]
    pub fn field<K: Kind>(&mut self, name: &str, value: &mut K::Owned) -> Result<()> {
        K::read(value, self).map_err(|error| error.inside(name))
    }

    /// Takes `length_bytes` bytes from the next multiple of `align` on.
    #[inline]
    pub(crate) fn take(&mut self, length_bytes: usize, align: usize) -> Result<&'a [u8]> {
        let start = align_up(self.offset, self.phase, align);
        let end = start.checked_add(length_bytes).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            let left_bytes = self.bytes.len().saturating_sub(start);
            return Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }));
        };
        self.offset = end;
        Ok(&self.bytes[start..end])
    }

    /// Reads elements into all of `values`. If `values` is empty, no padding is skipped.
    #[inline]
    pub(crate) fn elements<T: Element>(&mut self, values: &mut [T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let bytes = self.take(size_of_val(values), T::ALIGN)?;
        let error_at_start = |problem| Error::new(problem, self.offset - bytes.len());
        T::copy(bytes, values).map_err(error_at_start)?;
        if self.swapped && !T::swap_bytes(values) {
            return Err(error_at_start(Problem::OtherByteOrder));
        }
        Ok(())
    }

    /// Takes `count` numbers of four bytes. Each is copied once.
    pub(crate) fn numbers(&mut self, count: usize) -> Result<impl Iterator<Item = u32> + use<'a>> {
        let swapped = self.swapped;
        let (numbers, _) = self.take(count.saturating_mul(4), 4)?.as_chunks::<4>();
        let number =
            move |bytes: &[u8; 4]| if swapped { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
        Ok(numbers.iter().map(number).map(core::hint::black_box))
    }

    /// Reads a length and checks its bound.
    #[inline]
    pub(crate) fn length(&mut self, bound: u32) -> Result<usize> {
        let mut length = [0_u32];
        self.elements(&mut length)?;
        // The value is loaded only once, so that the checked value is also the value that is used.
        let length = core::hint::black_box(length[0]) as usize;
        check_bound(length, bound).map_err(|problem| self.error(problem))?;
        Ok(length)
    }

    /// The number of bytes that are left. A sequence cannot have more elements than this.
    #[inline]
    pub(crate) fn left_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(self.offset)
    }

    /// The offset from the start of the body.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.offset
    }

    /// An error at the current offset.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.offset)
    }
}
