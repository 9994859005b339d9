//! Serialized messages of `rmw`: four bytes of encapsulation and a CDR body, in an array that has its own allocator.

use crate::{
    bindings::*,
    failure::{Failure, Result},
};

/// The encapsulation for little-endian CDR without options.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];
/// The length of the encapsulation.
pub const ENCAPSULATION_BYTES: usize = ENCAPSULATION.len();

/// Returns the CDR body of a serialized message.
///
/// # Errors
/// There are fewer than four bytes, or the encoding is not little-endian CDR.
pub fn body(bytes: &[u8]) -> Result<&[u8]> {
    let Some((header, body)) = bytes.split_first_chunk::<ENCAPSULATION_BYTES>() else {
        return Err(Failure::error(format_args!(
            "a serialized message begins with {ENCAPSULATION_BYTES} bytes of encapsulation, and this one has {} bytes",
            bytes.len()
        )));
    };
    let why = match header {
        [0, 1, ..] => return Ok(body),
        [0, 0, ..] => "big-endian CDR",
        [0, 2 | 3, ..] => "a parameter list",
        [0, 6..=11, ..] => "XCDR2",
        _ => "unknown",
    };
    let [first, second, ..] = header;
    Err(Failure::error(format_args!(
        "the encapsulation of the serialized message is {first:02x} {second:02x} ({why}); Gantry reads 00 01 (little-endian CDR)"
    )))
}

/// Returns all bytes of a serialized message, including its encapsulation.
///
/// # Errors
/// The array is null, or its buffer is null or shorter than its length.
///
/// # Safety
/// `array` is null or valid. Its bytes are not changed while the result is used.
pub unsafe fn bytes<'a>(array: *const rmw_serialized_message_t) -> Result<&'a [u8]> {
    // SAFETY: the promise of the caller.
    let Some(array) = (unsafe { array.as_ref() }) else {
        return Err(Failure::null("serialized_message"));
    };
    if array.buffer_length == 0 {
        return Ok(&[]);
    }
    if array.buffer.is_null() || array.buffer_capacity < array.buffer_length {
        return Err(Failure::invalid(format_args!(
            "the serialized message has {} bytes in a buffer of {}",
            array.buffer_length,
            if array.buffer.is_null() { 0 } else { array.buffer_capacity }
        )));
    }
    // SAFETY: the promise of the caller; the buffer has at least this length.
    Ok(unsafe { std::slice::from_raw_parts(array.buffer, array.buffer_length) })
}

/// Resizes the array for a body of `body_bytes`, writes the encapsulation, and returns the memory of the body, whose
/// bytes are arbitrary. The buffer grows with the array's allocator if necessary; it never shrinks.
///
/// # Errors
/// `array` is null; its allocator has no `reallocate`; or there is no memory (`RMW_RET_BAD_ALLOC`).
///
/// # Safety
/// `array` is null, or points to an initialised array that no other thread uses.
pub unsafe fn resize<'a>(array: *mut rmw_serialized_message_t, body_bytes: usize) -> Result<&'a mut [u8]> {
    // SAFETY: the promise of the caller.
    let Some(array) = (unsafe { array.as_mut() }) else {
        return Err(Failure::null("serialized_message"));
    };
    let length = body_bytes.saturating_add(ENCAPSULATION_BYTES);
    let capacity = if array.buffer.is_null() { 0 } else { array.buffer_capacity };
    if capacity < length {
        let Some(reallocate) = array.allocator.reallocate else {
            return Err(Failure::invalid("the allocator of the serialized message has no function `reallocate`"));
        };
        // SAFETY: the buffer comes from the array's allocator.
        let buffer = unsafe { reallocate(array.buffer.cast(), length, array.allocator.state) }.cast::<u8>();
        if buffer.is_null() {
            let sentence = format!("there is no memory for a serialized message of {length} bytes");
            return Err(Failure { code: RMW_RET_BAD_ALLOC, sentence });
        }
        // The new bytes are set to 0, because the slice below may contain only initialised bytes.
        let new = buffer.wrapping_add(capacity);
        // SAFETY: the bytes are the end of the new buffer, from the old capacity to the new capacity.
        unsafe { new.write_bytes(0, length - capacity) };
        array.buffer = buffer;
        array.buffer_capacity = length;
    }
    array.buffer_length = length;
    // SAFETY: the buffer has at least this length.
    let bytes = unsafe { std::slice::from_raw_parts_mut(array.buffer, length) };
    let (header, body) = bytes.split_at_mut(ENCAPSULATION_BYTES);
    header.copy_from_slice(&ENCAPSULATION);
    Ok(body)
}
