//! The recorder of a subscription to which the middleware delivers messages. The middleware's threads record the
//! samples, and a thread of `perf_test` sends the rows (figures of one second each) to the reporting thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::sample_recorder::SampleRecorder;
use crate::{
    backend::{OtherClock, Sink, Taken},
    clock::{SECOND_NS, now_ns},
    endpoint::EndpointPlan,
    worker::{
        context::Context,
        matching::{
            Start,
            probe::{Heard, work_on},
        },
    },
};

/// The delay from the end of a second until its row is closed. Samples that were received within the second may still
/// be recorded during the delay.
pub const GRACE_NS: i64 = SECOND_NS / 100;

/// The recorder of a subscription, which all delivering threads of the middleware share.
pub struct SharedRecorder {
    /// The simulated work for each message, see [`EndpointPlan::work_ns`](crate::endpoint::EndpointPlan::work_ns).
    work_ns: i64,
    /// `None` before the start and after the end.
    recorder: Mutex<Option<SampleRecorder>>,
    /// Messages delivered before the start.
    pub heard: Mutex<Heard>,
    /// The reason why the middleware ended the delivery.
    failure: Mutex<Option<String>>,
}

impl SharedRecorder {
    /// Creates the recorder of a subscription before the start.
    pub fn new(plan: &EndpointPlan) -> SharedRecorder {
        let heard = Mutex::new(Heard::new(plan));
        SharedRecorder { work_ns: plan.work_ns, recorder: Mutex::default(), heard, failure: Mutex::default() }
    }

    /// Starts recording. The messages that arrived before the start are recorded first. `clock` is the clock of the
    /// times of reception; `overwritten` is the number of messages that left the history unread until now.
    pub fn start(&self, context: &Context, start: &Start, clock: Option<OtherClock>, overwritten: u64) {
        let mut recorder = self.lock();
        let early = self.heard.lock().unwrap_or_else(PoisonError::into_inner).take_early();
        *recorder = Some(SampleRecorder::new(context, start, clock, early, overwritten));
    }

    /// The number of samples taken so far.
    pub fn taken_so_far(&self) -> u64 {
        self.lock().as_ref().map_or(0, |recorder| recorder.taken)
    }

    /// Ends the recording and sends all rows to the reporting thread. Returns the recorder if it was started.
    pub fn end(&self, overwritten: u64) -> Option<SampleRecorder> {
        let mut recorder = self.lock().take()?;
        let now_ns = now_ns();
        recorder.rows.end_until(now_ns);
        recorder.add_overwritten(overwritten);
        recorder.rows.last(now_ns);
        Some(recorder)
    }

    fn lock(&self) -> MutexGuard<'_, Option<SampleRecorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the due rows (figures of one second each) to the reporting thread. Returns the time to wait until the next
    /// call; `None` at the end. `overwritten` is the number of samples that left the history unread until now.
    pub fn advance(&self, context: &Context, overwritten: u64) -> Result<Option<Duration>, String> {
        if let Some(sentence) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(sentence);
        }
        let mut recorder = self.lock();
        let Some(recorder) = recorder.as_mut().filter(|_| !context.flags.is_abandoned()) else { return Ok(None) };
        let (now_ns, later_ns) = (now_ns(), later_ns(context.row_delay_ns));
        if recorder.is_complete(overwritten) || recorder.drain.is_over(now_ns) {
            return Ok(None);
        }
        if now_ns >= recorder.rows.hand_over_ns() + later_ns {
            recorder.rows.until(now_ns - later_ns);
        }
        Ok(Some(recorder.drain.wait(now_ns, recorder.rows.hand_over_ns() + later_ns)))
    }
}

/// The delay of sending a row to the reporting thread, in addition to `row_delay_ns`, which is the whole delay in the
/// loops that take messages themselves. The sum is at least [`GRACE_NS`]. The result is a multiple of the gap between
/// messages, so that no message is due at that moment.
fn later_ns(row_delay_ns: i64) -> i64 {
    // `row_delay_ns` is half of the gap between two messages.
    let gap_ns = 2 * row_delay_ns.max(1);
    let rest_ns = (GRACE_NS - row_delay_ns).max(0);
    (rest_ns + gap_ns - 1) / gap_ns * gap_ns
}

impl Sink for SharedRecorder {
    fn taken(&self, taken: &Taken<'_>) {
        match &mut *self.lock() {
            Some(recorder) => recorder.record_delivered(taken),
            None => self.heard.lock().unwrap_or_else(PoisonError::into_inner).record(taken),
        }
        // The lock is not held during the work, because the endpoint's thread needs it for the rows.
        work_on(taken, self.work_ns);
    }

    fn failed(&self, sentence: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::thread_cpu_ns, endpoint::Endpoint, run_spec::tests::example, worker::protocol::times::ROW_DELAY_NS,
    };

    #[test]
    fn rows_wait_for_whole_gaps_and_for_samples_that_are_being_recorded() {
        for rate_hz in [1, 7, 20, 49, 50, 51, 100, 150, 250, 1000, 3333, 1_000_000] {
            let gap_ns = SECOND_NS / rate_hz;
            let row_delay_ns = (gap_ns / 2).min(ROW_DELAY_NS);
            let after_ns = row_delay_ns + later_ns(row_delay_ns);
            assert!((GRACE_NS..=ROW_DELAY_NS).contains(&after_ns), "{rate_hz} Hz: {after_ns} ns");
            let to_next_ns = after_ns % (2 * row_delay_ns);
            assert_eq!(to_next_ns, row_delay_ns, "{rate_hz} Hz: a row is handed over near a message");
        }
    }

    #[test]
    fn a_probe_costs_no_work_and_a_message_does() {
        let work_ns = SECOND_NS / 20;
        let plan = EndpointPlan::of_run(&example(), Endpoint::Subscription(0), "/topic");
        let shared = SharedRecorder::new(&EndpointPlan { work_ns, ..plan });
        let (cpu_ns, begin_ns) = (thread_cpu_ns(), now_ns());
        shared.taken(&Taken::default());
        assert!(thread_cpu_ns() - cpu_ns < work_ns / 2);
        shared.taken(&Taken { time_ns: 1, ..Taken::default() });
        assert!(now_ns() - begin_ns >= work_ns);
    }
}
