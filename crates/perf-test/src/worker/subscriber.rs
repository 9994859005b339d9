//! The subscriber's loop: waits, takes all there is, and notes when each sample came.
//!
//! Runs on a thread of a worker; also the second half of `intra_thread`. A sample's time of reception is what the back end read right
//! after it had it. No allocation, lock, report or system call per sample; rows go out once a second, also when nothing comes.
//! Invariant: a row is handed over only when everything that was received in its second is in it.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::matching::wait_for_start;
use super::protocol::{Closing, Report};
use super::rows::{Rows, Tally};
use super::{Context, NOT_DRAINING};
use crate::backend::{Backend, Subscription, Taken};
use crate::clock::{SECOND_NS, now_ns};
use crate::experiment::{Touch, Wait};
use crate::measure::allocations::counted;
use crate::measure::loss::{Arrival, Sequences};
use crate::pacing::Schedule;
use crate::payload;

/// The longest wait for a sample; how long anything may take to notice that the run is over.
const LONGEST_WAIT_NS: i64 = SECOND_NS / 10;
/// The same while draining.
const DRAIN_WAIT_NS: i64 = SECOND_NS / 100;
/// Silence after which nothing more is expected although samples are missing.
const GRACE_NS: i64 = SECOND_NS / 4;
/// How often a spinning subscription looks around while nothing comes.
const LOOK_AROUND_NS: i64 = SECOND_NS / 10;
/// Refusals in a row after which a subscription gives up.
const REFUSALS_IN_A_ROW: u32 = 100;

/// Creates the subscription, waits for the others and the start, takes until nothing more comes, and stays until the run is over.
pub fn run(context: &Context, backend: &dyn Backend) -> Result<(), String> {
    let mut subscription = backend.subscription(&context.experiment, &context.plan)?;
    let Some(start_ns) = wait_for_start(&mut [(context, &mut *subscription)])? else { return Ok(()) };
    let mut taking = Taking::new(context, subscription, start_ns);
    taking.take_all()?;
    context.finish(taking.closing());
    context.stay_until_the_end();
    Ok(())
}

/// A subscription that takes.
pub struct Taking<'a> {
    context: &'a Context,
    subscription: Box<dyn Subscription>,
    notes: Notes,
    refusals_in_a_row: u32,
    /// Why a sample could not be taken has been said; the others are only counted.
    refusal_said: bool,
    publisher_seen: bool,
    alone_since_ns: Option<i64>,
    look_again_ns: i64,
    /// Why publishers were not matched, while nothing has come.
    mismatches: Vec<String>,
}

impl<'a> Taking<'a> {
    /// Begins at `start_ns`.
    pub fn new(context: &'a Context, subscription: Box<dyn Subscription>, start_ns: i64) -> Self {
        Taking {
            context,
            subscription,
            notes: Notes::new(context, start_ns),
            refusals_in_a_row: 0,
            refusal_said: false,
            publisher_seen: false,
            alone_since_ns: None,
            look_again_ns: start_ns,
            mismatches: Vec::new(),
        }
    }

    /// Takes until everything that was sent is there, or nothing more comes.
    pub fn take_all(&mut self) -> Result<(), String> {
        let mut draining_since_ns = None;
        while !self.context.flags.abandoned() {
            let expected = self.context.flags.expected.load(Ordering::Relaxed);
            let draining = expected != NOT_DRAINING;
            if draining && self.notes.taken + self.subscription.overwritten() >= expected {
                // What is there besides was there before. Others' publishers go on, and theirs would never end.
                while self.context.experiment.has_publishers() && self.take_one()? {}
                break;
            }
            // Read before looking: what came before it has been taken when there is nothing.
            let before_ns = now_ns();
            if self.take_one()? {
                continue;
            }
            self.notes.rows.until(before_ns);
            if draining {
                let since_ns = *draining_since_ns.get_or_insert(before_ns);
                if before_ns - self.notes.last_arrival_ns.max(since_ns) > GRACE_NS {
                    break;
                }
            }
            self.wait(before_ns, draining)?;
        }
        self.notes.rows.until(now_ns());
        self.notes.pass_over(self.subscription.overwritten());
        self.notes.rows.last();
        Ok(())
    }

