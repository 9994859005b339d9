//! The subscriber's loop: waits, takes all there is, and notes when each sample came.
//!
//! Runs on a thread of a worker; also the second half of `intra_thread`. A sample's time of reception is what the back end read right
//! after it had it. No allocation, lock, report or system call per sample; rows go out once a second, also when nothing comes.
//! Invariant: a row is handed over only when everything that was received in its second is in it.

use super::Context;
use super::matching::wait_for_start;
use super::notes::Notes;
use super::protocol::{Closing, Report};
use crate::backend::{Backend, Subscription};
use crate::clock::{SECOND_NS, now_ns};
use crate::measure::allocations::counted;
use crate::run_spec::Wait;

/// How often a spinning subscription looks around while nothing comes.
const LOOK_AROUND_NS: i64 = SECOND_NS / 10;
/// Refusals in a row after which a subscription gives up.
const REFUSALS_IN_A_ROW: u32 = 100;

/// Creates the subscription, waits for the others and the start, takes until nothing more comes, and stays until the run is over.
pub fn run(context: &Context, backend: &dyn Backend) -> Result<(), String> {
    let mut subscription = backend.subscription(&context.spec, &context.plan)?;
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
    notes: Notes<'a>,
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
        while !self.context.flags.abandoned() {
            if self.notes.draining.is_complete(self.notes.taken + self.subscription.overwritten()) {
                // What is there besides was there before. Others' publishers go on, and theirs would never end.
                while self.context.spec.has_publishers() && self.take_one()? {}
                break;
            }
            // Read before looking: what came before it has been taken when there is nothing.
            let before_ns = now_ns();
            if self.notes.draining.is_over(before_ns) {
                break;
            }
            if self.take_one()? {
                continue;
            }
            self.notes.rows.until(before_ns);
            self.wait(before_ns)?;
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
    fn wait(&mut self, now_ns: i64) -> Result<(), String> {
        if self.context.spec.wait == Wait::Spin {
            std::hint::spin_loop();
        } else {
            self.subscription.wait(self.notes.draining.wait(now_ns, self.notes.rows.end_ns()))?;
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
        let (taken, allocated) = counted(self.context.spec.check_memory, take);
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
            self.context.report(Report::Warning(self.context.plan.endpoint, sentence));
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
