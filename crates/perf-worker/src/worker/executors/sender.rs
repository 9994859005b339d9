//! A publisher of a node. The callback of its timer or of its trigger publishes. The keeper (`perf_test`'s thread that
//! serves the executors) sends the rows (figures of one second each) to the reporting thread.
//!
//! Message `k` (from 0) is due at start + (k + 1) · period and has the id k + 1. Each callback publishes one message;
//! messages of periods that the timer skipped count as skipped. An id therefore determines the due time even if the
//! timer is late. Without a timer, messages have no due times, and each trigger uses the next id.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::origin::{Chained, Origin};
use crate::{
    backend::{Publisher, Stamp},
    clock::{now_ns, work_cpu},
    endpoint::EndpointPlan,
    measure::{
        events::{Event, Trouble},
        moments::Moments,
    },
    pacing::Schedule,
    run_spec::{PassBy, RunSpec},
    worker::{
        context::{Context, Flags},
        loops::message::{Message, NO_STAMP, SentMessage},
        protocol::times::{CATCH_UP_NS, LONGEST_DRAIN_NS, MOST_REFUSALS},
        reporting::rows::Rows,
    },
};

/// The state that a publisher's callback and the keeper share; `None` before the start.
#[derive(Default)]
pub struct Sender(Mutex<Option<Sending>>);

/// The state of a publisher after the start.
struct Sending {
    plan: EndpointPlan,
    spec: Arc<RunSpec>,
    flags: Arc<Flags>,
    publisher: Box<dyn Publisher + Send>,
    schedule: Schedule,
    end_ns: i64,
    /// The index of the next message: all earlier messages were sent or skipped.
    next: u64,
    rows: Rows,
    refusals_in_a_row: u32,
    /// The reason of the first refusal, until it is reported.
    refusal: Option<String>,
    has_refused: bool,
    failure: Option<String>,
    /// The origin of the current message for each chain.
    origins: Vec<Option<Origin>>,
    /// The end of the last callback, ns.
    last_ns: i64,
    /// The time in the stamp of the last message, ns.
    last_sent_ns: Option<i64>,
    /// The intervals between the stamps of consecutive messages.
    interval_ns: Moments,
}

/// The progress of a publisher.
pub enum Progress {
    /// The publisher continues. The keeper must call [`Sender::advance`] again at this time, ns, to send the next row
    /// (the figures of one second).
    Until(i64),
    /// The publisher has sent all messages that were due. The value describes the intervals between them, ns.
    Done(Moments),
}

impl Sender {
    fn lock(&self) -> MutexGuard<'_, Option<Sending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts publishing at `start_ns` plus the phase of the publisher. Timers that expire earlier do nothing.
    pub fn start(&self, context: &Context, publisher: Box<dyn Publisher + Send>, start_ns: i64) {
        let (plan, spec) = (context.plan.clone(), context.spec.clone());
        *self.lock() = Some(Sending {
            schedule: Schedule::new(start_ns + plan.phase_ns, plan.pace),
            end_ns: spec.end_ns(start_ns),
            rows: Rows::new(context, start_ns),
            flags: context.flags.clone(),
            publisher,
            plan,
            spec,
            next: 0,
            refusals_in_a_row: 0,
            refusal: None,
            has_refused: false,
            failure: None,
            origins: vec![None; context.plan.chains.len()],
            last_ns: start_ns,
            last_sent_ns: None,
            interval_ns: Moments::default(),
        });
    }

    /// The callback of the trigger: publishes a message with one origin for each chain.
    pub fn triggered(&self, origins: &[Option<Origin>]) {
        if let Some(sending) = self.lock().as_mut() {
            sending.triggered(origins);
        }
    }

    /// The callback of the timer: publishes the message of the current period. `passed_over` is the number of periods
    /// that the timer skipped.
    pub fn expired(&self, passed_over: u64) {
        if let Some(sending) = self.lock().as_mut() {
            sending.expired(passed_over);
        }
    }

    /// Sends the due rows (figures of one second each) to the reporting thread. If the publisher's callback is running,
    /// the next call does this. `refused` is called once, with the reason of the first refusal.
    ///
    /// # Errors
    /// The reason, as a sentence, if the publisher cannot continue.
    pub fn advance(&self, now_ns: i64, refused: impl FnOnce(String)) -> Result<Progress, String> {
        let mut sending = match self.0.try_lock() {
            Ok(sending) => sending,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(Progress::Until(now_ns)),
        };
        let Some(sending) = sending.as_mut() else { return Ok(Progress::Done(Moments::default())) };
        if let Some(sentence) = sending.refusal.take() {
            refused(sentence);
        }
        if let Some(sentence) = sending.failure.take() {
            return Err(sentence);
        }
        sending.rows.until(now_ns);
        if !sending.plan.triggers.is_empty() && sending.is_stopped() {
            sending.end_ns = sending.end_ns.min(now_ns);
        }
        if sending.is_done(now_ns) {
            sending.finish(now_ns);
            return Ok(Progress::Done(sending.interval_ns));
        }
        Ok(Progress::Until(sending.rows.hand_over_ns()))
    }
}

