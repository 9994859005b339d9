//! The publisher's loop: messages on an open-loop schedule, each stamped right before it is published.
//!
//! Runs on a thread of a worker. One message is prepared before the start. With zero copy a loan of its shape is
//! stamped and published in place; without it the message itself is stamped and copied in. In both modes the payload is
//! left as it is, but for texts, which are written when they are loaned. No allocation, lock or report between due time and
//! publish; rows go out once a second.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gantry::{MemoryError, Publisher};

use super::Context;
use super::protocol::{Closing, MATCH_TIMEOUT_S, Order, Report};
use super::rows::{Outgoing, Rows};
use crate::clock::{SECOND_NS, now_ns, sleep_until};
use crate::measure::tally::Sent;
use crate::messages::{Benchmark, Stamp};
use crate::pacing::Schedule;

/// How long anything may take to notice that the run is over.
const SLICE_NS: i64 = SECOND_NS / 10;
/// Refusals in a row after which a publisher gives up.
const REFUSALS_IN_A_ROW: u32 = 100;

/// Creates the publisher, waits for the others and the start, publishes, and stays until the run is over.
pub fn run<M: Benchmark>(context: &mut Context) -> Result<(), String> {
    // The default slack of 50 µs would make every message late. Without permission it stays as it is.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let node = context.node().map_err(|error| error.to_string())?;
    let created = node.create_publisher::<M>(&context.topic, context.qos());
    let mut publisher = created.map_err(|error| error.to_string())?;
    context.report(Report::Ready(context.endpoint));
    if context.experiment.is_private() && !wait_until_matched(context, &mut publisher)? {
        return Ok(());
    }
    let Ok(Order::Go { start_ns }) = context.orders.recv() else { return Ok(()) };
    let mut publishing = Publishing::new(context, publisher, start_ns);
    publishing.publish_all()?;
    let closing = Closing { mismatches: std::mem::take(&mut publishing.mismatches), ..Closing::default() };
    let _ = context.outgoing.send(Outgoing::Finished { endpoint: context.endpoint, closing });
    // What is in this publisher's memory must stay readable until the subscriptions have it.
    while !context.flags.abandoned() && context.orders.recv().is_ok() {}
    Ok(())
}

/// Whether all subscriptions of the run are matched; false if the run is over before.
fn wait_until_matched<M: Benchmark>(context: &Context, publisher: &mut Publisher<M>) -> Result<bool, String> {
    let wanted = context.experiment.subscriptions as usize;
    let give_up_ns = now_ns() + MATCH_TIMEOUT_S * SECOND_NS;
    let slice = Duration::from_nanos(SLICE_NS as u64);
    loop {
        match publisher.wait_for_subscriptions(wanted, slice) {
            Ok(true) => break,
            // Others on the topic, with another type, are no reason to give ours up.
            Ok(false) | Err(gantry::Error::Memory(MemoryError::TypeMismatch { .. })) => {}
            Err(error) => return Err(error.to_string()),
        }
        if context.flags.abandoned() {
            return Ok(false);
        }
        if now_ns() > give_up_ns {
            let matched = publisher.subscription_count().map_err(|error| error.to_string())?;
            context.report(Report::Unmatched { endpoint: context.endpoint, matched });
            return Ok(false);
        }
    }
    context.report(Report::Matched(context.endpoint));
    Ok(true)
}

struct Publishing<'a, M: Benchmark> {
    context: &'a Context,
    publisher: Publisher<M>,
    /// The message that is copied in; with zero copy the one whose shape is loaned.
    message: Box<M>,
    schedule: Schedule,
    end_ns: i64,
    rows: Rows<Sent>,
    next_id: u64,
    matched: bool,
    /// Why subscriptions are not matched, until one is.
    mismatches: Vec<String>,
    ever_matched: bool,
    look_again_ns: i64,
    refusals_in_a_row: u32,
}

impl<'a, M: Benchmark> Publishing<'a, M> {
    fn new(context: &'a Context, publisher: Publisher<M>, start_ns: i64) -> Self {
        let experiment = &context.experiment;
        let mut message = M::prepared(experiment.unbounded_bytes as usize);
        if !experiment.zero_copy {
            message.touch();
        }
        let run_ns = i64::from(experiment.max_runtime_s) * SECOND_NS;
        Publishing {
            context,
            publisher,
            message,
            schedule: Schedule::new(start_ns, experiment.rate_hz),
            end_ns: if run_ns == 0 { i64::MAX } else { start_ns + run_ns },
            rows: Rows::new(context.endpoint, context.outgoing.clone(), start_ns),
            next_id: 1,
            matched: experiment.is_private(),
            mismatches: Vec::new(),
            ever_matched: experiment.is_private(),
            look_again_ns: start_ns,
            refusals_in_a_row: 0,
        }
    }

