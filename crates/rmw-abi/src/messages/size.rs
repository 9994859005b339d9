//! Computes the length of a message in CDR.

use super::{
    fault::{Fault, Result},
    program::{Action, Item, Program},
    text,
};

/// Returns the position in CDR after a struct that begins at `position`, or after the padding that follows `position`.
/// The sum saturates.
///
/// # Safety
/// `base` points to an initialised struct of the program's type (M2).
pub(super) unsafe fn end(program: &Program, base: *const u8, mut position: usize) -> Result<usize> {
    for step in &program.steps {
        let at = base.wrapping_add(step.offset);
        let result = match &step.action {
            Action::Bytes { length, alignment } => {
                position = aligned(position, *alignment).saturating_add(*length);
                continue;
            }
            Action::Bools { .. } => continue,
            // SAFETY: the step's field lies in the struct (S1, S2).
            Action::One(item) => unsafe { item_end(item, at, position) },
            Action::Array { count, item, stride } => {
                // SAFETY: the step's array lies in the struct (S1, S2).
                unsafe { items_end(item, at, *count, *stride, position) }
            }
            Action::Sequence { sequence, item, stride } => {
                let start = aligned(position, size_of::<u32>()).saturating_add(size_of::<u32>());
                // SAFETY: the step's sequence lies in the struct (S1, S2).
                unsafe { sequence.elements(at) }.and_then(|(data, length)| match item {
                    _ if length == 0 => Ok(start),
                    Item::Block { alignment, .. } => {
                        Ok(aligned(start, *alignment).saturating_add(length.saturating_mul(*stride)))
                    }
                    // SAFETY: `data` points to the elements of the sequence.
                    _ => unsafe { items_end(item, data, length, *stride, start) },
                })
            }
        };
        position = result.map_err(|fault| fault.inside(&step.path))?;
    }
    Ok(position)
}

/// # Safety
/// `data` points to `count` elements, `stride` bytes apart.
unsafe fn items_end(item: &Item, data: *const u8, count: usize, stride: usize, mut position: usize) -> Result<usize> {
    for index in 0..count {
        // SAFETY: the promise of the caller.
        let end = unsafe { item_end(item, data.wrapping_add(index * stride), position) };
        position = end.map_err(|fault| fault.inside_element(index))?;
    }
    Ok(position)
}

/// # Safety
/// `at` points to an initialised item of this kind.
unsafe fn item_end(item: &Item, at: *const u8, position: usize) -> Result<usize> {
    let (language, bound, is_wide) = match item {
        Item::Text { language, bound } => (*language, *bound, false),
        Item::WideText { language, bound } => (*language, *bound, true),
        // SAFETY: the promise of the caller.
        Item::Message(program) => return unsafe { end(program, at, position) },
        // Blocks occur only in sequences, whose length `end` computes without this function.
        Item::Block { .. } => return Ok(position),
    };
    // SAFETY: the promise of the caller.
    let (_, length) = unsafe { text::characters(language, at) }?;
    check_bound(length, bound)?;
    let length_bytes = if is_wide { length.saturating_mul(4) } else { length.saturating_add(1) };
    Ok(aligned(position, size_of::<u32>()).saturating_add(size_of::<u32>()).saturating_add(length_bytes))
}

/// Checks that a string is not longer than its bound.
#[inline]
pub(super) fn check_bound(length: usize, bound: usize) -> Result<()> {
    if length > bound {
        return Err(Fault::new(format_args!("it has {length} characters and may have {bound}")));
    }
    Ok(())
}

/// Returns the next multiple of `alignment`, which is a power of two. Saturates at the largest multiple.
#[inline]
pub(super) fn aligned(position: usize, alignment: usize) -> usize {
    position.saturating_add(alignment - 1) & !(alignment - 1)
}
