//! Errors of RMW functions, with the text of the RMW's error state.

use super::functions::Functions;
use gantry_command::say;
use rmw_abi::bindings::*;
use std::{ffi::CStr, fmt};

/// A function of the RMW failed.
#[derive(Debug)]
pub struct RmwError {
    function: &'static str,
    pub code: rmw_ret_t,
    why: String,
}

impl fmt::Display for RmwError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RmwError { function, code, why } = self;
        write!(f, "{function} failed ({code}): {why}")
    }
}

impl std::error::Error for RmwError {}

/// Converts a return code: `Ok` for `RMW_RET_OK`, otherwise an error with the text of the error state, which is
/// cleared.
pub fn check(functions: &Functions, function: &'static str, code: rmw_ret_t) -> Result<(), RmwError> {
    if code == RMW_RET_OK { Ok(()) } else { Err(take(functions, function, code)) }
}

/// Logs an error of a function that ends or frees an object, and clears the error state.
pub fn check_end(functions: &Functions, function: &'static str, code: rmw_ret_t) {
    if let Err(error) = check(functions, function, code) {
        say(format_args!("an object of the network may stay there until the bridge ends: {error}"));
    }
}

/// Checks that a returned pointer is not null. Otherwise returns an error with the text of the error state, which is
/// cleared.
pub fn check_pointer<T>(functions: &Functions, function: &'static str, made: *mut T) -> Result<*mut T, RmwError> {
    if made.is_null() { Err(take(functions, function, RMW_RET_ERROR)) } else { Ok(made) }
}

#[cold]
fn take(functions: &Functions, function: &'static str, code: rmw_ret_t) -> RmwError {
    // SAFETY: the function copies the error state of this thread (R5).
    let text = unsafe { (functions.rcutils_get_error_string)() };
    // SAFETY: rcutils ends the text with a 0 inside the array.
    let why = unsafe { CStr::from_ptr(text.str.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: the function clears the error state of this thread.
    unsafe { (functions.rcutils_reset_error)() };
    RmwError { function, code, why }
}
