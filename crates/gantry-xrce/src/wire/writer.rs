//! A cursor over the memory into which a payload is written.

use super::{ByteOrder, Error, Problem, Result, reader::padding};

/// A writer, which writes the fields of a payload one after the other.
///
/// A field that does not fit is not written, and nothing after it is written;
/// [`MessageBuilder::end`](super::MessageBuilder::end) returns the error. A check after each field would need more
/// memory for code on a microcontroller.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut [u8],
    position: usize,
    /// The offset for alignment: a field is aligned if its position plus this number is a multiple of its size.
    phase: usize,
    order: ByteOrder,
    /// The length of the first field that did not fit at `position`; 0 if all fields fitted.
    refused_bytes: usize,
}

/// The start of a sequence of octets. Its length is written when it ends.
#[must_use]
pub(super) struct Nested {
    start: usize,
    outer_phase: usize,
}

impl<'a> Writer<'a> {
    /// Makes a writer into `bytes`. Alignment is counted from the start of `bytes`.
    pub fn new(bytes: &'a mut [u8], order: ByteOrder) -> Self {
        Self::within(bytes, 0, 0, order)
    }

    /// Makes a writer that continues at `position`. Alignment is counted as if `phase` bytes preceded the memory.
    pub(super) fn within(bytes: &'a mut [u8], position: usize, phase: usize, order: ByteOrder) -> Self {
        Self { bytes, position, phase, order, refused_bytes: 0 }
    }

    /// The byte order of numbers.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The number of bytes that were written.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Checks that all fields fitted.
    ///
    /// # Errors
    /// [`Problem::Room`] of the first field that did not fit.
    pub fn check(&self) -> Result<()> {
        if self.refused_bytes == 0 {
            return Ok(());
        }
        let problem = Problem::Room { needed_bytes: self.refused_bytes as u32 };
        Err(Error { offset: self.position as u32, problem })
    }

    /// Removes the bytes that were written after `position`, and the error of a field that did not fit.
    pub(super) fn truncate(&mut self, position: usize) {
        self.position = self.position.min(position);
        self.refused_bytes = 0;
    }

    /// The next `bytes` bytes of memory, which the caller fills; an empty slice if they do not fit.
    fn claim(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.position;
        if self.refused_bytes > 0 || bytes > self.bytes.len() - start.min(self.bytes.len()) {
            if self.refused_bytes == 0 {
                self.refused_bytes = bytes;
            }
            return &mut [];
        }
        self.position = start + bytes;
        self.bytes.get_mut(start..self.position).unwrap_or_default()
    }

    /// The memory after this position.
    pub fn room(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.position..).unwrap_or_default()
    }

    /// Counts `bytes` of [`room`](Self::room), which the caller has written, as part of the payload.
    pub fn advance(&mut self, bytes: usize) {
        self.claim(bytes);
    }

    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        let room = self.claim(bytes.len());
        if room.len() == bytes.len() {
            room.copy_from_slice(bytes);
        }
    }

    /// Writes zeros.
    pub fn zeros(&mut self, bytes: usize) {
        self.claim(bytes).fill(0);
    }

    /// Overwrites earlier bytes, from `position` on.
    pub(super) fn patch(&mut self, position: usize, bytes: &[u8]) {
        if let Some(written) = self.bytes.get_mut(position..).and_then(|tail| tail.get_mut(..bytes.len())) {
            written.copy_from_slice(bytes);
        }
    }

    pub(super) fn align(&mut self, bytes: usize) {
        self.zeros(padding(self.position + self.phase, bytes));
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    pub(super) fn boolean(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// The bytes of a number in this writer's byte order.
    fn in_order(&self, value: u32) -> [u8; 4] {
        match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.align(2);
        let value = if self.order == ByteOrder::Little { value } else { value.swap_bytes() };
        self.put(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.align(4);
        self.put(&self.in_order(value));
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.align(8);
        let (low, high) = (value as u32, (value >> 32) as u32);
        let (first, second) = if self.order == ByteOrder::Little { (low, high) } else { (high, low) };
        self.u32(first);
        self.u32(second);
    }

    pub(super) fn octets(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.put(bytes);
    }

    /// Writes a boolean, and a field after it if there is a value.
    pub(super) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.boolean(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Begins a sequence of octets that has a payload of its own. Alignment in the payload is counted from the
    /// payload's start.
    pub(super) fn begin_nested(&mut self) -> Nested {
        self.u32(0);
        let outer_phase = core::mem::replace(&mut self.phase, padding(self.position, 8));
        Nested { start: self.position, outer_phase }
    }

    /// Ends the sequence: writes its length, unless a field did not fit.
    pub(super) fn end_nested(&mut self, nested: Nested) {
        if self.check().is_ok() {
            let length = self.in_order((self.position - nested.start) as u32);
            self.patch(nested.start.saturating_sub(length.len()), &length);
        }
        self.phase = nested.outer_phase;
    }
}
