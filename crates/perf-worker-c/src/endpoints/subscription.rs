//! Subscriptions of a back end in C, which are asked for messages or deliver them.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use perf_worker::backend::{Listener, Matched, Matching, OtherClock, Received, Sink, Subscription, Taken};

use super::matched::CMatched;
use crate::abi::SubscriptionFunctions;
use crate::opaque;
use crate::taken::{nothing_taken, taken_from_c};

/// A subscription of a back end in C from which `perf_test` takes messages.
pub struct CSubscription {
    endpoint: CMatched,
    functions: SubscriptionFunctions,
}

impl CSubscription {
    /// Wraps a subscription that C code has created.
    pub fn new(endpoint: CMatched, functions: SubscriptionFunctions) -> CSubscription {
        CSubscription { endpoint, functions }
    }
}

/// A subscription of a back end in C that delivers messages: by itself or through an executor.
pub struct CListener {
    endpoint: CMatched,
    functions: SubscriptionFunctions,
}

impl CListener {
    /// The C object of the subscription.
    pub fn object(&self) -> *mut c_void {
        self.endpoint.object
    }

    /// Wraps a subscription that C code has created.
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
        // SAFETY: promise H2 of the header: the payload stays valid until `release`.
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
        // The sink is never freed, so that a faulty back end whose thread still runs does not use freed memory.
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
