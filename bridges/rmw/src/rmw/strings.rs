//! C strings from the RMW, and arrays of C strings.

use super::functions::Functions;
use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_char},
    ptr::null_mut,
};

/// Converts a C string to a `String`. Invalid UTF-8 is replaced; null becomes an empty text.
///
/// # Safety
/// `text` is null, or a string that ends with 0.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the promise of the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// An array of no strings.
pub fn no_strings(functions: &Functions) -> rcutils_string_array_t {
    // SAFETY: the function has no arguments and returns a constant (R5).
    let allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    rcutils_string_array_t { size: 0, data: null_mut(), allocator }
}

/// Converts an array of C strings.
///
/// # Safety
/// The array is initialised.
pub unsafe fn texts(array: &rcutils_string_array_t) -> Vec<String> {
    if array.data.is_null() {
        return Vec::new();
    }
    // SAFETY: an initialised array has `size` elements.
    let elements = unsafe { std::slice::from_raw_parts(array.data, array.size) };
    // SAFETY: each element is null or a string.
    elements.iter().map(|element| unsafe { text(*element) }).collect()
}
