//! Subscriptions of the back end, and the messages that they take or deliver.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use perf_worker::backend::{Listener, Matched, Matching, OtherClock, Received, Sink, Subscription, Taken};

use crate::abi::{self, SubscriptionFunctions};
use crate::exports;
use crate::matched::CMatched;

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
        // Until the end of the process: a late thread of a faulty back end must not write to memory that was freed.
        let sink = Box::into_raw(Box::new(exports::Sink(sink)));
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

fn nothing_taken() -> abi::Taken {
    abi::Taken {
        source: [0; 16],
        time_ns: 0,
        id: 0,
        received_ns: 0,
        arrived_ns: 0,
        in_hand_ns: 0,
        length_bytes: 0,
        wire_bytes: 0,
        overwritten: 0,
        payload: std::ptr::null(),
        payload_bytes: 0,
        loaned: 0,
    }
}

/// The longest slice of Rust.
pub const MOST_BYTES: usize = isize::MAX as usize;

/// A time that C gave, where 0 says that there is none.
pub fn unless_0(time_ns: i64) -> Option<i64> {
    (time_ns != 0).then_some(time_ns)
}

/// A message that C took.
///
/// # Errors
/// A sentence: a field that is required is missing.
///
/// # Safety
/// The payload keeps to H2 as long as the result lives.
pub unsafe fn taken_from_c(taken: &abi::Taken) -> Result<Taken<'_>, String> {
    if taken.received_ns == 0 {
        return Err(
            "the back end took a message without received_ns: it must be perf_test_now_ns() after the reception"
                .to_owned(),
        );
    }
    let payload = match (taken.payload_bytes, taken.payload.is_null()) {
        (0, _) => &[][..],
        (bytes, true) => return Err(format!("the back end took a message whose payload of {bytes} bytes is NULL")),
        (bytes, false) if bytes > MOST_BYTES => {
            return Err(format!("the back end took a message whose payload_bytes is {bytes}: a negative length?"));
        }
        // SAFETY: the caller's promise, and a slice may be so long.
        (bytes, false) => unsafe { std::slice::from_raw_parts(taken.payload.cast::<u8>(), bytes) },
    };
    Ok(Taken {
        source: taken.source,
        time_ns: taken.time_ns,
        id: taken.id,
        received_ns: taken.received_ns,
        arrived_ns: unless_0(taken.arrived_ns),
        in_hand_ns: unless_0(taken.in_hand_ns),
        length_bytes: taken.length_bytes,
        wire_bytes: taken.wire_bytes,
        overwritten: taken.overwritten,
        loaned: taken.loaned != 0,
        payload,
    })
}
