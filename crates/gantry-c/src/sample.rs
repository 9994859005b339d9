//! Samples: taken messages, requests and responses, in a struct that C keeps by value, so that no message allocates.
//!
//! Invariant: the library that made a sample releases it, as with loans (`loan`).

use crate::{
    abi::{OK, SampleInfo, Status},
    argument::{exclusive, output, shared, sized_output},
    convert,
    failure::{Failure, Result, from_owner, run},
};
use gantry::{GenericRequest, GenericResponse, GenericSample};
use std::{ffi::c_void, mem::MaybeUninit, ptr::null};

/// `gantry_sample`. Zeros are no sample; H3.
#[repr(C)]
pub struct Sample {
    /// The message; NULL if the sample is empty.
    pub data: *const c_void,
    /// The length of the message in bytes.
    pub size: usize,
    /// The library that made it.
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
    /// Returns the times, number and publisher of a sample.
    pub get_info: unsafe extern "C" fn(sample: *const Sample, info: *mut SampleInfo) -> Status,
}

/// The owner of samples that this library made.
static OWN: SampleOwner =
    SampleOwner { struct_size: size_of::<SampleOwner>(), release: release_own, get_info: get_own_info };

/// A message in its publisher's memory, with the pin that keeps it there.
pub enum Message {
    /// The sample of a subscription.
    Sample(GenericSample),
    /// The request to a service.
    Request(GenericRequest),
    /// The response to a client.
    Response(GenericResponse),
}

/// Memory for a message of the library. Its size does not change from version to version.
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

    /// Gives C a sample.
    #[inline]
    pub fn new(message: Message) -> Sample {
        let bytes = match &message {
            Message::Sample(sample) => sample.bytes(),
            Message::Request(request) => request.bytes(),
            Message::Response(response) => response.bytes(),
        };
        // The bytes lie in the memory of the publisher or of the subscription, not in `message`, which is moved below.
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        let mut held = Held::zeroed();
        // SAFETY: the memory is large enough and aligned (asserted above).
        unsafe { held.as_mut_ptr().cast::<Message>().write(message) };
        Sample { data, size, owner: &raw const OWN, held }
    }

    fn is_own(&self) -> bool {
        std::ptr::eq(self.owner, &raw const OWN)
    }

    /// The owner of the sample, if it is another library.
    #[inline]
    fn other_owner(&self) -> Option<&SampleOwner> {
        match self.data.is_null() || self.is_own() {
            true => None,
            // SAFETY: H3: the owner made the sample, and stays loaded until the sample is released.
            false => unsafe { self.owner.as_ref() },
        }
    }

    /// The message.
    ///
    /// # Errors
    /// The struct holds no message, or the sample of another library.
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

    /// Takes a message of this library out of the struct, which becomes zeros.
    #[inline]
    fn take(&mut self) -> Option<Message> {
        if self.data.is_null() || !self.is_own() {
            return None;
        }
        // SAFETY: H3: `new` wrote a message, which is not used again, because the struct becomes zeros.
        let message = unsafe { self.held.as_ptr().cast::<Message>().read() };
        *self = Sample::empty();
        Some(message)
    }
}

/// Memory for a sample, which is empty until the caller sets it.
///
/// # Errors
/// `sample` is NULL.
///
/// # Safety
/// H2. A sample in the memory is overwritten, not released.
#[inline]
pub unsafe fn sample_output<'a>(sample: *mut Sample) -> Result<&'a mut Sample> {
    // SAFETY: H2.
    unsafe { output("sample", sample) }?.set(Sample::empty());
    // SAFETY: H2: initialized just now.
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
            // SAFETY: H3: its owner made it.
            return from_owner(unsafe { (owner.release)(sample) }, "released no sample");
        }
        drop(given.take());
        Ok(OK)
    })
}

/// # Safety
/// H3; `sample` is a sample of this library.
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
            // SAFETY: H2 and H3: the owner of the sample made it.
            return from_owner(unsafe { (owner.get_info)(sample, info) }, "gave no information about a sample");
        }
        output.set(&convert::sample_info(&given.message()?.info()));
        Ok(OK)
    })
}

/// # Safety
/// H2 and H3; `sample` is a sample of this library.
unsafe extern "C" fn get_own_info(sample: *const Sample, info: *mut SampleInfo) -> Status {
    run(|| {
        // SAFETY: H3.
        let message = unsafe { shared("sample", sample) }?.message()?;
        // SAFETY: H2.
        unsafe { sized_output("info", info) }?.set(&convert::sample_info(&message.info()));
        Ok(OK)
    })
}
