//! The publisher's loop: messages on an open-loop schedule, each stamped right before it is sent.
//!
//! Runs on a thread of a worker; also the first half of `intra_thread`. The schedule looks at nothing that happened, so a slow
//! moment shows as lateness. No allocation, lock, report or system call but the sleep between due time and publish; rows go out
//! once a second.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use super::Context;
use super::matching::wait_for_start;
use super::protocol::{Closing, Report};
use super::rows::Rows;
use crate::backend::{Backend, Draft, Publisher, Stamp};
use crate::clock::{SECOND_NS, now_ns, sleep_until};
use crate::measure::allocations::counted;
use crate::pacing::Schedule;
use crate::payload;
use crate::run_spec::Touch;

/// How long anything may take to notice that the run is over.
const SLICE_NS: i64 = SECOND_NS / 10;
/// How long after the end of the run messages are still sent that were due before it.
const CATCH_UP_NS: i64 = SECOND_NS / 2;
/// Refusals in a row after which a publisher gives up.
const REFUSALS_IN_A_ROW: u32 = 100;

/// Creates the publisher, waits for the others and the start, publishes, and stays until the run is over.
pub fn run(context: &Context, backend: &dyn Backend) -> Result<(), String> {
    let mut publisher = create(context, backend)?;
    let Some(start_ns) = wait_for_start(&mut [(context, &mut *publisher)])? else { return Ok(()) };
    let mut publishing = Publishing::new(context, publisher, start_ns);
    publishing.publish_all(&mut |_| Ok(()))?;
    context.finish(publishing.closing());
    // What is in this publisher's memory must stay readable until the subscriptions have it.
    context.stay_until_the_end();
    Ok(())
}

/// The publisher on this thread.
pub fn create(context: &Context, backend: &dyn Backend) -> Result<Box<dyn Publisher>, String> {
    // The default slack of 50 µs would make every message late. Without permission it stays as it is.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    backend.publisher(&context.spec, &context.plan)
}

/// What is done after each message and while nothing is due: nothing, or with INTRA_THREAD the subscriptions' part. The argument is
/// the time now, ns.
pub type Meanwhile<'a> = dyn FnMut(i64) -> Result<(), String> + 'a;

/// A publisher that publishes.
pub struct Publishing<'a> {
    context: &'a Context,
    publisher: Box<dyn Publisher>,
    schedule: Schedule,
    end_ns: i64,
    rows: Rows,
    matched: bool,
    /// Why subscriptions are not matched, until one is.
    mismatches: Vec<String>,
    ever_matched: bool,
    look_again_ns: i64,
    refusals_in_a_row: u32,
    /// Why a message was refused has been said; the others are only counted.
    refusal_said: bool,
}

impl<'a> Publishing<'a> {
    /// Begins at `start_ns`.
    pub fn new(context: &'a Context, publisher: Box<dyn Publisher>, start_ns: i64) -> Self {
        let spec = &context.spec;
        Publishing {
            context,
            publisher,
            schedule: Schedule::new(start_ns, spec.rate_hz),
            end_ns: spec.length_s().map_or(i64::MAX, |run_s| start_ns + i64::from(run_s) * SECOND_NS),
            rows: Rows::new(context.plan.endpoint, context.outgoing.clone(), start_ns),
            matched: spec.is_private(),
            mismatches: Vec::new(),
            ever_matched: spec.is_private(),
            look_again_ns: start_ns,
            refusals_in_a_row: 0,
            refusal_said: false,
        }
    }

    /// Publishes until the end of the run or an order to stop.
    pub fn publish_all(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), String> {
        // The start lies a little in the future, also for what is sent as fast as possible.
        self.idle_until(self.rows.end_ns() - SECOND_NS, meanwhile)?;
        let mut index = 0;
        while !self.stopped() {
            let due_ns = self.schedule.due_ns(index);
            let awake_ns = self.idle_until(due_ns.unwrap_or(0).min(self.end_ns), meanwhile)?;
            // What was due before the end is still sent after it for a while, so that one stall at the end costs no sample.
            let due_at_end = due_ns.is_none_or(|due_ns| due_ns >= self.end_ns);
            let over_ns = if due_at_end { 0 } else { CATCH_UP_NS };
            if self.stopped() || awake_ns >= self.end_ns.saturating_add(over_ns) {
                break;
            }
            self.publish_one(index, due_ns, awake_ns)?;
            index += 1;
            let mut done_ns = awake_ns;
            // As fast as possible there is no next one to be early for: a reading of the clock less.
            if let Some(next_due_ns) = self.schedule.due_ns(index) {
                done_ns = now_ns();
                self.rows.open.sent.reserve_ns.add((next_due_ns - done_ns) as f64);
            }
            meanwhile(done_ns)?;
        }
        let now_ns = now_ns();
        self.rows.until(now_ns);
        // The message at hand when the order to stop came is not owed.
        let begun = index + u64::from(self.stopped());
        self.rows.open.sent.unsent = self.schedule.due_before(now_ns.min(self.end_ns)).saturating_sub(begun);
        self.rows.last();
        Ok(())
    }

