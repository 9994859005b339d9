//! Converts the arguments of C functions: handles, strings, arrays and outputs.

use crate::{
    abi::{OK, Status},
    border::failure::{Failure, Result, run},
};
use std::{
    ffi::{CStr, CString, c_char},
    mem::MaybeUninit,
    time::Duration,
};

/// The error of an argument that is NULL.
#[cold]
pub fn null(name: &str) -> Failure {
    Failure::invalid(format_args!("the argument {name} is NULL"))
}

/// Converts a pointer to a handle or a struct that the function only reads. `name` is the argument's name, for the
/// error text.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H1 or H2.
#[inline]
pub unsafe fn shared<'a, T>(name: &str, pointer: *const T) -> Result<&'a T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Converts a pointer to a handle or a struct that the function changes. `name` is the argument's name, for the error
/// text.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H1, H2 or H3.
#[inline]
pub unsafe fn exclusive<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Memory of the caller for a value that the function returns. The function writes it and never reads it.
#[derive(Debug)]
pub struct Output<'a, T>(&'a mut MaybeUninit<T>);

impl<T> Output<'_, T> {
    /// Writes the value.
    #[inline]
    pub fn set(self, value: T) {
        self.0.write(value);
    }
}

/// Converts a pointer to the caller's memory for a value.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn output<'a, T>(name: &str, pointer: *mut T) -> Result<Output<'a, T>> {
    // SAFETY: the promise of the caller; a `MaybeUninit` may have any bytes.
    unsafe { optional_output(pointer) }.ok_or_else(|| null(name))
}

/// Converts a pointer to the caller's memory for a value. `None` if the pointer is NULL, because the caller does not
/// need the value.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn optional_output<'a, T>(pointer: *mut T) -> Option<Output<'a, T>> {
    // SAFETY: H2, which the caller promises; a `MaybeUninit` may have any bytes.
    unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() }.map(Output)
}

/// A text.
///
/// # Errors
/// `pointer` is NULL or not UTF-8.
///
/// # Safety
/// H2.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the promise of the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::invalid(format_args!("the argument {name} is not UTF-8: {text:?}")))
}

/// Converts an array of `count` strings.
///
/// # Errors
/// A string is NULL or not UTF-8; or `array` is NULL although `count` is not 0; or `count` is larger than memory.
///
/// # Safety
/// H2.
pub unsafe fn texts(name: &str, array: *const *const c_char, count: usize) -> Result<Vec<String>> {
    // SAFETY: the promise of the caller.
    let pointers = unsafe { elements(name, array, count) }?;
    // SAFETY: as above, for each element.
    pointers.iter().map(|&pointer| unsafe { text(name, pointer) }.map(str::to_owned)).collect()
}

/// Converts an array of `count` elements. For an empty array, the pointer may be NULL.
///
/// # Errors
/// `array` is NULL although `count` is not 0, or `count` is larger than memory.
///
/// # Safety
/// H2.
pub unsafe fn elements<'a, T>(name: &str, array: *const T, count: usize) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if array.is_null() {
        return Err(Failure::invalid(format_args!("the argument {name} is NULL, but its count is {count}")));
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::invalid(format_args!(
            "the argument {name} has {count} elements, which is too large: check that the number is not negative"
        )));
    }
    // SAFETY: the promise of the caller.
    Ok(unsafe { std::slice::from_raw_parts(array, count) })
}

/// Converts the bytes of a message. For an empty message, the pointer may be NULL.
///
/// # Errors
/// `pointer` is NULL although `size` is not 0, or `size` is larger than memory.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn bytes<'a>(name: &str, pointer: *const u8, size: usize) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(name));
    }
    if isize::try_from(size).is_err() {
        return Err(Failure::invalid(format_args!(
            "the argument {name} has {size} bytes, which is too large: check that the number is not negative"
        )));
    }
    // SAFETY: the promise of the caller.
    Ok(unsafe { std::slice::from_raw_parts(pointer, size) })
}

/// Converts a time-out in ns; a negative value means no limit.
pub fn timeout(timeout_ns: i64) -> Duration {
    u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos)
}

/// Converts a text to a C string. A zero byte in the text, which can only come from another process, becomes `\0`.
pub fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "\\0")).unwrap_or_default())
}

/// Writes a new handle to `*handle`, or NULL if `make` fails. `name` is the argument's name, for the error text.
///
/// # Safety
/// H2.
pub unsafe fn create<T>(name: &str, handle: *mut *mut T, make: impl FnOnce() -> Result<T>) -> Status {
    run(|| {
        // SAFETY: H2; a `MaybeUninit` may have any bytes.
        let output = unsafe { handle.cast::<MaybeUninit<*mut T>>().as_mut() }.ok_or_else(|| null(name))?;
        output.write(std::ptr::null_mut());
        output.write(Box::into_raw(Box::new(make()?)));
        Ok(OK)
    })
}

/// Destroys a handle; NULL has no effect.
///
/// # Safety
/// H1, and the program does not use the handle after this call.
pub unsafe fn destroy<T>(handle: *mut T) {
    run(|| {
        if !handle.is_null() {
            // SAFETY: the promise of the caller: `create` made the handle.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(OK)
    });
}
