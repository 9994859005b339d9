//! Samples: messages, requests and responses that were taken. A sample is a struct that the C program keeps by value,
//! so a message needs no allocation.
//!
//! Invariant: only the library that made a sample releases it. `loan.rs` has the same invariant for loans.

use crate::{
    abi::{OK, SampleInfo, Status},
    border::{
        argument::{exclusive, output, shared},
        failure::{Failure, Result, from_owner, run},
        sized::sized_output,
    },
    values::convert,
};
use gantry::{GenericRequest, GenericResponse, GenericSample};
use std::{ffi::c_void, mem::MaybeUninit, ptr::null};

/// `gantry_sample`. Zeros mean no sample. The promise H3 is about this struct.
#[repr(C)]
pub struct Sample {
    /// The bytes of the message; NULL if the struct is empty.
    pub data: *const c_void,
    /// The length of the message in bytes.
    pub size: usize,
    /// The library that made the sample.
    pub owner: *const SampleOwner,
    held: Held,
}

/// `gantry_sample_owner`.
#[repr(C)]
pub struct SampleOwner {
    /// The size of the struct.
    pub struct_size: usize,
    /// Ends the use of a sample.
    pub release: unsafe extern "C" fn(sample: *mut Sample) -> Status,
    /// Returns the times, the sequence number and the publisher of a sample.
    pub get_info: unsafe extern "C" fn(sample: *const Sample, info: *mut SampleInfo) -> Status,
}

/// The `owner` in the samples that this library made.
static OWN: SampleOwner =
    SampleOwner { struct_size: size_of::<SampleOwner>(), release: release_own, get_info: get_own_info };

/// A message in the memory of its publisher. The value pins the message, so that it stays there.
pub enum Message {
    /// A sample that a subscription took.
    Sample(GenericSample),
    /// A request that a service took.
    Request(GenericRequest),
    /// A response that a client took.
    Response(GenericResponse),
}

/// Memory for a message of `gantry`. Its size is part of the ABI and never changes.
type Held = MaybeUninit<[u64; 6]>;

const _: () = assert!(size_of::<Message>() <= size_of::<Held>() && align_of::<Message>() <= align_of::<Held>());

impl Message {
    fn info(&self) -> gantry::SampleInfo {
        match self {
            Message::Sample(sample) => sample.message_info(),
            Message::Request(request) => request.message_info(),
            Message::Response(response) => response.message_info(),
        }
    }
}

impl Sample {
    /// A struct without a sample.
    pub fn empty() -> Sample {
        Sample { data: null(), size: 0, owner: null(), held: Held::zeroed() }
    }

    /// Moves a message into a C struct.
    #[inline]
    pub fn new(message: Message) -> Sample {
        let bytes = match &message {
            Message::Sample(sample) => sample.bytes(),
            Message::Request(request) => request.bytes(),
            Message::Response(response) => response.bytes(),
        };
        // `data` stays valid when `message` moves below: the bytes lie in the memory of the publisher or of the
        // subscription.
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        let mut held = Held::zeroed();
        // SAFETY: the memory is large enough and aligned (asserted above).
        unsafe { held.as_mut_ptr().cast::<Message>().write(message) };
        Sample { data, size, owner: &raw const OWN, held }
    }

    fn is_own(&self) -> bool {
        std::ptr::eq(self.owner, &raw const OWN)
    }

    /// The owner of the sample, if another library made the sample.
    #[inline]
    fn other_owner(&self) -> Option<&SampleOwner> {
        match self.data.is_null() || self.is_own() {
            true => None,
            // SAFETY: H3: `owner` is the library that made the sample, and stays loaded until the sample is released.
            false => unsafe { self.owner.as_ref() },
        }
    }

    /// The message in the struct.
    ///
    /// # Errors
    /// The struct is empty, or another library made the sample.
    pub fn message(&self) -> Result<&Message> {
        if self.data.is_null() {
            return Err(Failure::invalid("the sample is empty: it was released already, or nothing was taken"));
        }
        if !self.is_own() {
            return Err(Failure::invalid(
                "another library of this process made the sample: use that library's function",
            ));
        }
        // SAFETY: H3: `new` wrote a message.
        Ok(unsafe { &*self.held.as_ptr().cast::<Message>() })
    }

    /// Moves a message of this library out of the struct, which becomes zeros.
    #[inline]
    fn take(&mut self) -> Option<Message> {
        if self.data.is_null() || !self.is_own() {
            return None;
        }
        // SAFETY: H3: `new` wrote the message. The message is not used a second time, because the struct becomes zeros.
        let message = unsafe { self.held.as_ptr().cast::<Message>().read() };
        *self = Sample::empty();
        Some(message)
    }
}

/// Converts a pointer to the caller's struct for a sample, and makes the struct empty.
///
/// # Errors
/// `sample` is NULL.
///
/// # Safety
/// H2. The function overwrites `sample` without releasing a sample in it.
#[inline]
pub unsafe fn sample_output<'a>(sample: *mut Sample) -> Result<&'a mut Sample> {
    // SAFETY: H2.
    unsafe { output("sample", sample) }?.set(Sample::empty());
    // SAFETY: H2; the struct was initialized just now.
    unsafe { exclusive("sample", sample) }
}

/// # Safety
/// H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_sample_release(sample: *mut Sample) -> Status {
    run(|| {
        // SAFETY: H3.
        let given = unsafe { exclusive("sample", sample) }?;
        if let Some(owner) = given.other_owner() {
            // SAFETY: H3: the library `owner` made the sample.
            return from_owner(unsafe { (owner.release)(sample) }, "released no sample");
        }
        drop(given.take());
        Ok(OK)
    })
}

/// # Safety
/// H3; `sample` holds a sample of this library.
unsafe extern "C" fn release_own(sample: *mut Sample) -> Status {
    run(|| {
        // SAFETY: H3.
        drop(unsafe { exclusive("sample", sample) }?.take());
        Ok(OK)
    })
}

/// # Safety
/// H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_sample_get_info(sample: *const Sample, info: *mut SampleInfo) -> Status {
    run(|| {
        // SAFETY: H3.
        let given = unsafe { shared("sample", sample) }?;
        // SAFETY: H2.
        let output = unsafe { sized_output("info", info) }?;
        if let Some(owner) = given.other_owner() {
            // SAFETY: H2 and H3: the library `owner` made the sample.
            return from_owner(unsafe { (owner.get_info)(sample, info) }, "gave no information about a sample");
        }
        output.set(&convert::sample_info(&given.message()?.info()));
        Ok(OK)
    })
}

/// # Safety
/// H2 and H3; `sample` holds a sample of this library.
unsafe extern "C" fn get_own_info(sample: *const Sample, info: *mut SampleInfo) -> Status {
    run(|| {
        // SAFETY: H3.
        let message = unsafe { shared("sample", sample) }?.message()?;
        // SAFETY: H2.
        unsafe { sized_output("info", info) }?.set(&convert::sample_info(&message.info()));
        Ok(OK)
    })
}
