//! A session of the back end, and an endpoint in it, as C made them.

use std::ffi::c_void;
use std::sync::Arc;

use crate::abi;
use crate::run::{CEndpoint, CRun};

/// A session that is open. It is closed when the session and all its endpoints are gone.
pub struct Open {
    /// The functions of the back end.
    pub functions: abi::Backend,
    /// The session in C.
    pub object: *mut c_void,
    /// The run.
    pub run: &'static CRun,
}

// SAFETY: H3; the run does not change.
unsafe impl Send for Open {}
// SAFETY: as before.
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(close) = self.functions.close {
            // SAFETY: H1; the session was opened, and is closed only here.
            unsafe { close(self.object) };
        }
    }
}

/// An endpoint of the back end, and its plan.
pub struct Endpoint {
    /// The endpoint.
    pub object: *mut c_void,
    /// The plan of the endpoint. The address of the plan does not change, because C may use it.
    pub plan: Arc<CEndpoint>,
}
