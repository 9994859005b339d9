//! `std::string` and `std::u16string` of libstdc++ since GCC 5. Each has a pointer, a length, and 16 bytes that hold a
//! short text or the capacity of a longer one.
//!
//! libstdc++ exports a function that assigns a `std::string`, but none for `std::u16string`. This file assigns a
//! `std::u16string` itself, with the program's `operator new` and `delete`. Once in each process, [`check_layout`]
//! checks the layout on a string of a message: a message package that was built with another library (libc++) is
//! refused.
//!
//! `text.rs` states the invariant T1: the string is initialised, and no other thread changes it.

use super::{
    fault::{Fault, Result},
    probe::{operators, with_message},
    sequence::Sequence,
    structure::Count,
    text::{Language, absent, assign_wide},
};
use crate::{bindings::*, foreign::Foreign};
use std::{
    ffi::{c_char, c_void},
    sync::OnceLock,
};

/// A `std::string` or a `std::u16string`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CppString {
    pub data: *mut c_void,
    pub length: usize,
    /// The capacity. Only valid if the text is on the heap: a short text lies in these bytes.
    capacity: usize,
    unused: usize,
}

/// The number of bytes in a [`CppString`] that hold a short text and its final 0.
const LOCAL_BYTES: usize = 16;
const LOCAL_OFFSET: usize = std::mem::offset_of!(CppString, capacity);

/// Assigns the bytes of a text to a `std::string`.
///
/// # Safety
/// T1.
pub(super) unsafe fn assign(at: *mut c_void, text: &[u8]) -> Result<()> {
    type Assign = unsafe extern "C-unwind" fn(*mut c_void, *const c_char, usize) -> *mut c_void;
    // SAFETY: the C++ function is std::string &std::string::assign(const char *, size_t); its first argument is `this`.
    static ASSIGN: Foreign<Assign> = unsafe {
        Foreign::new(c"libstdc++.so.6", c"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignEPKcm")
    };
    let assign = ASSIGN.get().ok_or_else(|| absent("libstdc++.so.6"))?;
    // SAFETY: T1, and the text has this length. If there is no memory, the function throws, which ends the process.
    unsafe { assign(at, text.as_ptr().cast(), text.len()) };
    Ok(())
}

/// Sets the length of a `std::u16string`, and returns a pointer to its first unit. The values of the units are
/// arbitrary.
///
/// # Safety
/// T1.
pub(super) unsafe fn resize_wide(at: *mut CppString, length: usize) -> Result<*mut u16> {
    let local = at.wrapping_byte_add(LOCAL_OFFSET).cast::<c_void>();
    // SAFETY: T1.
    let CppString { data, capacity, .. } = unsafe { at.read() };
    let is_local = data == local;
    let room = if is_local { LOCAL_BYTES / size_of::<u16>() - 1 } else { capacity };
    let mut target = data.cast::<u16>();
    if length > room {
        let (new, delete) = operators()?;
        // SAFETY: the memory has room for the final 0. The sum does not overflow, because `length` units are in memory
        // already.
        target = unsafe { new((length + 1) * size_of::<u16>()) }.cast();
        if !is_local {
            // SAFETY: a text that is not in the struct has memory from `operator new`.
            unsafe { delete(data) };
        }
        // SAFETY: T1.
        unsafe { (*at).data = target.cast() };
        // SAFETY: T1.
        unsafe { (*at).capacity = length };
    }
    // SAFETY: T1.
    unsafe { (*at).length = length };
    // SAFETY: the memory has room for `length` units and the 0.
    unsafe { target.wrapping_add(length).write(0) };
    Ok(target)
}

/// Checks that the strings of C++ messages have libstdc++'s layout: once in each process for `std::string`, and once
/// for `std::u16string`.
///
/// # Safety
/// `member` belongs to `table`, which is a valid introspection table of C++. `count` is the count of this member.
pub(super) unsafe fn check_layout(table: &MessageMembers, member: &MessageMember, count: &Count) -> Result<()> {
    static TEXT: OnceLock<bool> = OnceLock::new();
    static WIDE_TEXT: OnceLock<bool> = OnceLock::new();
    let (known, is_wide) = match member.type_id_ {
        ROS_TYPE_STRING => (&TEXT, false),
        ROS_TYPE_WSTRING => (&WIDE_TEXT, true),
        _ => return Ok(()),
    };
    let is_as_expected = *known.get_or_init(|| {
        let compare = |field: *mut u8| {
            let at = match count {
                // SAFETY: the field is a sequence of an initialised message.
                Count::Sequence(sequence) => unsafe { with_element(sequence, field) },
                Count::One | Count::Array(_) => Some(field),
            };
            // SAFETY: `at` points to a string of an initialised message.
            at.and_then(|at| unsafe { compare(at, is_wide) })
        };
        // SAFETY: the promise of the caller.
        unsafe { with_message(table, member, compare) }.is_some()
    });
    is_as_expected.then_some(()).ok_or_else(|| {
        Fault::new("it is not a string of libstdc++ (GCC 5 or later); build the message package with that library")
    })
}

/// # Safety
/// `at` points to an initialised sequence of strings, which `sequence` can access.
unsafe fn with_element(sequence: &Sequence, at: *mut u8) -> Option<*mut u8> {
    // SAFETY: the promise of the caller.
    unsafe { sequence.resize(at, 1) }.ok().filter(|element| !element.is_null())
}

/// # Safety
/// `at` points to an initialised C++ string, from any C++ library.
unsafe fn compare(at: *mut u8, is_wide: bool) -> Option<()> {
    let looks_right = |length: Option<usize>| {
        // SAFETY: a string has at least 24 bytes in all known C++ libraries. The fourth word belongs to the message or
        // is unused.
        let CppString { data, length: found, .. } = unsafe { at.cast::<CppString>().read() };
        let unit_bytes = if is_wide { 2 } else { 1 };
        let is_local = data == at.wrapping_add(LOCAL_OFFSET).cast();
        let fits = |length: usize| (length + 1) * unit_bytes <= LOCAL_BYTES;
        let is_long = || !data.is_null() && !fits(found);
        (length.is_none_or(|length| length == found) && ((is_local && fits(found)) || is_long())).then_some(data)
    };
    looks_right(None)?;
    for text in ["gantry", "a text that is too long for the string itself"] {
        let units: Vec<[u8; 4]> = text.bytes().map(|byte| u32::from(byte).to_le_bytes()).collect();
        let done = if is_wide {
            // SAFETY: the string has libstdc++'s layout, as checked above.
            unsafe { assign_wide(Language::Cpp, at, &units) }
        } else {
            // SAFETY: the string has libstdc++'s layout, as checked above.
            unsafe { assign(at.cast(), text.as_bytes()) }
        };
        done.ok()?;
        let data = looks_right(Some(text.len()))?;
        for (index, expected) in text.bytes().enumerate() {
            let found = if is_wide {
                // SAFETY: `index` is less than the length of the assigned text.
                unsafe { data.cast::<u16>().wrapping_add(index).read() }
            } else {
                // SAFETY: `index` is less than the length of the assigned text.
                unsafe { data.cast::<u8>().wrapping_add(index).read() }.into()
            };
            if found != u16::from(expected) {
                return None;
            }
        }
    }
    Some(())
}
