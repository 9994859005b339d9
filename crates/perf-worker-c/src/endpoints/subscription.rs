//! Subscriptions of the back end, and the messages that they take or deliver.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use perf_worker::backend::{Listener, Matched, Matching, OtherClock, Received, Sink, Subscription, Taken};

use super::matched::CMatched;
use crate::abi::SubscriptionFunctions;
use crate::opaque;
use crate::taken::{nothing_taken, taken_from_c};

/// A subscription of the back end from which messages are taken.
pub struct CSubscription {
    endpoint: CMatched,
    functions: SubscriptionFunctions,
}

impl CSubscription {
    /// A subscription that exists.
    pub fn new(endpoint: CMatched, functions: SubscriptionFunctions) -> CSubscription {
        CSubscription { endpoint, functions }
    }
}

/// A subscription of the back end that delivers messages, by itself or in an executor.
pub struct CListener {
    endpoint: CMatched,
    functions: SubscriptionFunctions,
}

impl CListener {
    /// The subscription in C.
    pub fn object(&self) -> *mut c_void {
        self.endpoint.object
    }

    /// A subscription that exists.
    pub fn new(endpoint: CMatched, functions: SubscriptionFunctions) -> CListener {
        CListener { endpoint, functions }
    }
}

impl Matched for CSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        self.endpoint.matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.endpoint.mismatches()
    }

    fn clock(&self) -> Option<OtherClock> {
        self.endpoint.clock()
    }
}

impl Matched for CListener {
    fn matched(&mut self) -> Result<Matching, String> {
        self.endpoint.matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.endpoint.mismatches()
    }

    fn clock(&self) -> Option<OtherClock> {
        self.endpoint.clock()
    }
}

impl Subscription for CSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let take = self.functions.take.ok_or("the back end has no function take")?;
        let mut taken = nothing_taken();
        // SAFETY: H1, H4.
        match unsafe { take(self.endpoint.object, &raw mut taken, self.endpoint.failure.address()) } {
            0 => return Ok(false),
            1 => {}
            -1 => return Err(self.endpoint.failure.sentence("take")),
            other => return Err(format!("the back end's function take returned {other}: it must return 1, 0 or -1")),
        }
        // SAFETY: H2: the payload stays until `release`.
        let read = unsafe { taken_from_c(&taken) }.map(|taken| reader(&taken));
        if let Some(release) = self.functions.release {
            // SAFETY: H1.
            unsafe { release(self.endpoint.object) };
        }
        read.map(|()| true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        let wait = self.functions.wait.ok_or("the back end has no function wait")?;
        let timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: H1, H4.
        let returned = unsafe { wait(self.endpoint.object, timeout_ns, self.endpoint.failure.address()) };
        self.endpoint.failure.check("wait", returned)
    }

    fn overwritten(&self) -> u64 {
        overwritten(&self.functions, self.endpoint.object)
    }
}

impl Listener for CListener {
    fn start(&mut self, sink: Arc<dyn Sink>) -> Result<(), String> {
        let start = self.functions.start.ok_or("the back end has no function start")?;
        // The sink is kept until the end of the process, because a late thread of a faulty back end must not use freed
        // memory.
        let sink = Box::into_raw(Box::new(opaque::Sink(sink)));
        // SAFETY: H1, H4.
        let returned = unsafe { start(self.endpoint.object, sink, self.endpoint.failure.address()) };
        self.endpoint.failure.check("start", returned)
    }

    fn stop(&mut self) -> Result<(), String> {
        let stop = self.functions.stop.ok_or("the back end has no function stop")?;
        // SAFETY: H1, H4.
        let returned = unsafe { stop(self.endpoint.object, self.endpoint.failure.address()) };
        self.endpoint.failure.check("stop", returned)
    }

    fn overwritten(&self) -> u64 {
        overwritten(&self.functions, self.endpoint.object)
    }
}

impl Received for CListener {
    fn overwritten(&self) -> u64 {
        overwritten(&self.functions, self.endpoint.object)
    }
}

fn overwritten(functions: &SubscriptionFunctions, object: *mut c_void) -> u64 {
    // SAFETY: H1.
    functions.overwritten.map_or(0, |overwritten| unsafe { overwritten(object) })
}
