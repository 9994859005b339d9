//! Reads and assigns strings in messages: the strings of `rosidl_runtime_c`, `std::string` and `std::u16string`.
//!
//! # Invariant
//! T1: `at` points to an initialised string of the language, which no other thread changes. ROS 2 forbids a change of a
//! message during its publication; against programs that do it anyway, each length is checked where it is used.

use super::{
    cpp_string::{self, CppString},
    fault::{Fault, Result},
};
use crate::{bindings::*, foreign::Foreign};
use std::ffi::c_char;

/// The language of the message structs. C and C++ have different string and sequence types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cpp,
}

/// The size of a string's struct in bytes.
pub(super) fn struct_bytes(language: Language) -> usize {
    match language {
        Language::C => size_of::<rosidl_runtime_c__String>(),
        Language::Cpp => size_of::<CppString>(),
    }
}

/// Returns the address of the first character, and the number of characters: bytes of a string, UTF-16 units of a wide
/// string.
///
/// # Safety
/// T1.
#[inline]
pub(super) unsafe fn characters(language: Language, at: *const u8) -> Result<(*const u8, usize)> {
    match language {
        Language::C => {
            // `rosidl_runtime_c__U16String` has the same layout as `rosidl_runtime_c__String`. SAFETY: T1.
            let rosidl_runtime_c__String { data, size, capacity } =
                unsafe { at.cast::<rosidl_runtime_c__String>().read() };
            if data.is_null() && size > 0 {
                return Err(Fault::new(format_args!("its size is {size}, but its data is null")));
            }
            if !data.is_null() && capacity <= size {
                let sentence =
                    format_args!("its size is {size} and its capacity {capacity}, which must be greater").to_string();
                return Err(Fault::new(sentence));
            }
            Ok((data.cast_const().cast(), size))
        }
        Language::Cpp => {
            // SAFETY: T1.
            let CppString { data, length, .. } = unsafe { at.cast::<CppString>().read() };
            Ok((data.cast_const().cast(), length))
        }
    }
}

/// Assigns the bytes `text` to a string.
///
/// # Safety
/// T1.
pub(super) unsafe fn assign(language: Language, at: *mut u8, text: &[u8]) -> Result<()> {
    match language {
        // SAFETY: T1.
        Language::C => unsafe { assign_c(at.cast(), text) },
        // SAFETY: T1.
        Language::Cpp => unsafe { cpp_string::assign(at.cast(), text) },
    }
}

/// # Safety
/// T1.
unsafe fn assign_c(at: *mut rosidl_runtime_c__String, text: &[u8]) -> Result<()> {
    type Assign = unsafe extern "C" fn(*mut rosidl_runtime_c__String, *const c_char, usize) -> bool;
    // SAFETY: rosidl_runtime_c/string_functions.h.
    static ASSIGN: Foreign<Assign> =
        unsafe { Foreign::new(c"librosidl_runtime_c.so", c"rosidl_runtime_c__String__assignn") };
    // SAFETY: T1.
    let rosidl_runtime_c__String { data, capacity, .. } = unsafe { at.read() };
    if data.is_null() || capacity <= text.len() {
        let assign = ASSIGN.get().ok_or_else(|| absent("librosidl_runtime_c.so"))?;
        // SAFETY: T1, and `text` has this length.
        let is_done = unsafe { assign(at, text.as_ptr().cast(), text.len()) };
        return is_done.then_some(()).ok_or_else(|| no_memory(text.len()));
    }
    // SAFETY: the string has room for the text and its 0. The text does not overlap the message.
    unsafe { text.as_ptr().copy_to_nonoverlapping(data.cast(), text.len()) };
    // SAFETY: as above.
    unsafe { data.wrapping_add(text.len()).write(0) };
    // SAFETY: T1.
    unsafe { (*at).size = text.len() };
    Ok(())
}

/// Assigns UTF-16 units to a wide string. Each unit has four bytes in CDR.
///
/// # Safety
/// T1.
pub(super) unsafe fn assign_wide(language: Language, at: *mut u8, units: &[[u8; 4]]) -> Result<()> {
    let data = match language {
        // SAFETY: T1.
        Language::C => unsafe { resize_wide_c(at.cast(), units.len()) }?,
        // SAFETY: T1.
        Language::Cpp => unsafe { cpp_string::resize_wide(at.cast(), units.len()) }?,
    };
    let mut wrong = None;
    for (index, unit) in units.iter().enumerate() {
        let unit = u32::from_le_bytes(*unit);
        let value = u16::try_from(unit).unwrap_or_else(|_| {
            wrong = Some(unit);
            u16::from(b'?')
        });
        // SAFETY: `index` is less than the length of the string.
        unsafe { data.wrapping_add(index).write(value) };
    }
    match wrong {
        Some(unit) => Err(Fault::new(format_args!("one of its characters is {unit:#x}, which is not a UTF-16 unit"))),
        None => Ok(()),
    }
}

/// # Safety
/// T1.
unsafe fn resize_wide_c(at: *mut rosidl_runtime_c__U16String, length: usize) -> Result<*mut u16> {
    type Resize = unsafe extern "C" fn(*mut rosidl_runtime_c__U16String, usize) -> bool;
    // SAFETY: rosidl_runtime_c/u16string_functions.h.
    static RESIZE: Foreign<Resize> =
        unsafe { Foreign::new(c"librosidl_runtime_c.so", c"rosidl_runtime_c__U16String__resize") };
    // SAFETY: T1.
    let rosidl_runtime_c__U16String { data, capacity, .. } = unsafe { at.read() };
    if !data.is_null() && capacity > length {
        // SAFETY: T1.
        unsafe { (*at).size = length };
        // SAFETY: the string has room for the 0.
        unsafe { data.wrapping_add(length).write(0) };
        return Ok(data);
    }
    let resize = RESIZE.get().ok_or_else(|| absent("librosidl_runtime_c.so"))?;
    // SAFETY: T1. The function writes the terminating 0.
    if !unsafe { resize(at, length) } {
        return Err(no_memory(length));
    }
    // SAFETY: T1.
    Ok(unsafe { (*at).data })
}

#[cold]
pub(super) fn absent(library: &str) -> Fault {
    Fault::new(format_args!("{library} is not to be found, which a process that uses this type has"))
}

#[cold]
fn no_memory(length: usize) -> Fault {
    Fault::new(format_args!("there is no memory for its {length} characters"))
}
