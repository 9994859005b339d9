//! Writes messages as CDR.

use super::{
    fault::{Fault, Result},
    program::{Action, Item, Program, Step},
    sequence::Sequence,
    size::{aligned, check_bound},
    text,
};

/// The memory for the CDR of a message, and the current position in it.
pub(super) struct Writer<'a> {
    target: &'a mut [u8],
    position: usize,
}

impl<'a> Writer<'a> {
    pub fn new(target: &'a mut [u8]) -> Writer<'a> {
        Writer { target, position: 0 }
    }

    /// The number of bytes that are not written yet.
    pub fn left_bytes(&self) -> usize {
        self.target.len() - self.position
    }

    /// Writes a struct.
    ///
    /// # Safety
    /// `base` points to an initialised struct of the program's type (M2).
    pub unsafe fn program(&mut self, program: &Program, base: *const u8) -> Result<()> {
        for step in &program.steps {
            let at = base.wrapping_add(step.offset);
            // SAFETY: the step's field lies in the struct (S1, S2).
            unsafe { self.step(step, at) }.map_err(|fault| fault.inside(&step.path))?;
        }
        Ok(())
    }

    /// # Safety
    /// `at` points to the field of the step.
    #[inline]
    unsafe fn step(&mut self, step: &Step, at: *const u8) -> Result<()> {
        match &step.action {
            Action::Bytes { length, alignment } => {
                // SAFETY: the promise of the caller.
                unsafe { self.bytes(at, *length, *alignment) }
            }
            Action::Bools { back, count } => {
                let start = self.position.saturating_sub(*back);
                let bools = self.target.get_mut(start..).and_then(|tail| tail.get_mut(..*count));
                normalise(bools.unwrap_or_default());
                Ok(())
            }
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
    unsafe fn sequence(&mut self, sequence: &Sequence, item: &Item, stride: usize, at: *const u8) -> Result<()> {
        // SAFETY: the promise of the caller.
        let (data, length) = unsafe { sequence.elements(at) }?;
        self.length(length)?;
        match item {
            Item::Block { .. } if length == 0 => Ok(()),
            Item::Block { .. } if sequence.is_bits() => {
                for (index, byte) in self.take(length, 1)?.iter_mut().enumerate() {
                    // SAFETY: the promise of the caller; the index is below the length.
                    *byte = unsafe { sequence.bit(at, index) }.into();
                }
                Ok(())
            }
            Item::Block { alignment, is_bool } => {
                let length_bytes = length.saturating_mul(stride);
                // SAFETY: `data` points to the elements of the sequence.
                unsafe { self.bytes(data, length_bytes, *alignment) }?;
                if *is_bool {
                    normalise(&mut self.target[self.position - length_bytes..self.position]);
                }
                Ok(())
            }
            // SAFETY: `data` points to the elements of the sequence.
            _ => unsafe { self.items(item, data, length, stride) },
        }
    }

    /// # Safety
    /// `data` points to `count` elements, `stride` bytes apart.
    unsafe fn items(&mut self, item: &Item, data: *const u8, count: usize, stride: usize) -> Result<()> {
        for index in 0..count {
            // SAFETY: the promise of the caller.
            let done = unsafe { self.item(item, data.wrapping_add(index * stride)) };
            done.map_err(|fault| fault.inside_element(index))?;
        }
        Ok(())
    }

    /// # Safety
    /// `at` points to an initialised item of this kind.
    unsafe fn item(&mut self, item: &Item, at: *const u8) -> Result<()> {
        match item {
            Item::Text { language, bound } => {
                // SAFETY: the promise of the caller.
                let (data, length) = unsafe { text::characters(*language, at) }?;
                check_bound(length, *bound)?;
                self.length(length.saturating_add(1))?;
                // SAFETY: `data` points to the characters of the string.
                unsafe { self.bytes(data, length, 1) }?;
                self.take(1, 1)?.fill(0);
                Ok(())
            }
            Item::WideText { language, bound } => {
                // SAFETY: the promise of the caller.
                let (data, length) = unsafe { text::characters(*language, at) }?;
                check_bound(length, *bound)?;
                self.length(length)?;
                let target = self.take(length.saturating_mul(4), 4)?;
                for (index, four) in target.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    // SAFETY: `index` is less than the length of the string.
                    let unit = unsafe { data.cast::<u16>().wrapping_add(index).read() };
                    *four = u32::from(unit).to_le_bytes();
                }
                Ok(())
            }
            // SAFETY: the promise of the caller.
            Item::Message(program) => unsafe { self.program(program, at) },
            // `sequence` writes the elements of a block.
            Item::Block { .. } => Ok(()),
        }
    }

    fn length(&mut self, length: usize) -> Result<()> {
        let Ok(length) = u32::try_from(length) else {
            return Err(Fault::new(format_args!("its length is {length}, and CDR has 32 bits for it")));
        };
        self.take(4, 4)?.copy_from_slice(&length.to_le_bytes());
        Ok(())
    }

    /// # Safety
    /// `source` points to `length` bytes.
    #[inline]
    unsafe fn bytes(&mut self, source: *const u8, length: usize, alignment: usize) -> Result<()> {
        let target = self.take(length, alignment)?;
        if length > 0 {
            // SAFETY: the promise of the caller. `target` has this length, and does not overlap the program's message.
            unsafe { source.copy_to_nonoverlapping(target.as_mut_ptr(), length) };
        }
        Ok(())
    }

    /// Writes zeros as padding, and returns the next `length` bytes of the target.
    #[inline]
    fn take(&mut self, length: usize, alignment: usize) -> Result<&mut [u8]> {
        let start = aligned(self.position, alignment);
        let end = start.saturating_add(length);
        if end > self.target.len() {
            return Err(grown(end, self.target.len()));
        }
        if start > self.position {
            self.target[self.position..start].fill(0);
        }
        self.position = end;
        Ok(&mut self.target[start..end])
    }
}

/// Sets each nonzero byte to 1: an uninitialised boolean in C may have any value, but readers accept only 0 and 1.
fn normalise(bools: &mut [u8]) {
    bools.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
}

#[cold]
fn grown(needed_bytes: usize, length_bytes: usize) -> Fault {
    Fault::new(format_args!(
        "the message needs {needed_bytes} bytes and had {length_bytes} when it was measured, so another thread changes it while it \
         is published"
    ))
}
