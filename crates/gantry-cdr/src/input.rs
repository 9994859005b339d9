//! Reads a message out of its bytes into an owned one: the copy path, in both byte orders.
//!
//! Used by the `read` of kinds and generated messages. Bytes are copied first, each once, and what was copied is checked, so
//! that a writer who changes them meanwhile gets nowhere.

use crate::{
    element::Element,
    encapsulation::ByteOrder,
    error::{Error, Problem, Result},
    kind::{Kind, check_bound},
};

/// A place in a body, which moves on as it is read.
#[derive(Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    swapped: bool,
}

impl<'a> Input<'a> {
    /// From an offset in a body on.
    pub(crate) fn new(bytes: &'a [u8], at: usize, order: ByteOrder) -> Input<'a> {
        Input { bytes, at, swapped: order == ByteOrder::BigEndian }
    }

    /// Reads the field `name`, of kind `K`.
    ///
    /// # Errors
    /// Its bytes are not those of such a field.
    #[inline]
    pub fn field<K: Kind>(&mut self, name: &str, value: &mut K::Owned) -> Result<()> {
        K::read(value, self).map_err(|error| error.inside(name))
    }

    /// The next `length_bytes` from a multiple of `align` on.
    #[inline]
    pub(crate) fn take(&mut self, length_bytes: usize, align: usize) -> Result<&'a [u8]> {
        let start = self.at.next_multiple_of(align);
        let end = start.checked_add(length_bytes).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            let left_bytes = self.bytes.len().saturating_sub(start);
            return Err(self.error(Problem::TooShort { needed_bytes: length_bytes, left_bytes }));
        };
        self.at = end;
        Ok(&self.bytes[start..end])
    }

    /// Reads as many elements as `values` has; none moves nothing.
    #[inline]
    pub(crate) fn elements<T: Element>(&mut self, values: &mut [T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let bytes = self.take(size_of_val(values), T::ALIGN)?;
        let at = |problem| Error::new(problem, self.at - bytes.len());
        T::copy(bytes, values).map_err(at)?;
        if self.swapped && !T::swap_bytes(values) {
            return Err(at(Problem::OtherByteOrder));
        }
        Ok(())
    }

    /// The next `count` numbers of four bytes, each copied once.
    pub(crate) fn numbers(&mut self, count: usize) -> Result<impl Iterator<Item = u32> + use<'a>> {
        let swapped = self.swapped;
        let (numbers, _) = self.take(count.saturating_mul(4), 4)?.as_chunks::<4>();
        let number =
            move |bytes: &[u8; 4]| if swapped { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
        Ok(numbers.iter().map(number).map(core::hint::black_box))
    }

    /// A length, within its bound.
    #[inline]
    pub(crate) fn length(&mut self, bound: u32) -> Result<usize> {
        let mut length = [0_u32];
        self.elements(&mut length)?;
        // Read once: what is checked must be what is used.
        let length = core::hint::black_box(length[0]) as usize;
        check_bound(length, bound).map_err(|problem| self.error(problem))?;
        Ok(length)
    }

    /// How many bytes are left: no sequence can have more elements.
    #[inline]
    pub(crate) fn left_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// The offset from the start of the body.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// A problem here.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> Error {
        Error::new(problem, self.at)
    }

    /// Refuses more than padding after the message.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.left_bytes() {
            0..=crate::MOST_TRAILING_BYTES => Ok(()),
            bytes => Err(self.error(Problem::TooLong { bytes })),
        }
    }
}
