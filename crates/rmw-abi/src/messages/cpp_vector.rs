//! `std::vector` of libstdc++ (and libc++): pointers to the first element, to the end of the elements and to the
//! end of the memory.
//!
//! `resize` of a vector writes zeros into all new elements before the message is copied there. Vectors of numbers
//! therefore get their memory from this file, with the program's `operator new`, if the layout is as expected. The
//! layout is checked once in each process; if it is not as expected, `resize` is used.

use super::{
    fault::Result,
    probe::{operators, with_message},
    sequence::Sequence,
};
use crate::bindings::*;
use std::sync::OnceLock;

/// A vector.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CppVector {
    begin: *mut u8,
    end: *mut u8,
    memory_end: *mut u8,
}

/// Whether vectors have the expected layout; not set before the first check.
static IS_AS_EXPECTED: OnceLock<bool> = OnceLock::new();

/// Whether [`resize`] may be used.
#[inline]
pub(super) fn is_as_expected() -> bool {
    IS_AS_EXPECTED.get() == Some(&true)
}

/// Gives a vector of numbers or plain structs this length, and returns a pointer to its first element. The values
/// of the elements are arbitrary.
///
/// # Safety
/// `at` is such a vector, initialised and of the expected layout.
pub(super) unsafe fn resize(at: *mut CppVector, length_bytes: usize) -> Result<*mut u8> {
    // SAFETY: the promise of the caller.
    let CppVector { begin, memory_end, .. } = unsafe { at.read() };
    if memory_end.addr() - begin.addr() >= length_bytes {
        // SAFETY: the promise of the caller.
        unsafe { (*at).end = begin.wrapping_add(length_bytes) };
        return Ok(begin);
    }
    let (new, delete) = operators()?;
    // SAFETY: a plain allocation. The function throws if there is no memory, which ends the process.
    let begin_now = unsafe { new(length_bytes) }.cast::<u8>();
    let end = begin_now.wrapping_add(length_bytes);
    // SAFETY: the promise of the caller.
    unsafe { at.write(CppVector { begin: begin_now, end, memory_end: end }) };
    if !begin.is_null() {
        // SAFETY: the old memory comes from `operator new`, and the vector has other memory now. The elements need
        // no destruction.
        unsafe { delete(begin.cast()) };
    }
    Ok(begin_now)
}

/// Lets a vector without memory point to elements elsewhere.
///
/// # Safety
/// `at` is such a vector, initialised and of the expected layout. It is neither changed nor destroyed while it
/// points to the elements.
pub(super) unsafe fn point_to(at: *mut CppVector, elements: &[u8]) {
    let begin = elements.as_ptr().cast_mut();
    let end = begin.wrapping_add(elements.len());
    // SAFETY: the promise of the caller.
    unsafe { at.write(CppVector { begin, end, memory_end: end }) };
}

/// Checks the layout of a vector whose elements of `stride` bytes have only numbers, if no vector was checked before.
///
/// # Safety
/// `member` is such a vector, in `table`, which is a valid table of C++.
pub(super) unsafe fn check_layout(table: &MessageMembers, member: &MessageMember, sequence: &Sequence, stride: usize) {
    const LENGTHS: [usize; 2] = [3, 1000];
    if sequence.bound().is_some() || sequence.is_bits() {
        return;
    }
    IS_AS_EXPECTED.get_or_init(|| {
        let probe = |at: *mut u8| {
            for length in LENGTHS {
                if length == LENGTHS[0] {
                    // SAFETY: a sequence of an initialised message.
                    unsafe { sequence.resize(at, length) }.ok()?;
                } else {
                    // SAFETY: a vector that had the expected layout.
                    unsafe { resize(at.cast(), length * stride) }.ok()?;
                }
                // SAFETY: as above.
                let (data, found) = unsafe { sequence.elements(at) }.ok()?;
                // SAFETY: a sequence has three words at least (S1).
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
