//! C strings of the RMW, and arrays of them.

use super::functions::Functions;
use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_char},
    ptr::null_mut,
};

/// The text of a C string, with invalid UTF-8 replaced; empty for null.
///
/// # Safety
/// Null or a string that ends with 0.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the promise of the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// An array without elements.
pub fn no_strings(functions: &Functions) -> rcutils_string_array_t {
    // SAFETY: it returns a constant (R5).
    let allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    rcutils_string_array_t { size: 0, data: null_mut(), allocator }
}

/// The texts of an array.
///
/// # Safety
/// An initialised array.
pub unsafe fn texts(array: &rcutils_string_array_t) -> Vec<String> {
    if array.data.is_null() {
        return Vec::new();
    }
    // SAFETY: an initialised array has `size` elements.
    let elements = unsafe { std::slice::from_raw_parts(array.data, array.size) };
    // SAFETY: each element is null or a string.
    elements.iter().map(|element| unsafe { text(*element) }).collect()
}
