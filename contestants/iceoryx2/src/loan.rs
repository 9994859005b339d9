//! A loan of uninitialised shared memory. This is the only file with unsafe code.
#![allow(unsafe_code)]

use iceoryx2::{port::publisher::Publisher, prelude::ipc, sample_mut::SampleMut};

/// A message in shared memory.
pub type Loan = SampleMut<ipc::Service, [u8], ()>;

/// Loans `length_bytes` of memory without initialising it. [`Publisher::loan_slice`] would write all bytes.
///
/// # Errors
/// The reason, as a sentence: there is no memory.
pub fn loan(publisher: &Publisher<ipc::Service, [u8], ()>, length_bytes: usize) -> Result<Loan, String> {
    let loan = publisher
        .loan_slice_uninit(length_bytes)
        .map_err(|error| format!("iceoryx2 does not loan a message of {length_bytes} bytes: {error:?}"))?;
    // SAFETY: The memory is a mapping of shared memory, which the kernel fills with zeros and which only this publisher
    // writes, with bytes. So each byte is initialised, and every value of a byte is a valid `u8`.
    Ok(unsafe { loan.assume_init() })
}
