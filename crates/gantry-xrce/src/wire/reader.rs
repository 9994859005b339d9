//! A cursor over the bytes of one payload.

use super::{ByteOrder, Error, Problem, Result};

/// A reader, which reads the fields of a payload one after the other. A copy of the reader reads the same fields again.
///
/// After the first defect, all further fields are zero or empty; [`Self::check`] returns the defect. A `Result`
/// for each field would cost a microcontroller a kilobyte of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a> {
    /// The bytes up to the end of the payload, or up to the first defect. The bytes before the payload are
    /// included, so that positions are the same as in the message.
    bytes: &'a [u8],
    position: usize,
    /// The offset for alignment: a field is aligned if its position plus this number is a multiple of its size.
    phase: usize,
    order: ByteOrder,
    /// The first defect, at `position`.
    problem: Option<Problem>,
}

impl<'a> Reader<'a> {
    /// Makes a reader of `bytes`. Alignment is counted from the start of `bytes`.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self::within(bytes, 0, 0, order)
    }

    /// Makes a reader of a payload that begins at `position`. Alignment is counted as if `phase` bytes preceded
    /// `bytes`.
    pub(super) fn within(bytes: &'a [u8], position: usize, phase: usize, order: ByteOrder) -> Self {
        Self { bytes, position, phase, order, problem: None }
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

    /// Checks that all fields that were read exist and are valid.
    ///
    /// # Errors
    /// The first defect that was found.
    pub fn check(&self) -> Result<()> {
        match self.problem {
            Some(problem) => Err(Error { offset: self.position as u32, problem }),
            None => Ok(()),
        }
    }

    /// Reads a value with `read`, and returns it if no field had a defect.
    pub(super) fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> Result<T> {
        let value = read(&mut self);
        self.check().map(|()| value)
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Records the first defect: all later reads find no bytes. Further defects are ignored.
    pub(super) fn fail(&mut self, position: usize, problem: Problem) {
        if self.problem.is_none() {
            self.problem = Some(problem);
            self.position = position;
            self.bytes = self.bytes.get(..position).unwrap_or_default();
        }
    }

    /// Skips padding up to a multiple of `bytes`, a power of two.
    pub(super) fn align(&mut self, bytes: usize) {
        self.take(padding(self.position + self.phase, bytes));
    }

    pub(super) fn take(&mut self, bytes: usize) -> &'a [u8] {
        match self.rest().get(..bytes) {
            Some(taken) => {
                self.position += bytes;
                taken
            }
            None => {
                self.fail(self.position, Problem::End { needed_bytes: bytes as u32 });
                &[]
            }
        }
    }

    /// The next bytes as an array.
    pub(super) fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap_or([0; N])
    }

    pub(super) fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// Reads a number of one, two or four bytes. There is one function for all sizes, because each function costs
    /// a microcontroller memory.
    fn number(&mut self, bytes: usize) -> u32 {
        self.align(bytes);
        let mut number = 0;
        for (index, &byte) in self.take(bytes).iter().enumerate() {
            match self.order {
                ByteOrder::Little => number |= u32::from(byte) << (8 * index),
                ByteOrder::Big => number = number << 8 | u32::from(byte),
            }
        }
        number
    }

    pub(super) fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }

    pub(super) fn i16(&mut self) -> i16 {
        self.u16() as i16
    }

    pub(super) fn u32(&mut self) -> u32 {
        self.number(4)
    }

    pub(super) fn u64(&mut self) -> u64 {
        self.align(8);
        let (first, second) = (u64::from(self.u32()), u64::from(self.u32()));
        match self.order {
            ByteOrder::Little => second << 32 | first,
            ByteOrder::Big => first << 32 | second,
        }
    }

    pub(super) fn boolean(&mut self) -> bool {
        let start = self.position;
        match self.u8() {
            0 => false,
            1 => true,
            value => {
                self.fail(start, Problem::NotBoolean { value });
                false
            }
        }
    }

    /// Reads a boolean, and a field after it if the boolean is true.
    pub(super) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.boolean() { Some(read(self)) } else { None }
    }

    /// Reads a sequence of octets: a length, and then the bytes.
    pub(super) fn octets(&mut self) -> &'a [u8] {
        let bytes = self.u32();
        self.take(bytes as usize)
    }

    /// Reads a sequence of octets that contains a nested payload. Alignment in the payload is counted from the
    /// payload's start.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.u32() as usize;
        let start = self.position;
        self.take(bytes);
        let until_end = self.bytes.get(..self.position).unwrap_or_default();
        let mut payload = Self::within(until_end, start, padding(start, 8), self.order);
        let value = read(&mut payload);
        if let Some(problem) = payload.problem {
            self.fail(payload.position, problem);
        }
        value
    }
}

/// The number of bytes from `position` to the next multiple of `bytes`, a power of two.
pub(super) fn padding(position: usize, bytes: usize) -> usize {
    position.wrapping_neg() & (bytes - 1)
}