    fn publish_all(&mut self) -> Result<(), String> {
        // The start lies a little in the future, also for what is sent as fast as possible.
        self.idle_until(self.rows.end_ns() - SECOND_NS)?;
        let mut index = 0;
        while !self.stopped() {
            let due_ns = self.schedule.due_ns(index);
            let awake_ns = self.idle_until(due_ns.unwrap_or(0).min(self.end_ns))?;
            // What was due before the end is still sent a little after it, so that one stall at the end costs no sample.
            let due_at_end = due_ns.is_none_or(|due_ns| due_ns >= self.end_ns);
            let over_ns = if due_at_end { 0 } else { SLICE_NS };
            if self.stopped() || awake_ns >= self.end_ns.saturating_add(over_ns) {
                break;
            }
            self.publish_one(due_ns, awake_ns)?;
            index += 1;
            if let Some(next_due_ns) = self.schedule.due_ns(index) {
                self.rows.open.reserve_ns.add((next_due_ns - now_ns()) as f64);
            }
        }
        let now_ns = now_ns();
        self.rows.until(now_ns);
        // The message at hand when the order to stop came is not owed.
        let begun = index + u64::from(self.stopped());
        self.rows.open.unsent = self.schedule.due_before(now_ns.min(self.end_ns)).saturating_sub(begun);
        self.rows.last();
        Ok(())
    }

    fn publish_one(&mut self, due_ns: Option<i64>, awake_ns: i64) -> Result<(), String> {
        let stamp = |time_ns| Stamp { time_ns, id: self.next_id, rate_hz: self.context.experiment.rate_hz };
        let published = if self.context.experiment.zero_copy {
            self.publisher.loan_with(self.message.shape()).and_then(|mut loan| {
                let stamp_ns = now_ns();
                M::stamp_loan(&mut loan, stamp(stamp_ns));
                Ok(self.publisher.publish(loan).map(|_| stamp_ns)?)
            })
        } else {
            let stamp_ns = now_ns();
            self.message.stamp(stamp(stamp_ns));
            self.publisher.publish_copy(&self.message).map(|_| stamp_ns)
        };
        let stamp_ns = match published {
            Ok(stamp_ns) => stamp_ns,
            Err(error) => return self.refused(&error),
        };
        self.refusals_in_a_row = 0;
        self.next_id += 1;
        self.rows.until(stamp_ns);
        let row = &mut self.rows.open;
        row.samples += 1;
        row.unmatched += u64::from(!self.matched);
        row.prepare_ns.add((stamp_ns - awake_ns) as f64);
        if let Some(due_ns) = due_ns {
            row.lateness_ns.add((stamp_ns - due_ns) as f64);
        }
        Ok(())
    }

    fn refused(&mut self, error: &gantry::Error) -> Result<(), String> {
        self.rows.open.refused += 1;
        self.refusals_in_a_row += 1;
        if self.refusals_in_a_row == REFUSALS_IN_A_ROW {
            return Err(format!("it gave up after {REFUSALS_IN_A_ROW} refused messages in a row"));
        }
        if self.refusals_in_a_row == 1 {
            self.context.report(Report::Doubt(self.context.endpoint, format!("a message was refused: {error}")));
        }
        Ok(())
    }

    /// Sleeps until `time_ns` or the end of the run, handing over rows meanwhile. Returns the time.
    fn idle_until(&mut self, time_ns: i64) -> Result<i64, String> {
        loop {
            let now_ns = now_ns();
            self.rows.until(now_ns);
            if !self.context.experiment.is_private() && now_ns >= self.look_again_ns {
                self.look_around().map_err(|error| error.to_string())?;
                self.look_again_ns = now_ns + SLICE_NS;
            }
            if now_ns >= time_ns || self.stopped() {
                return Ok(now_ns);
            }
            sleep_until(time_ns.min(self.rows.end_ns()).min(now_ns + SLICE_NS));
        }
    }

    /// Who listens, on a topic that is another program's too.
    fn look_around(&mut self) -> Result<(), gantry::Error> {
        self.matched = self.publisher.subscription_count()? > 0;
        self.ever_matched |= self.matched;
        if self.ever_matched {
            self.mismatches.clear();
            return Ok(());
        }
        let found = self.publisher.mismatches()?;
        // Those that have gone meanwhile are still the reason.
        if !found.is_empty() {
            self.mismatches = found;
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.context.flags.stop.load(Ordering::Relaxed) || self.context.flags.abandoned()
    }
}