    fn publish_one(&mut self, index: u64, due_ns: Option<i64>, awake_ns: i64) -> Result<(), String> {
        let spec = &self.context.spec;
        let stamp = Stamp { time_ns: 0, id: index + 1, rate_hz: spec.rate_hz };
        let mut draft = Message { stamp, touch: spec.touch };
        let (published, allocated) = counted(spec.check_memory, || self.publisher.publish(&mut draft));
        self.rows.open.sent.allocations += allocated.allocations;
        if let Err(sentence) = published {
            return self.refused(sentence);
        }
        let sent_ns = draft.stamp.time_ns;
        self.refusals_in_a_row = 0;
        self.rows.until(sent_ns);
        let row = &mut self.rows.open;
        row.sent.samples += 1;
        row.sent.unmatched += u64::from(!self.matched);
        row.sent.prepare_ns.add((sent_ns - awake_ns) as f64);
        if let Some(due_ns) = due_ns {
            row.sent.lateness_ns.add((sent_ns - due_ns) as f64);
            row.lateness.record(u64::try_from(sent_ns - due_ns).unwrap_or(0));
        }
        Ok(())
    }

    fn refused(&mut self, sentence: String) -> Result<(), String> {
        self.rows.open.sent.refused += 1;
        self.refusals_in_a_row += 1;
        if self.refusals_in_a_row == REFUSALS_IN_A_ROW {
            return Err(format!(
                "it gave up after {REFUSALS_IN_A_ROW} refused messages in a row; the last: {sentence}"
            ));
        }
        if !std::mem::replace(&mut self.refusal_said, true) {
            self.context
                .report(Report::Warning(self.context.plan.endpoint, format!("a message was refused: {sentence}")));
        }
        Ok(())
    }

    /// Sleeps until `time_ns` or the end of the run, handing over rows meanwhile. Returns the time.
    fn idle_until(&mut self, time_ns: i64, meanwhile: &mut Meanwhile<'_>) -> Result<i64, String> {
        loop {
            let now_ns = now_ns();
            self.rows.until(now_ns);
            if !self.context.spec.is_private() && now_ns >= self.look_again_ns {
                self.look_around()?;
                self.look_again_ns = now_ns + SLICE_NS;
            }
            if now_ns >= time_ns || self.stopped() {
                return Ok(now_ns);
            }
            meanwhile(now_ns)?;
            sleep_until(time_ns.min(self.rows.end_ns()).min(now_ns + SLICE_NS));
        }
    }

    /// Who listens, on a topic that is another program's too.
    fn look_around(&mut self) -> Result<(), String> {
        self.matched = self.publisher.matched()? > 0;
        self.ever_matched |= self.matched;
        if self.ever_matched {
            self.mismatches.clear();
            return Ok(());
        }
        let found = self.publisher.mismatches();
        // Those that have gone meanwhile are still the reason.
        if !found.is_empty() {
            self.mismatches = found;
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.context.flags.stop.load(Ordering::Relaxed) || self.context.flags.abandoned()
    }

    /// What it knows in the end.
    pub fn closing(&mut self) -> Closing {
        Closing { mismatches: std::mem::take(&mut self.mismatches), ..Closing::default() }
    }
}

/// The message that is due.
struct Message {
    /// Its time is filled in when it is asked for.
    stamp: Stamp,
    touch: Touch,
}

impl Draft for Message {
    fn write(&mut self, bytes: &mut [u8]) {
        payload::write(bytes, self.touch, self.stamp.id);
    }

    fn stamp(&mut self) -> Stamp {
        self.stamp.time_ns = now_ns();
        self.stamp
    }
}
