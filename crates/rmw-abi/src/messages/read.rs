//! Reads messages from CDR.
//!
//! Another process may write the bytes during the read. So a length is loaded only once, and a value is checked after
//! it was copied.

use super::{
    fault::{Fault, Result},
    program::{Action, Item, Program, Step},
    sequence::Sequence,
    size::{aligned, check_bound},
    text,
};

/// The CDR bytes of a message, and the current position in them.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, position: 0 }
    }

    /// The current position, for error texts.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Reads a struct.
    ///
    /// # Safety
    /// `base` points to an initialised struct of the program's type (M2).
    pub unsafe fn program(&mut self, program: &Program, base: *mut u8) -> Result<()> {
        for step in &program.steps {
            let at = base.wrapping_add(step.offset);
            // SAFETY: the step's field lies in the struct (S1, S2).
            unsafe { self.step(step, at) }.map_err(|fault| fault.inside(&step.path))?;
        }
        Ok(())
    }

    /// Returns the elements of the next sequence of numbers or plain structs, and a reader whose position is after
    /// them.
    pub fn block(&self, stride: usize, alignment: usize) -> Result<(&'a [u8], Reader<'a>)> {
        let mut after = Reader { bytes: self.bytes, position: self.position };
        let length = after.length()?;
        // A sequence of length 0 has no elements, and no padding either.
        let elements = if length == 0 { &[] } else { after.take(length.saturating_mul(stride), alignment)? };
        Ok((elements, after))
    }

    /// Reads a field.
    ///
    /// # Safety
    /// `at` points to the field of the step.
    #[inline]
    pub unsafe fn step(&mut self, step: &Step, at: *mut u8) -> Result<()> {
        match &step.action {
            Action::Bytes { length, alignment } => {
                let source = self.take(*length, *alignment)?;
                // SAFETY: the promise of the caller; the message and the bytes do not overlap.
                unsafe { source.as_ptr().copy_to_nonoverlapping(at, *length) };
                Ok(())
            }
            // SAFETY: the promise of the caller; the step before this one initialised the booleans.
            Action::Bools { count, .. } => unsafe { check_bools(at, *count) },
            // SAFETY: the promise of the caller.
            Action::One(item) => unsafe { self.item(item, at) },
            Action::Array { count, item, stride } => {
                // SAFETY: the promise of the caller.
                unsafe { self.items(item, at, *count, *stride) }
            }
            Action::Sequence { sequence, item, stride } => {
                // SAFETY: the promise of the caller.
                unsafe { self.sequence(sequence, item, *stride, at) }
            }
        }
    }

    /// # Safety
    /// `at` points to an initialised sequence of this kind.
    unsafe fn sequence(&mut self, sequence: &Sequence, item: &Item, stride: usize, at: *mut u8) -> Result<()> {
        let length = sequence.checked(self.length()?)?;
        // A wrong length must not allocate much memory, so it is compared with the bytes that are left.
        let least_bytes = length.saturating_mul(item.min_bytes(stride));
        let left_bytes = self.bytes.len() - self.position;
        if least_bytes > left_bytes {
            return Err(too_short(least_bytes, left_bytes));
        }
        let Item::Block { alignment, is_bool } = item else {
            // SAFETY: the promise of the caller.
            let data = unsafe { sequence.resize(at, length) }?;
            // SAFETY: `data` points to the elements of the sequence.
            return unsafe { self.items(item, data, length, stride) };
        };
        // A sequence of length 0 has no elements, and no padding either.
        let source = if length == 0 { &[] } else { self.take(length.saturating_mul(stride), *alignment)? };
        // SAFETY: the promise of the caller.
        let data = unsafe { sequence.resize_to_write(at, length, stride) }?;
        if sequence.is_bits() {
            for (index, byte) in source.iter().enumerate() {
                let bit = std::hint::black_box(*byte);
                if bit > 1 {
                    return Err(not_a_bool(bit).inside_element(index));
                }
                // SAFETY: the promise of the caller; the index is below the length.
                unsafe { sequence.set_bit(at, index, bit == 1) };
            }
        } else if length > 0 {
            // SAFETY: the elements have `length · stride` bytes, and do not overlap the CDR bytes.
            unsafe { source.as_ptr().copy_to_nonoverlapping(data, source.len()) };
            if *is_bool {
                // SAFETY: the elements were copied just now.
                unsafe { check_bools(data, length) }?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// `data` points to `count` elements, `stride` bytes apart.
    unsafe fn items(&mut self, item: &Item, data: *mut u8, count: usize, stride: usize) -> Result<()> {
        for index in 0..count {
            // SAFETY: the promise of the caller.
            let done = unsafe { self.item(item, data.wrapping_add(index * stride)) };
            done.map_err(|fault| fault.inside_element(index))?;
        }
        Ok(())
    }

    /// # Safety
    /// `at` points to an initialised item of this kind.
    unsafe fn item(&mut self, item: &Item, at: *mut u8) -> Result<()> {
        match item {
            Item::Text { language, bound } => {
                let length = self.length()?;
                let bytes = self.take(length, 1)?;
                // Some RMWs write an empty string without its terminating 0.
                let text = match bytes.split_last() {
                    None => &[],
                    Some((0, text)) => text,
                    Some(_) => return Err(Fault::new("its text does not end in 0")),
                };
                check_bound(text.len(), *bound)?;
                // SAFETY: the promise of the caller.
                unsafe { text::assign(*language, at, text) }
            }
            Item::WideText { language, bound } => {
                let length = self.length()?;
                check_bound(length, *bound)?;
                let units = self.take(length.saturating_mul(4), 4)?.as_chunks::<4>().0;
                // SAFETY: the promise of the caller.
                unsafe { text::assign_wide(*language, at, units) }
            }
            // SAFETY: the promise of the caller.
            Item::Message(program) => unsafe { self.program(program, at) },
            // `sequence` reads the elements of a block.
            Item::Block { .. } => Ok(()),
        }
    }

    fn length(&mut self) -> Result<usize> {
        let bytes = self.take(4, 4)?;
        let length = bytes.first_chunk::<4>().copied().map(u32::from_le_bytes);
        // `black_box` keeps the compiler from loading the value twice: the checked value must be the used value, even
        // if another process changes the bytes meanwhile.
        Ok(std::hint::black_box(length.unwrap_or_default()) as usize)
    }

    /// Skips padding, and returns the next `length` bytes.
    #[inline]
    fn take(&mut self, length: usize, alignment: usize) -> Result<&'a [u8]> {
        let start = aligned(self.position, alignment);
        let end = start.saturating_add(length);
        let Some(bytes) = self.bytes.get(start..end) else {
            return Err(too_short(length, self.bytes.len().saturating_sub(start)));
        };
        self.position = end;
        Ok(bytes)
    }
}

/// Checks that all bytes are 0 or 1. Sets other bytes to 0, so that the message stays valid, and returns an error.
///
/// # Safety
/// `at` points to `count` initialised bytes of a message that no other thread uses.
unsafe fn check_bools(at: *mut u8, count: usize) -> Result<()> {
    // SAFETY: the promise of the caller.
    let bools = unsafe { std::slice::from_raw_parts_mut(at, count) };
    let mut wrong = None;
    for byte in bools.iter_mut().filter(|byte| **byte > 1) {
        wrong = wrong.or(Some(*byte));
        *byte = 0;
    }
    wrong.map_or(Ok(()), |value| Err(not_a_bool(value)))
}

#[cold]
fn not_a_bool(value: u8) -> Fault {
    Fault::new(format_args!("a boolean is {value}; it may be 0 or 1"))
}

#[cold]
fn too_short(needed_bytes: usize, left_bytes: usize) -> Fault {
    Fault::new(format_args!("{needed_bytes} bytes are needed and {left_bytes} are left"))
}
