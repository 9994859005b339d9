//! A publisher of a back end in C.

use std::ffi::c_void;

use perf_worker::backend::{self as contract, Matched, Matching, OtherClock, Publisher, Sent};

use super::matched::CMatched;
use crate::abi::{self, PublisherFunctions};
use crate::opaque::Draft;
use crate::taken::unless_0;

/// A publisher of a back end in C.
pub struct CPublisher {
    endpoint: CMatched,
    functions: PublisherFunctions,
}

impl CPublisher {
    /// The C object of the publisher.
    pub fn object(&self) -> *mut c_void {
        self.endpoint.object
    }

    /// Wraps a publisher that C code has created.
    pub fn new(endpoint: CMatched, functions: PublisherFunctions) -> CPublisher {
        CPublisher { endpoint, functions }
    }
}

impl Matched for CPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        self.endpoint.matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.endpoint.mismatches()
    }

    fn source(&self) -> Option<[u8; 16]> {
        let mut source = [0; 16];
        let read = self.functions.source?;
        // SAFETY: promise H1 of the header, and the memory has 16 bytes.
        unsafe { read(self.endpoint.object, source.as_mut_ptr()) }.then_some(source)
    }

    fn clock(&self) -> Option<OtherClock> {
        self.endpoint.clock()
    }
}

impl Publisher for CPublisher {
    fn publish(&mut self, draft: &mut dyn contract::Draft) -> Result<Sent, String> {
        let publish = self.functions.publish.ok_or("the back end has no function publish")?;
        let (mut draft, mut sent) = (Draft { inner: draft, fault: None }, abi::Sent::default());
        // SAFETY: H1, H4.
        let returned =
            unsafe { publish(self.endpoint.object, &raw mut draft, &raw mut sent, self.endpoint.failure.address()) };
        if let Some(fault) = draft.fault {
            return Err(fault.to_owned());
        }
        self.endpoint.failure.check("publish", returned)?;
        let abi::Sent { wire_bytes, serialised_ns, loaned } = sent;
        Ok(Sent { loaned: loaned != 0, wire_bytes, serialised_ns: unless_0(serialised_ns) })
    }
}
