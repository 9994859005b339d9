//! An endpoint of a back end in C: its matching, its clock and its destruction.

use std::ffi::c_void;
use std::sync::Arc;

use perf_worker::backend::{Matched, Matching, MatchingKind, OtherClock};

use crate::abi::{self, MatchedFunctions};
use crate::failure::Failure;
use crate::opaque::Sentences;
use crate::open::{Endpoint, Open};
use crate::run::CEndpoint;

/// An endpoint of a back end in C. It is destroyed when this value is dropped.
pub struct CMatched {
    /// The C object of the endpoint.
    pub object: *mut c_void,
    /// The memory into which C functions of the endpoint write error sentences.
    pub failure: Failure,
    functions: MatchedFunctions,
    kind: MatchingKind,
    // The plan and the session, which the C object may use until it is destroyed.
    _plan: Arc<CEndpoint>,
    _session: Arc<Open>,
}

// SAFETY: promise H3 of the header: an endpoint in an executor may be used on any thread. Other endpoints are used
// through traits that are not `Send`.
unsafe impl Send for CMatched {}

impl CMatched {
    /// Wraps an endpoint of the session that C code has created.
    pub fn new(session: Arc<Open>, functions: MatchedFunctions, kind: MatchingKind, endpoint: Endpoint) -> CMatched {
        let Endpoint { object, plan } = endpoint;
        CMatched { object, failure: Failure::new(), functions, kind, _plan: plan, _session: session }
    }
}

impl Drop for CMatched {
    fn drop(&mut self) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: promises H1 and H3 of the header; the endpoint is destroyed only here.
            unsafe { destroy(self.object) };
        }
    }
}

impl Matched for CMatched {
    fn matched(&mut self) -> Result<Matching, String> {
        let Some(matched) = self.functions.matched.filter(|_| self.kind != MatchingKind::Unknown) else {
            return Ok(Matching::Unknown);
        };
        // SAFETY: H1, H4.
        let count = unsafe { matched(self.object, self.failure.address()) };
        let count = usize::try_from(count).map_err(|_| self.failure.sentence("matched"))?;
        Ok(if self.kind == MatchingKind::Any { Matching::Any(count > 0) } else { Matching::Count(count) })
    }

    fn mismatches(&mut self) -> Vec<String> {
        let mut sentences = Sentences::default();
        if let Some(mismatches) = self.functions.mismatches {
            // SAFETY: H1, H4.
            unsafe { mismatches(self.object, &raw mut sentences) };
        }
        sentences.0
    }

    fn clock(&self) -> Option<OtherClock> {
        let clock = self.functions.clock?;
        let mut other = abi::Clock::default();
        // SAFETY: H1, H4.
        let is_other = unsafe { clock(self.object, &raw mut other) };
        is_other.then_some(OtherClock { offset_ns: other.offset_ns, error_ns: other.error_ns })
    }
}
