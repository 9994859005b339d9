//! A cursor over the bytes of one payload.

use super::{ByteOrder, Error, Problem, Result};

/// Reads the fields of a payload one after the other. A copy reads the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a> {
    /// The bytes up to the end of the payload. The bytes before the payload keep positions those of the message.
    bytes: &'a [u8],
    position: usize,
    /// The position plus this is what alignment counts.
    phase: usize,
    order: ByteOrder,
}

impl<'a> Reader<'a> {
    /// A reader of bytes that begin where alignment counts from.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { bytes, position: 0, phase: 0, order }
    }

    /// A reader of a part of a message. `phase` precedes the bytes in the message's alignment.
    pub(super) fn within(bytes: &'a [u8], position: usize, phase: usize, order: ByteOrder) -> Self {
        Self { bytes, position, phase, order }
    }

    /// The byte order of numbers.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The number of bytes that are left.
    pub fn left_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    pub(super) fn error(&self, problem: Problem) -> Error {
        Error { offset: self.position as u32, problem }
    }

    /// Skips padding up to a multiple of `bytes`, a power of two.
    pub(super) fn align(&mut self, bytes: usize) -> Result<()> {
        let padding = padding(self.position + self.phase, bytes);
        self.take(padding).map(drop)
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let taken = self.rest().get(..bytes).ok_or_else(|| self.error(Problem::End { needed_bytes: bytes as u32 }))?;
        self.position += bytes;
        Ok(taken)
    }

    /// The next bytes as an array.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        // `take` gives exactly N bytes, so this is never the zeros.
        Ok(taken.try_into().unwrap_or([0; N]))
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// A number of one, two or four bytes. One function for all, because each costs a microcontroller memory.
    fn number(&mut self, bytes: usize) -> Result<u32> {
        self.align(bytes)?;
        let mut number = 0;
        for (index, &byte) in self.take(bytes)?.iter().enumerate() {
            match self.order {
                ByteOrder::Little => number |= u32::from(byte) << (8 * index),
                ByteOrder::Big => number = number << 8 | u32::from(byte),
            }
        }
        Ok(number)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(self.number(2)? as u16)
    }

    pub(super) fn i16(&mut self) -> Result<i16> {
        Ok(self.u16()? as i16)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.number(4)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.align(8)?;
        let (first, second) = (u64::from(self.u32()?), u64::from(self.u32()?));
        Ok(match self.order {
            ByteOrder::Little => second << 32 | first,
            ByteOrder::Big => first << 32 | second,
        })
    }

    pub(super) fn boolean(&mut self) -> Result<bool> {
        let at = *self;
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(at.error(Problem::NotBoolean { value })),
        }
    }

    /// A field that a boolean precedes, which says whether it is there.
    pub(super) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.boolean()? { read(self).map(Some) } else { Ok(None) }
    }

    /// A sequence of octets: a length and bytes.
    pub(super) fn octets(&mut self) -> Result<&'a [u8]> {
        let bytes = self.u32()?;
        self.take(bytes as usize)
    }

    /// A sequence of octets with a payload of its own, which counts alignment from its start.
    pub(super) fn nested(&mut self) -> Result<Self> {
        let bytes = self.u32()? as usize;
        let start = self.position;
        self.take(bytes)?;
        let bytes = self.bytes.get(..self.position).unwrap_or_default();
        Ok(Self { bytes, position: start, phase: padding(start, 8), order: self.order })
    }
}

/// The number of bytes from `position` to the next multiple of `bytes`, a power of two.
pub(super) fn padding(position: usize, bytes: usize) -> usize {
    position.wrapping_neg() & (bytes - 1)
}
