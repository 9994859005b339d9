//! Conversions between the strings of C and of Rust.

use std::ffi::{CStr, CString, c_char};

/// Copies a string of C; `None` if it is NULL. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `pointer` keeps to H2.
pub unsafe fn from_c(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: `pointer` is not NULL, so H2 promises a string.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}

/// Copies a required text from C.
///
/// # Errors
/// The reason, as a sentence, if the text is NULL or empty.
///
/// # Safety
/// `pointer` keeps to H2.
pub unsafe fn required(pointer: *const c_char, name: &str) -> Result<String, String> {
    // SAFETY: the caller's promise.
    let text = unsafe { from_c(pointer) };
    text.filter(|text| !text.is_empty()).ok_or_else(|| format!("{name} is NULL or empty"))
}

/// Copies the strings of an array that ends with NULL; the result is empty if the array itself is NULL.
///
/// # Safety
/// `array` and its strings keep to H2.
pub unsafe fn all_from_c(array: *const *const c_char) -> Vec<String> {
    let mut texts = Vec::new();
    if array.is_null() {
        return texts;
    }
    loop {
        // SAFETY: H2, and none of the elements before this one ended the array.
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
    /// Adds a text, and returns its address.
    ///
    /// # Errors
    /// The reason, as a sentence, if the text contains a 0.
    pub fn add(&mut self, text: &str) -> Result<*const c_char, String> {
        let text = CString::new(text)
            .map_err(|_| format!("a back end in C cannot read the text {text:?}: it contains a 0"))?;
        self.0.push(text);
        Ok(self.0.last().map_or(std::ptr::null(), |text| text.as_ptr()))
    }
}
