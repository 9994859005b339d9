//! A server of a node. Its callback answers each request with the request's stamp. The keeper (`perf_test`'s thread
//! that serves the executors) sends the rows (figures of one second each) to the reporting thread.
//!
//! The clients measure the round trip; a server only counts messages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{
    backend::{Respond, Responder, Stamp, Taken},
    clock::work_cpu,
    endpoint::EndpointPlan,
    measure::loss::{Arrival, Sequences},
    run_spec::{RunSpec, Touch},
    worker::{
        context::Context,
        matching::{probe::is_probe, relay_ends::Passed},
        recording::{drain::DrainMonitor, shared_recorder::GRACE_NS},
        reporting::rows::Rows,
    },
};

/// The state that a server's callback and the keeper share.
pub struct Answering {
    work_ns: i64,
    touch: Touch,
    rate_hz: u32,
    /// The counts; `None` before the start and after the end.
    serving: Mutex<Option<Serving>>,
}

/// The counts of a server since the start.
struct Serving {
    rows: Rows,
    sequences: Sequences,
    drain: DrainMonitor,
    /// Requests taken, without duplicates.
    taken: u64,
    /// Requests that left the history before they were taken.
    overwritten: u64,
    /// The reason of the first refused response, until it is reported.
    refusal: Option<String>,
    has_refused: bool,
    failure: Option<String>,
}

impl Answering {
    /// Creates a server that has not started.
    pub fn new(spec: &RunSpec, plan: &EndpointPlan) -> Answering {
        let (work_ns, rate_hz) = (plan.work_ns, plan.pace.rate_hz());
        Answering { work_ns, touch: spec.touch, rate_hz, serving: Mutex::default() }
    }

    /// Starts counting.
    pub fn start(&self, context: &Context, start_ns: i64) {
        *self.lock() = Some(Serving {
            rows: Rows::new(context, start_ns),
            sequences: Sequences::new(true, context.plan.message.last_id),
            drain: DrainMonitor::new(context, start_ns),
            taken: 0,
            overwritten: 0,
            refusal: None,
            has_refused: false,
            failure: None,
        });
    }

    /// Sends the due rows (figures of one second each) to the reporting thread. Returns the time of the next check, ns;
    /// `None` when the server has answered all requests. `overwritten` is the number of requests that left the history
    /// unread. `refused` is called once, with the reason of the first refused response.
    ///
    /// # Errors
    /// The reason, as a sentence, if the server cannot continue.
    pub fn advance(&self, now_ns: i64, overwritten: u64, refused: impl FnOnce(String)) -> Result<Option<i64>, String> {
        let mut serving = self.lock();
        let Some(open) = serving.as_mut() else { return Ok(None) };
        if let Some(sentence) = open.refusal.take() {
            refused(sentence);
        }
        if let Some(sentence) = open.failure.take() {
            return Err(sentence);
        }
        open.rows.open.relayed.overwritten += overwritten.saturating_sub(open.overwritten);
        open.overwritten = open.overwritten.max(overwritten);
        open.rows.until(now_ns - GRACE_NS);
        if open.drain.is_complete(open.taken + open.overwritten) || open.drain.is_over(now_ns) {
            open.rows.last(now_ns);
            *serving = None;
            return Ok(None);
        }
        let wait = open.drain.wait(now_ns, open.rows.hand_over_ns() + GRACE_NS);
        Ok(Some(now_ns + i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Serving>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Responder for Answering {
    fn request(&self, taken: &Taken<'_>, respond: Respond<'_>) {
        // The callback works and responds without holding the lock, which the keeper needs for the rows.
        if !is_probe(taken) {
            work_cpu(self.work_ns);
        }
        let stamp = Stamp { time_ns: taken.time_ns, id: taken.id, rate_hz: self.rate_hz };
        let responded = respond(&mut Passed { stamp, touch: self.touch });
        if let Some(serving) = self.lock().as_mut() {
            serving.count(taken, responded.err());
        }
    }

    fn failed(&self, sentence: String) {
        if let Some(serving) = self.lock().as_mut() {
            serving.failure = Some(sentence);
        }
    }
}

impl Serving {
    fn count(&mut self, taken: &Taken<'_>, refusal: Option<String>) {
        self.rows.end_until(taken.received_ns);
        self.drain.arrived(taken.received_ns, taken.received_ns.saturating_sub(taken.time_ns));
        self.taken += u64::from(self.sequences.arrived(taken.source, taken.id, 0).1 != Arrival::Duplicate);
        let relayed = &mut self.rows.open.relayed;
        relayed.samples += u64::from(refusal.is_none());
        relayed.refused += u64::from(refusal.is_some());
        relayed.bytes += taken.length_bytes;
        if refusal.is_some() && !std::mem::replace(&mut self.has_refused, true) {
            self.refusal = refusal;
        }
    }
}