    /// Takes all there is now, with INTRA_THREAD after each message.
    pub fn take_available(&mut self, now_ns: i64) -> Result<(), String> {
        while self.take_one()? {}
        self.notes.rows.until(now_ns);
        Ok(())
    }

    /// Until there is something, a row is over, or it is time to look at the orders.
    fn wait(&mut self, now_ns: i64, draining: bool) -> Result<(), String> {
        if self.context.experiment.wait == Wait::Spin {
            std::hint::spin_loop();
        } else {
            let longest_ns = if draining { DRAIN_WAIT_NS } else { LONGEST_WAIT_NS };
            let wait_ns = (self.notes.rows.end_ns() - now_ns).clamp(1, longest_ns);
            self.subscription.wait(Duration::from_nanos(wait_ns as u64))?;
        }
        // While nothing comes there is time for it.
        if now_ns >= self.look_again_ns {
            self.look_again_ns = now_ns + LOOK_AROUND_NS;
            self.look_around(now_ns)?;
        }
        Ok(())
    }

    /// Takes one sample, if there is one.
    fn take_one(&mut self) -> Result<bool, String> {
        let (notes, subscription) = (&mut self.notes, &mut self.subscription);
        let take = || subscription.take(&mut |taken| notes.note(taken));
        let (taken, allocated) = counted(self.context.experiment.check_memory, take);
        match taken {
            Ok(true) => {
                self.refusals_in_a_row = 0;
                self.notes.allocated(allocated.allocations);
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(sentence) => self.refused(sentence).map(|()| true),
        }
    }

    fn refused(&mut self, sentence: String) -> Result<(), String> {
        self.notes.rows.open.received.refused += 1;
        self.refusals_in_a_row += 1;
        if self.refusals_in_a_row == REFUSALS_IN_A_ROW {
            return Err(format!(
                "it gave up after {REFUSALS_IN_A_ROW} samples in a row that could not be taken; the last: {sentence}"
            ));
        }
        if !std::mem::replace(&mut self.refusal_said, true) {
            let sentence = format!("a sample could not be taken: {sentence}");
            self.context.report(Report::Doubt(self.context.plan.endpoint, sentence));
        }
        Ok(())
    }

    /// Who publishes, and why somebody may not be matched; the publisher may be gone when the run ends.
    fn look_around(&mut self, now_ns: i64) -> Result<(), String> {
        if self.notes.taken == 0 {
            let found = self.subscription.mismatches();
            if !found.is_empty() {
                self.mismatches = found;
            }
        }
        let publishers = self.subscription.matched()?;
        self.publisher_seen |= publishers > 0 || self.notes.taken > 0;
        if publishers > 0 {
            self.alone_since_ns = None;
        } else if self.publisher_seen {
            self.alone_since_ns.get_or_insert(now_ns - self.notes.start_ns);
        }
        Ok(())
    }

    /// What it knows in the end.
    pub fn closing(&mut self) -> Closing {
        let mismatches = if self.notes.taken == 0 { std::mem::take(&mut self.mismatches) } else { Vec::new() };
        let sequences = &self.notes.sequences;
        let (last_seen, before_matched) = (sequences.last_seen(), sequences.before_matched());
        Closing { last_seen, before_matched, alone_since_ns: self.alone_since_ns, mismatches }
    }
}

/// What is noted of samples.
struct Notes {
    rows: Rows,
    sequences: Sequences,
    start_ns: i64,
    /// Samples sent in this time are in the statistics.
    scope_ns: Range<i64>,
    /// The last sample was sent in this time.
    in_scope: bool,
    /// When messages of this run's publishers are due; of others it is not known.
    schedule: Option<Schedule>,
    late_ns: u64,
    too_late_ns: u64,
    touch: Touch,
    /// Samples taken, whenever they were sent; duplicates not counted.
    taken: u64,
    /// Samples that had left the history when the last one was taken.
    overwritten: u64,
    last_arrival_ns: i64,
}

impl Notes {
    fn new(context: &Context, start_ns: i64) -> Notes {
        let experiment = &context.experiment;
        // The publishers of a run know its end themselves; others go on.
        let length_s = experiment.length_s().filter(|_| !experiment.has_publishers());
        Notes {
            rows: Rows::new(context.plan.endpoint, context.outgoing.clone(), start_ns),
            sequences: Sequences::new(experiment.has_publishers(), experiment.last_id),
            start_ns,
            scope_ns: start_ns + i64::from(experiment.left_out_s()) * SECOND_NS
                ..length_s.map_or(i64::MAX, |run_s| start_ns + i64::from(run_s) * SECOND_NS),
            in_scope: false,
            schedule: experiment.has_publishers().then(|| Schedule::new(start_ns, experiment.rate_hz)),
            late_ns: experiment.late.limit_ns(experiment.rate_hz),
            too_late_ns: experiment.too_late.limit_ns(experiment.rate_hz),
            touch: experiment.touch,
            taken: 0,
            overwritten: 0,
            last_arrival_ns: start_ns,
        }
    }

