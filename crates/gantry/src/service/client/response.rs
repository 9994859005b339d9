//! Responses that a client took.

use crate::topic::{GenericSample, Sample};
use gantry_cdr::Service as ServiceType;
use gantry_shm::{RequestId, SampleInfo};
use std::ops::Deref;

/// A response that is read in place; it dereferences to the view of the message. A response owns the pin (hazard
/// pointer) that protects its memory: it can be kept, sent to another thread, and dropped in any order.
///
/// # Real-time
/// The use of a response is on the data path while its client exists.
pub struct Response<S: ServiceType> {
    sample: Sample<S::Response>,
    id: RequestId,
}

/// A response as bytes that are read in place. A response owns the pin (hazard pointer) that protects its memory: it
/// can be kept, sent to another thread, and dropped in any order.
///
/// # Real-time
/// The use of a response is on the data path while its client exists.
#[derive(Debug)]
pub struct GenericResponse {
    sample: GenericSample,
    id: RequestId,
}

impl<S: ServiceType> Response<S> {
    #[inline]
    pub(super) fn new(sample: Sample<S::Response>, id: RequestId) -> Response<S> {
        Response { sample, id }
    }

    /// The id of the request that this response answers.
    #[inline]
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The response's message, with its times and the server's gid.
    #[inline]
    #[must_use]
    pub fn sample(&self) -> &Sample<S::Response> {
        &self.sample
    }
}

impl<S: ServiceType> Deref for Response<S> {
    type Target = <Sample<S::Response> as Deref>::Target;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.sample
    }
}

impl<S: ServiceType> std::fmt::Debug for Response<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Response({:?}, {:?})", self.id, self.sample)
    }
}

impl GenericResponse {
    #[inline]
    pub(super) fn new(sample: GenericSample, id: RequestId) -> GenericResponse {
        GenericResponse { sample, id }
    }

    /// The id of the request that this response answers.
    #[inline]
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The response's message, with its times and the server's gid.
    #[inline]
    #[must_use]
    pub fn sample(&self) -> &GenericSample {
        &self.sample
    }

    /// The bytes of the message, in the server's shared memory.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.sample.bytes()
    }

    /// The times of the response's message, and the server's gid.
    #[inline]
    #[must_use]
    pub fn message_info(&self) -> SampleInfo {
        self.sample.message_info()
    }
}
