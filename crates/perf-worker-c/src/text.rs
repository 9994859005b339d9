//! Conversions between C strings and Rust strings.

use std::ffi::{CStr, CString, c_char};

/// Copies a C string; `None` if it is NULL. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `pointer` must keep the promise H2 of the header.
pub unsafe fn from_c(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: `pointer` is not NULL, so it is a string by promise H2 of the header.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}

/// Copies a required text from C. `name` is its name in the error.
///
/// # Errors
/// The reason, as a sentence, if the text is NULL or empty.
///
/// # Safety
/// `pointer` must keep the promise H2 of the header.
pub unsafe fn required(pointer: *const c_char, name: &str) -> Result<String, String> {
    // SAFETY: the caller's promise.
    let text = unsafe { from_c(pointer) };
    text.filter(|text| !text.is_empty()).ok_or_else(|| format!("{name} is NULL or empty"))
}

/// Copies the strings of an array that ends with NULL. The result is empty if the array itself is NULL.
///
/// # Safety
/// `array` and its strings must keep the promise H2 of the header.
pub unsafe fn all_from_c(array: *const *const c_char) -> Vec<String> {
    let mut texts = Vec::new();
    if array.is_null() {
        return texts;
    }
    loop {
        // SAFETY: promise H2 of the header; no earlier element was the NULL at the end of the array.
        let element = unsafe { array.add(texts.len()) };
        // SAFETY: H2, as before.
        let pointer = unsafe { *element };
        // SAFETY: H2.
        match unsafe { from_c(pointer) } {
            Some(text) => texts.push(text),
            None => return texts,
        }
    }
}

/// Strings for C, which live as long as this value.
#[derive(Default)]
pub struct Texts(Vec<CString>);

impl Texts {
    /// Adds a text and returns its address.
    ///
    /// # Errors
    /// The reason, as a sentence, if the text contains a byte 0.
    pub fn add(&mut self, text: &str) -> Result<*const c_char, String> {
        let text = CString::new(text)
            .map_err(|_| format!("a back end in C cannot read the text {text:?}: it contains a 0"))?;
        self.0.push(text);
        Ok(self.0.last().map_or(std::ptr::null(), |text| text.as_ptr()))
    }
}
