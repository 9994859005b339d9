//! The objects that C code gets as opaque pointers and passes back to the functions of the header.

use std::sync::{Arc, Mutex, PoisonError};

use perf_worker::backend::{self as contract, DaemonCommand, Publisher, Settings};
use perf_worker::clock::now_ns;

/// `perf_test_draft`: a message that is about to be sent.
pub struct Draft<'a> {
    /// The message.
    pub inner: &'a mut dyn contract::Draft,
    /// A mistake of the back end with this message, as a sentence.
    pub fault: Option<&'static str>,
}

/// `perf_test_sink`: the destination of delivered messages.
pub struct Sink(pub Arc<dyn contract::Sink>);

/// `perf_test_responder`: the part of `perf_test` that answers the requests to a server in an executor.
pub struct Responder {
    /// Answers each request.
    pub requests: Arc<dyn contract::Responder>,
    /// Sends the response to the request that is being handled.
    pub responses: Arc<Mutex<dyn Publisher + Send>>,
}

/// `perf_test_timer`: the timer of a publisher in an executor.
pub struct Timer(Mutex<Expiring>);

struct Expiring {
    period_ns: i64,
    /// The time at which the timer is due next, ns.
    next_ns: i64,
    expired: Box<dyn FnMut(u64) + Send>,
}

impl Timer {
    /// Creates a timer, which is not due before `start`.
    pub fn new(period_ns: i64, expired: Box<dyn FnMut(u64) + Send>) -> Timer {
        Timer(Mutex::new(Expiring { period_ns: period_ns.max(1), next_ns: i64::MAX, expired }))
    }

    /// Starts the timer. It is due for the first time one period after `start_ns`.
    pub fn start(&self, start_ns: i64) {
        let mut timer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        timer.next_ns = start_ns.saturating_add(timer.period_ns);
    }

    /// Calls the timer's function if the timer is due. Returns the time at which the timer is due next.
    pub fn run(&self) -> i64 {
        let mut timer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late_ns = now_ns().saturating_sub(timer.next_ns);
        if late_ns >= 0 {
            let passed_over = late_ns / timer.period_ns;
            timer.next_ns += (1 + passed_over) * timer.period_ns;
            (timer.expired)(passed_over.cast_unsigned());
        }
        timer.next_ns
    }

    /// Calls the timer's function at a time that the middleware chooses. `passed_over` is the number of periods that
    /// the timer skipped since the last call.
    pub fn expire(&self, passed_over: u64) {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner).expired)(passed_over);
    }
}

/// `perf_test_daemons`: the daemons that C code added, or a sentence about a mistake.
pub struct Daemons(pub Result<Vec<DaemonCommand>, String>);

/// `perf_test_effective`: the values that C code set.
#[derive(Default)]
pub struct Effective(pub Settings);

/// `perf_test_sentences`: the sentences that C code added.
#[derive(Default)]
pub struct Sentences(pub Vec<String>);
