//! The subscriber's loop: it waits, takes all samples, and records the time of reception of each.
//!
//! The back end reads the time of reception as soon as it has the sample. There is no allocation, lock, report or system call per
//! sample. Rows go out once a second, also empty ones. Invariant: a row is handed over only when everything that was received in its
//! second is in it.

use super::{
    Context,
    matching::{Start, wait_for_start},
    protocol::EndpointReport,
    refusals::Refusals,
    sample_recorder::SampleRecorder,
};
use crate::{
    backend::{Backend, Subscription},
    clock::{SECOND_NS, now_ns},
    measure::allocations::counted,
    run_spec::Wait,
};

/// Interval of the checks for publishers while no sample comes.
const CHECK_INTERVAL_NS: i64 = SECOND_NS / 10;

/// Creates the subscription, waits for matching and for the start, takes until no more samples come, and stays until the run is over.
pub fn run(context: &Context, backend: &dyn Backend) -> Result<(), String> {
    let mut subscription = backend.subscription(&context.spec, &context.plan)?;
    let Some(start) = wait_for_start(&mut [(context, &mut *subscription)])? else { return Ok(()) };
    let mut subscriber = SubscriberLoop::new(context, subscription, &start);
    subscriber.take_all()?;
    context.finish(subscriber.report());
    context.wait_for_end();
    Ok(())
}

/// A subscription and its state while it takes.
pub struct SubscriberLoop<'a> {
    context: &'a Context,
    subscription: Box<dyn Subscription>,
    recorder: SampleRecorder<'a>,
    refusals: Refusals<'a>,
    publisher_seen: bool,
    alone_since_ns: Option<i64>,
    next_check_ns: i64,
    /// Reasons why publishers were not matched, while no sample has come.
    mismatches: Vec<String>,
}

impl<'a> SubscriberLoop<'a> {
    /// Begins at `start`.
    pub fn new(context: &'a Context, subscription: Box<dyn Subscription>, start: &Start) -> Self {
        SubscriberLoop {
            context,
            subscription,
            recorder: SampleRecorder::new(context, start),
            refusals: Refusals::new(context),
            publisher_seen: false,
            alone_since_ns: None,
            next_check_ns: start.start_ns,
            mismatches: Vec::new(),
        }
    }

    /// Takes until all samples that were sent have arrived, or no more come.
    pub fn take_all(&mut self) -> Result<(), String> {
        while !self.context.flags.is_abandoned() {
            if self.recorder.drain.is_complete(self.recorder.taken + self.subscription.overwritten()) {
                // Samples still at hand arrived before. Publishers of other programs do not stop, so this loop would not end for them.
                while self.context.spec.has_publishers() && self.take_one()? {}
                break;
            }
            // Read before the attempt: if there is no sample, all that came before this time have been taken.
            let before_ns = now_ns();
            if self.recorder.drain.is_over(before_ns) {
                break;
            }
            if self.take_one()? {
                continue;
            }
            self.recorder.rows.until(before_ns);
            self.wait(before_ns)?;
        }
        self.recorder.rows.until(now_ns());
        self.recorder.add_overwritten(self.subscription.overwritten());
        self.recorder.rows.last();
        Ok(())
    }

    /// Takes all samples at hand, with INTRA_THREAD after each message.
    pub fn take_available(&mut self, now_ns: i64) -> Result<(), String> {
        while self.take_one()? {}
        self.recorder.rows.until(now_ns);
        Ok(())
    }

    /// Waits until a sample comes, a row ends, or it is time to check the orders.
    fn wait(&mut self, now_ns: i64) -> Result<(), String> {
        if self.context.spec.wait == Wait::Spin {
            std::hint::spin_loop();
        } else {
            self.subscription.wait(self.recorder.drain.wait(now_ns, self.recorder.rows.hand_over_ns()))?;
        }
        // This runs only while no sample comes.
        if now_ns >= self.next_check_ns {
            self.next_check_ns = now_ns + CHECK_INTERVAL_NS;
            self.check_publishers(now_ns)?;
        }
        Ok(())
    }

    /// Takes one sample, if there is one.
    fn take_one(&mut self) -> Result<bool, String> {
        let (recorder, subscription) = (&mut self.recorder, &mut self.subscription);
        let take = || subscription.take(&mut |taken| recorder.record(taken));
        let (taken, allocated) = counted(self.context.spec.check_memory, take);
        match taken {
            Ok(true) => {
                self.refusals.reset();
                self.recorder.add_allocations(allocated.allocations);
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(sentence) => {
                self.recorder.rows.open.received.refused += 1;
                let report = "a sample could not be taken";
                self.refusals.count("refused attempts to take", report, &sentence).map(|()| true)
            }
        }
    }

    /// Updates the matched publishers and the reasons of mismatches, which are not known any more once a publisher has gone.
    fn check_publishers(&mut self, now_ns: i64) -> Result<(), String> {
        if self.recorder.taken == 0 {
            let found = self.subscription.mismatches();
            if !found.is_empty() {
                self.mismatches = found;
            }
        }
        let publishers = self.subscription.matched()?;
        self.publisher_seen |= publishers > 0 || self.recorder.taken > 0;
        if publishers > 0 {
            self.alone_since_ns = None;
        } else if self.publisher_seen {
            self.alone_since_ns.get_or_insert(now_ns - self.recorder.start_ns);
        }
        Ok(())
    }

    /// The report at the end.
    pub fn report(&mut self) -> EndpointReport {
        let mismatches = if self.recorder.taken == 0 { std::mem::take(&mut self.mismatches) } else { Vec::new() };
        let sequences = &self.recorder.sequences;
        let (last_seen, before_matched) = (sequences.last_seen(), sequences.before_matched());
        EndpointReport { last_seen, before_matched, alone_since_ns: self.alone_since_ns, mismatches }
    }
}