    fn note(&mut self, taken: &Taken<'_>) {
        self.rows.until(taken.received_ns);
        let passed_over = taken.overwritten.saturating_sub(self.overwritten);
        self.overwritten = taken.overwritten;
        let (id, arrival) = self.sequences.arrived(taken.source, taken.id, passed_over);
        self.last_arrival_ns = taken.received_ns;
        self.taken += u64::from(arrival != Arrival::Duplicate);
        let Tally { received, latencies, responses, .. } = &mut *self.rows.open;
        received.history += u64::from(taken.time_ns < self.start_ns);
        // A sample belongs to the measurement by the time when it was sent, here as with the publishers.
        self.in_scope = self.scope_ns.contains(&taken.time_ns);
        if !self.in_scope {
            return;
        }
        received.overwritten += passed_over;
        match arrival {
            Arrival::New { missed } => received.missed += missed,
            Arrival::Reordered => received.reordered += 1,
            Arrival::Duplicate => {
                received.duplicates += 1;
                return;
            }
        }
        received.samples += 1;
        received.bytes += taken.length_bytes;
        match u64::try_from(taken.received_ns - taken.time_ns) {
            Ok(latency_ns) => {
                received.latency_ns.add(latency_ns as f64);
                latencies.record(latency_ns);
                received.late += u64::from(latency_ns > self.late_ns && latency_ns <= self.too_late_ns);
                received.too_late += u64::from(latency_ns > self.too_late_ns);
            }
            Err(_) => received.negative += 1,
        }
        let due_ns = self.schedule.and_then(|schedule| schedule.due_ns(id.saturating_sub(1)));
        if let Some(response_ns) = due_ns.and_then(|due_ns| u64::try_from(taken.received_ns - due_ns).ok()) {
            received.response_ns.add(response_ns as f64);
            responses.record(response_ns);
        }
        if self.touch != Touch::Stamp {
            received.corrupt += u64::from(!payload::read(taken.payload, self.touch, id));
            received.read_ns.add((now_ns() - taken.received_ns) as f64);
        }
    }

    /// What was allocated in taking the last sample.
    fn allocated(&mut self, allocations: u64) {
        if self.in_scope {
            self.rows.open.received.allocations += allocations;
        }
    }

    /// Those that left the history since the last sample.
    fn pass_over(&mut self, overwritten: u64) {
        self.rows.open.received.overwritten += overwritten.saturating_sub(self.overwritten);
        self.overwritten = overwritten;
    }
}