impl Sending {
    fn is_stopped(&self) -> bool {
        self.flags.stop.load(std::sync::atomic::Ordering::Relaxed) || self.flags.is_abandoned()
    }

    /// Whether the publisher sends no more messages: it has sent all messages that were due before the end, or the time
    /// to catch up is over.
    fn is_done(&self, now_ns: i64) -> bool {
        if !self.plan.triggers.is_empty() {
            return self.is_quiet(now_ns);
        }
        let is_over = now_ns >= self.end_ns && self.next >= self.schedule.due_before(self.end_ns);
        is_over || now_ns >= self.end_ns.saturating_add(CATCH_UP_NS) || self.is_stopped()
    }

    /// Whether a publisher without a timer will not be triggered again. Messages may still be in transit to its node
    /// for a while after the end.
    fn is_quiet(&self, now_ns: i64) -> bool {
        let is_silent = now_ns >= self.end_ns.max(self.last_ns).saturating_add(CATCH_UP_NS);
        is_silent || now_ns >= self.end_ns.saturating_add(LONGEST_DRAIN_NS) || self.flags.is_abandoned()
    }

    fn triggered(&mut self, origins: &[Option<Origin>]) {
        let awake_ns = now_ns();
        // The endpoint has already ended, so there is no open row that could count the message.
        if self.failure.is_some() || self.next == u64::MAX {
            return;
        }
        self.rows.end_until(awake_ns);
        self.origins.copy_from_slice(origins);
        let index = self.next;
        self.next += 1;
        self.publish(index, awake_ns);
        self.last_ns = now_ns();
    }

    fn expired(&mut self, passed_over: u64) {
        let awake_ns = now_ns();
        if self.is_stopped() {
            // The order `Stop` ends the run now: no later message becomes due.
            self.end_ns = self.end_ns.min(awake_ns);
        }
        let due = self.schedule.due_before(self.end_ns);
        if due <= self.next || self.failure.is_some() || self.is_done(awake_ns) {
            return;
        }
        self.rows.end_until(awake_ns);
        let index = self.next.saturating_add(passed_over);
        let skipped = index.min(due) - self.next;
        self.rows.open.sent.skipped += skipped;
        self.track_unsent(awake_ns, self.next, skipped);
        self.next = index.saturating_add(1).min(due);
        if index < due {
            self.publish(index, awake_ns);
        }
    }

    fn publish(&mut self, index: u64, awake_ns: i64) {
        let stamp = Stamp { time_ns: 0, id: index + 1, rate_hz: self.plan.pace.rate_hz() };
        work_cpu(self.plan.work_ns);
        let message = Message { stamp, touch: self.spec.touch };
        let mut chained = Chained { message, links: &self.plan.chains, origins: &self.origins };
        let sent = match self.publisher.publish(&mut chained) {
            Ok(sent) => sent,
            Err(sentence) => {
                self.track_unsent(awake_ns, index, 1);
                return self.refused(&sentence);
            }
        };
        let sent_ns = chained.message.stamp.time_ns;
        if sent_ns == 0 {
            self.failure = Some(NO_STAMP.to_owned());
            return;
        }
        self.refusals_in_a_row = 0;
        if let Some(last_ns) = self.last_sent_ns.replace(sent_ns) {
            self.interval_ns.add((sent_ns - last_ns) as f64);
        }
        self.rows.end_until(sent_ns);
        let (due_ns, bytes) = (self.schedule.due_ns(index), self.plan.message.bytes as u64);
        let is_loan = self.plan.pass_by == PassBy::LoanedMsg;
        SentMessage { sent, sent_ns, awake_ns, returned_ns: Some(now_ns()), due_ns, bytes, is_loan }
            .count(&mut self.rows.open);
    }

    /// Adds an event: `messages` messages from `index` on were not sent. Does nothing if messages are not tracked.
    fn track_unsent(&mut self, at_ns: i64, index: u64, messages: u64) {
        if self.spec.tracking && messages > 0 {
            self.rows.open.events.add(Event { at_ns, id: index + 1, trouble: Trouble::Unsent { messages } });
        }
    }

    fn refused(&mut self, sentence: &str) {
        self.rows.open.sent.refused += 1;
        self.refusals_in_a_row += 1;
        if !std::mem::replace(&mut self.has_refused, true) {
            self.refusal = Some(sentence.to_owned());
        }
        // A client does not give up: if its server does not answer, it stays at its limit of pending requests.
        if self.refusals_in_a_row == MOST_REFUSALS && !self.plan.service {
            let sentence =
                format!("the publisher gave up after {MOST_REFUSALS} refused messages in a row; the last: {sentence}");
            self.failure = Some(sentence);
        }
    }

    /// Sends all rows to the reporting thread. A message that the publisher was preparing when the order `Stop` arrived
    /// does not count as unsent.
    fn finish(&mut self, now_ns: i64) {
        let begun = self.next + u64::from(self.is_stopped());
        self.rows.open.sent.unsent = self.schedule.due_before(now_ns.min(self.end_ns)).saturating_sub(begun);
        self.next = u64::MAX;
        self.rows.last(now_ns);
    }
}
