//! The subscriber's loop. It waits, takes all samples, and records the time of reception of each sample.
//!
//! The back end reads the time of reception as soon as it has the sample. For each sample the loop does not allocate,
//! lock or report, and makes no system call. Rows are sent to the reporting thread once a second, even if they are
//! empty. Invariant: a row is sent to the reporting thread only when it contains all samples that were received in its
//! second.

use std::time::Duration;

use super::{listener, refusals::Refusals};
use crate::{
    backend::{Delivery, DeliveryKind, Session, Subscription, Taken},
    choice::Choice,
    clock::{SECOND_NS, now_ns, sleep_until},
    measure::allocations::counted,
    run_spec::Wait,
    worker::{
        context::Context,
        matching::{
            Start,
            probe::{Early, End, work_on},
            wait_for_start,
        },
        protocol::EndpointReport,
        recording::{publisher_watch::PublisherWatch, sample_recorder::SampleRecorder},
    },
};

/// The time before the start at which a busy-waiting subscription begins to poll.
const SPIN_UP_NS: i64 = SECOND_NS / 1000;
/// The time before the next request at which a client stops waiting for responses and sleeps instead, because the
/// middleware may wake it late. For short periods it is the period divided by [`WAKE_UP_PART`].
const WAKE_UP_NS: i64 = SECOND_NS / 20_000;
const WAKE_UP_PART: i64 = 10;

/// Creates the subscription, and waits for matching and for the start. Takes samples until no more arrive, and returns
/// when the run is over.
pub fn run(context: &Context, session: &dyn Session) -> Result<(), String> {
    let (name, declared) = (&context.spec.communicator, context.spec.capabilities.delivery);
    let mut subscription = match (session.subscription(&context.spec, &context.plan)?, declared) {
        (Delivery::Pull(subscription), DeliveryKind::Pull) => subscription,
        (Delivery::Push(listener), DeliveryKind::Push) => return listener::run(context, listener),
        (delivery, _) => {
            let found = if matches!(delivery, Delivery::Pull(_)) { DeliveryKind::Pull } else { DeliveryKind::Push };
            let (found, declared) = (found.name(), declared.name());
            return Err(format!(
                "{name} declares the delivery `{declared}`, and its subscription has `{found}`: its description must say what it does"
            ));
        }
    };
    let Some(mut start) = wait_for_start(&mut [(context, End::Subscription(&mut *subscription))])? else {
        return Ok(());
    };
    let early = start.early.pop().unwrap_or_default();
    let mut subscriber = SubscriberLoop::new(context, subscription, &start, early);
    if context.spec.wait == Wait::Spin && context.plan.private {
        // No message arrives before the start, and polling until then would count as the cost of messages.
        sleep_until(start.start_ns - SPIN_UP_NS);
    }
    subscriber.take_all()?;
    context.finish(subscriber.report());
    context.wait_for_end();
    Ok(())
}

/// A subscription and its state while it takes.
pub struct SubscriberLoop<'a> {
    context: &'a Context,
    subscription: Box<dyn Subscription>,
    recorder: SampleRecorder,
    refusals: Refusals<'a>,
    publishers: PublisherWatch,
}

impl<'a> SubscriberLoop<'a> {
    /// Creates the loop of a subscription at the start of the run. `early` are the messages that arrived before the
    /// start.
    pub fn new(context: &'a Context, subscription: Box<dyn Subscription>, start: &Start, early: Early) -> Self {
        SubscriberLoop {
            context,
            recorder: SampleRecorder::new(context, start, subscription.clock(), early, subscription.overwritten()),
            subscription,
            refusals: Refusals::new(context),
            publishers: PublisherWatch::new(context, start.start_ns),
        }
    }

    /// Takes samples until all sent samples have arrived, or no more are expected.
    pub fn take_all(&mut self) -> Result<(), String> {
        while let Some(now_ns) = self.take_rest()? {
            self.wait(now_ns, Duration::MAX)?;
        }
        Ok(())
    }

    /// Takes the samples that have arrived, and returns the time up to which this is complete. Returns `None` at the
    /// end, when all sent samples have arrived or no more are expected.
    #[inline]
    pub fn take_rest(&mut self) -> Result<Option<i64>, String> {
        while !self.context.flags.is_abandoned() {
            if self.recorder.is_complete(self.subscription.overwritten()) {
                // Takes the remaining samples that have arrived. This is left out if publishers belong to other
                // programs, because these do not stop and the loop would not end.
                while self.context.plan.publishers > 0 && self.take_one()? {}
                break;
            }
            // The time is read before the attempt. If there is no sample, all samples that arrived before this time
            // have been taken.
            let before_ns = now_ns();
            if self.recorder.drain.is_over(before_ns) {
                break;
            }
            if !self.take_one()? {
                self.recorder.rows.until(before_ns);
                return Ok(Some(before_ns));
            }
        }
        let now_ns = now_ns();
        self.recorder.rows.end_until(now_ns);
        self.recorder.add_overwritten(self.subscription.overwritten());
        self.recorder.rows.last(now_ns);
        Ok(None)
    }

    /// Takes all samples that have arrived. A thread that also publishes calls this after each message that it sent.
    pub fn take_available(&mut self, now_ns: i64) -> Result<(), String> {
        while self.take_one()? {}
        self.recorder.rows.until(now_ns);
        Ok(())
    }

    /// Waits for a sample, at most for `longest`. Returns earlier when a row is due or the coordinator's orders must be
    /// checked.
    pub fn wait(&mut self, now_ns: i64, longest: Duration) -> Result<(), String> {
        // The check comes before the wait: after the wait a sample may have arrived, and the check would delay it.
        self.publishers.check(&mut *self.subscription, self.recorder.taken, now_ns)?;
        if self.context.spec.wait == Wait::Spin {
            std::hint::spin_loop();
            return Ok(());
        }
        self.subscription.wait(longest.min(self.recorder.drain.wait(now_ns, self.recorder.rows.hand_over_ns())))
    }

    /// Waits for a sample, but stops some time before `until_ns`. A message is due at `until_ns`, and the middleware
    /// may wake the thread late.
    pub fn wait_until(&mut self, until_ns: i64) -> Result<(), String> {
        let period_ns = self.context.plan.pace.period_ns().unwrap_or(0);
        let wait_ns = until_ns - now_ns() - WAKE_UP_NS.min(period_ns / WAKE_UP_PART);
        if self.context.spec.wait == Wait::Spin {
            std::hint::spin_loop();
        } else if wait_ns > 0 {
            self.subscription.wait(Duration::from_nanos(wait_ns as u64))?;
        } else {
            sleep_until(until_ns);
        }
        Ok(())
    }

    /// Takes one sample. Returns whether there was one.
    fn take_one(&mut self) -> Result<bool, String> {
        let (recorder, subscription) = (&mut self.recorder, &mut self.subscription);
        let work_ns = self.context.plan.work_ns;
        let mut reader = |taken: &Taken<'_>| {
            recorder.record(taken);
            // The simulated work comes while the subscription still holds the sample, as in a callback.
            work_on(taken, work_ns);
        };
        let take = || subscription.take(&mut reader);
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

    /// The subscription's report at the end of the run.
    pub fn report(&mut self) -> EndpointReport {
        self.publishers.report(&self.recorder)
    }
}
