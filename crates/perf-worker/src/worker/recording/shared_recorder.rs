//! The recorder of a subscription whose messages the middleware delivers on its own threads: these threads record the
//! samples, and a thread of the instrument hands over the rows.

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

/// The time from the end of a second until its row is ended, so that the row includes samples that were received
/// within the second and are still being recorded then.
pub const GRACE_NS: i64 = SECOND_NS / 100;

/// The recorder of a subscription, which the threads of the middleware share.
pub struct SharedRecorder {
    /// [`EndpointPlan::work_ns`](crate::endpoint::EndpointPlan::work_ns).
    work_ns: i64,
    /// None before the start.
    recorder: Mutex<Option<SampleRecorder>>,
    /// Messages delivered before the start.
    pub heard: Mutex<Heard>,
    /// The reason why the delivery ended.
    failure: Mutex<Option<String>>,
}

impl SharedRecorder {
    /// The recorder of a subscription that has not started.
    pub fn new(plan: &EndpointPlan) -> SharedRecorder {
        let heard = Mutex::new(Heard::new(plan));
        SharedRecorder { work_ns: plan.work_ns, recorder: Mutex::default(), heard, failure: Mutex::default() }
    }

    /// Starts to record, beginning with the messages that were delivered before. Times of reception are read from
    /// `clock`; `overwritten` is the number of messages that have left the history.
    pub fn start(&self, context: &Context, start: &Start, clock: Option<OtherClock>, overwritten: u64) {
        let mut recorder = self.lock();
        let early = self.heard.lock().unwrap_or_else(PoisonError::into_inner).take_early();
        *recorder = Some(SampleRecorder::new(context, start, clock, early, overwritten));
    }

    /// Samples taken so far.
    pub fn taken_so_far(&self) -> u64 {
        self.lock().as_ref().map_or(0, |recorder| recorder.taken)
    }

    /// Ends the recording and hands over all rows. Returns the recorder if it was started.
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

    /// Hands over the rows that are due. Returns the time to wait until the next call; `None` at the end.
    /// `overwritten` is the number of samples that have left the history.
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

/// The additional delay of a hand-over, beyond `row_delay_ns`, the delay in the loops that take messages themselves. It
/// is a whole number of gaps between messages, so that no message is due at the hand-over, and long enough that a row
/// is handed over at least [`GRACE_NS`] after its second.
fn later_ns(row_delay_ns: i64) -> i64 {
    // `row_delay_ns` is half of a gap between messages.
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
        // The work is done without the lock, which the endpoint's thread needs for the rows.
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
