//! `std::vector` of libstdc++ (and libc++). It has three pointers: to the first element, to the end of the elements,
//! and to the end of the memory.
//!
//! `std::vector::resize` writes zeros into all new elements, although the message is copied over them next. To save
//! this, this file resizes vectors of numbers itself, with the program's `operator new`. The layout of vectors is
//! checked once in each process; with another layout, this file is not used.

use super::{
    fault::Result,
    probe::{operators, with_message},
    sequence::Sequence,
};
use crate::bindings::*;
use std::sync::OnceLock;

/// A `std::vector`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CppVector {
    begin: *mut u8,
    end: *mut u8,
    memory_end: *mut u8,
}

/// True if vectors have the expected layout. Empty before the first check.
static IS_AS_EXPECTED: OnceLock<bool> = OnceLock::new();

/// True if the caller may use [`resize`].
#[inline]
pub(super) fn is_as_expected() -> bool {
    IS_AS_EXPECTED.get() == Some(&true)
}

/// Sets the length of a vector of numbers or plain structs, and returns a pointer to its first element. The values of
/// the elements are arbitrary.
///
/// # Safety
/// `at` points to such a vector. The vector is initialised, and vectors have the expected layout.
pub(super) unsafe fn resize(at: *mut CppVector, length_bytes: usize) -> Result<*mut u8> {
    // SAFETY: the promise of the caller.
    let CppVector { begin, memory_end, .. } = unsafe { at.read() };
    if memory_end.addr() - begin.addr() >= length_bytes {
        // SAFETY: the promise of the caller.
        unsafe { (*at).end = begin.wrapping_add(length_bytes) };
        return Ok(begin);
    }
    let (new, delete) = operators()?;
    // SAFETY: `operator new` accepts any size. If there is no memory, it throws, which ends the process.
    let begin_now = unsafe { new(length_bytes) }.cast::<u8>();
    let end = begin_now.wrapping_add(length_bytes);
    // SAFETY: the promise of the caller.
    unsafe { at.write(CppVector { begin: begin_now, end, memory_end: end }) };
    if !begin.is_null() {
        // SAFETY: the old memory comes from `operator new`, and the vector does not use it any more. Numbers need no
        // destruction.
        unsafe { delete(begin.cast()) };
    }
    Ok(begin_now)
}

/// Makes a vector without memory point to elements that it does not own.
///
/// # Safety
/// `at` points to a vector of numbers or plain structs. The vector is initialised, and vectors have the expected
/// layout. The vector is neither changed nor destroyed while it points to the elements.
pub(super) unsafe fn point_to(at: *mut CppVector, elements: &[u8]) {
    let begin = elements.as_ptr().cast_mut();
    let end = begin.wrapping_add(elements.len());
    // SAFETY: the promise of the caller.
    unsafe { at.write(CppVector { begin, end, memory_end: end }) };
}

/// Checks the layout of a vector of numbers, if no vector was checked before. An element has `stride` bytes.
///
/// # Safety
/// `member` is a vector of numbers in `table`, which is a valid introspection table of C++.
pub(super) unsafe fn check_layout(table: &MessageMembers, member: &MessageMember, sequence: &Sequence, stride: usize) {
    const LENGTHS: [usize; 2] = [3, 1000];
    if sequence.bound().is_some() || sequence.is_bits() {
        return;
    }
    IS_AS_EXPECTED.get_or_init(|| {
        let probe = |at: *mut u8| {
            for length in LENGTHS {
                if length == LENGTHS[0] {
                    // SAFETY: `at` points to a sequence of an initialised message.
                    unsafe { sequence.resize(at, length) }.ok()?;
                } else {
                    // SAFETY: the vector had the expected layout at the first length.
                    unsafe { resize(at.cast(), length * stride) }.ok()?;
                }
                // SAFETY: as above.
                let (data, found) = unsafe { sequence.elements(at) }.ok()?;
                // SAFETY: the struct of each sequence has at least three words (S1).
                let CppVector { begin, end, memory_end } = unsafe { at.cast::<CppVector>().read() };
                let has_length = end.addr().checked_sub(begin.addr()) == Some(length * stride) && memory_end >= end;
                if data != begin.cast_const() || found != length || !has_length {
                    return None;
                }
            }
            Some(())
        };
        // SAFETY: the promise of the caller.
        unsafe { with_message(table, member, probe) }.is_some()
    });
}
