//! A temporary C++ message with which the layout of C++ strings and vectors is checked. Also the memory operators of
//! C++.

use super::{fault::Result, text::absent};
use crate::{bindings::*, foreign::Foreign};
use std::{alloc, ffi::c_void};

pub(super) type New = unsafe extern "C-unwind" fn(usize) -> *mut c_void;
pub(super) type Delete = unsafe extern "C" fn(*mut c_void);

/// Returns `operator new`, which throws if there is no memory, and `operator delete`. A program may replace both:
/// operators of the program (the library named "") take precedence over libstdc++'s.
pub(super) fn operators() -> Result<(New, Delete)> {
    // SAFETY: void *operator new(size_t).
    static PROGRAM_NEW: Foreign<New> = unsafe { Foreign::new(c"", c"_Znwm") };
    // SAFETY: void operator delete(void *).
    static PROGRAM_DELETE: Foreign<Delete> = unsafe { Foreign::new(c"", c"_ZdlPv") };
    // SAFETY: as above.
    static NEW: Foreign<New> = unsafe { Foreign::new(c"libstdc++.so.6", c"_Znwm") };
    // SAFETY: as above.
    static DELETE: Foreign<Delete> = unsafe { Foreign::new(c"libstdc++.so.6", c"_ZdlPv") };
    let found = PROGRAM_NEW.get().zip(PROGRAM_DELETE.get());
    found.or_else(|| NEW.get().zip(DELETE.get())).ok_or_else(|| absent("libstdc++.so.6"))
}

/// Makes a message with default values, and passes the address of a field to `probe`. Returns `None` if the message
/// cannot be made or `probe` returns `None`.
///
/// # Safety
/// `member` belongs to `table`, which is a valid introspection table of C++.
pub(super) unsafe fn with_message<T>(
    table: &MessageMembers,
    member: &MessageMember,
    probe: impl FnOnce(*mut u8) -> Option<T>,
) -> Option<T> {
    let (init, fini) = (table.init_function?, table.fini_function?);
    let layout = alloc::Layout::from_size_align(table.size_of_.max(1), 16).ok()?;
    // SAFETY: the size is not 0.
    let memory = unsafe { alloc::alloc_zeroed(layout) };
    if memory.is_null() {
        return None;
    }
    // SAFETY: the memory is large enough for the message. The argument 0 means that all fields get their default
    // values.
    unsafe { init(memory.cast(), 0) };
    let found = probe(memory.wrapping_add(member.offset_ as usize));
    // The fields of the message are leaked if `probe` failed, because the layout is unknown and the message may be
    // damaged.
    if found.is_some() {
        // SAFETY: initialised above.
        unsafe { fini(memory.cast()) };
    }
    // SAFETY: allocated above with this layout.
    unsafe { alloc::dealloc(memory, layout) };
    found
}
