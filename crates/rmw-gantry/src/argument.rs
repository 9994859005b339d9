//! The arguments of C functions: strings, pointers to values, and output pointers. Also the check of an object's
//! implementation identifier.
//!
//! `crate::handle` defines *the contract of rmw*.

use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{
    ffi::{CStr, CString, c_char},
    mem::MaybeUninit,
};

/// The name of this implementation.
pub const IDENTIFIER: &CStr = c"rmw_gantry";

/// # Errors
/// The object belongs to another implementation.
///
/// # Safety
/// `identifier` is null, or a string that ends with 0.
pub unsafe fn check_identifier(name: &str, identifier: *const c_char) -> Result<()> {
    if identifier == IDENTIFIER.as_ptr() {
        return Ok(());
    }
    if identifier.is_null() {
        return Err(Failure::invalid(format_args!(
            "the {name} is not initialized: it has no implementation identifier"
        )));
    }
    // SAFETY: the promise of the caller.
    let found = unsafe { CStr::from_ptr(identifier) };
    if found == IDENTIFIER {
        return Ok(()); // the same text at another address
    }
    let sentence = format!(
        "the {name} is of the RMW implementation {}, not of rmw_gantry: all of a process must use one",
        found.to_string_lossy()
    );
    Err(Failure { code: RMW_RET_INCORRECT_RMW_IMPLEMENTATION, sentence })
}

/// Converts a C string to a `&str`. `argument` is the name of the argument, for the error text.
///
/// # Errors
/// `text` is null or not UTF-8.
///
/// # Safety
/// `text` is null, or a string that ends with 0 and lives as long as the result is used.
pub unsafe fn text<'a>(argument: &str, text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: the promise of the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format_args!("the argument {argument} is not UTF-8: {text:?}")))
}

/// Returns a reference to the value behind a pointer. `name` is the name of the argument, for the error text.
///
/// # Errors
/// `pointer` is null.
///
/// # Safety
/// `pointer` is null, or points to an initialized value that no thread writes as long as the result is used.
pub unsafe fn argument<'a, T>(name: &str, pointer: *const T) -> Result<&'a T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(name))
}

/// An output argument: the C function writes it and never reads it, so its memory may be uninitialized.
pub struct Output<'a, T>(&'a mut MaybeUninit<T>);

impl<T> Output<'_, T> {
    pub fn set(&mut self, value: T) {
        self.0.write(value);
    }
}

/// Converts an output pointer of a C function to an [`Output`]. `name` is the name of the argument, for the error text.
///
/// # Errors
/// `pointer` is null.
///
/// # Safety
/// `pointer` is null, or points to memory for a value that no other code uses as long as the result is used.
pub unsafe fn output<'a, T>(name: &str, pointer: *mut T) -> Result<Output<'a, T>> {
    // SAFETY: the promise of the caller; a `MaybeUninit` may have any bytes.
    let memory = unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() };
    memory.map(Output).ok_or_else(|| Failure::null(name))
}

/// Returns a reference to a value that the C function reads and writes. `name` is the argument's name, for the error
/// text.
///
/// # Errors
/// `pointer` is null.
///
/// # Safety
/// `pointer` is null, or points to an initialized value that no other code uses as long as the result is used.
pub unsafe fn in_out<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::null(name))
}

/// Converts a name to a C string, which ends with a zero byte.
///
/// # Errors
/// The name contains a zero byte.
pub fn c_string(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Failure::invalid(format_args!("the name {name:?} has a zero byte in it")))
}
