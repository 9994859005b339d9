//! A session and an endpoint that C code has created.

use std::ffi::c_void;
use std::sync::Arc;

use crate::abi;
use crate::run::{CEndpoint, CRun};

/// An open session. It is closed when this value is dropped, after all its endpoints.
pub struct Open {
    /// The functions of the back end.
    pub functions: abi::Backend,
    /// The C object of the session.
    pub object: *mut c_void,
    /// The run, which C code may read.
    pub run: &'static CRun,
}

// SAFETY: promise H3 of the header; the run does not change.
unsafe impl Send for Open {}
// SAFETY: as before.
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(close) = self.functions.close {
            // SAFETY: promise H1 of the header; the session exists and is closed only here.
            unsafe { close(self.object) };
        }
    }
}

/// An endpoint that C code has created, and its plan.
pub struct Endpoint {
    /// The C object of the endpoint.
    pub object: *mut c_void,
    /// The plan of the endpoint. Its address must not change, because C code may use it.
    pub plan: Arc<CEndpoint>,
}
