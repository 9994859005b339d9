//! The relay's loop: takes each message from the one topic and sends it on to the other with its original stamp.
//!
//! Runs on a thread of a worker, for round trips. What it measures is the other end's; here messages are only counted.

use super::Context;
use super::draining::Draining;
use super::matching::wait_for_start;
use super::protocol::{Closing, Report};
use super::rows::Rows;
use crate::backend::{Backend, Draft, Matched, Publisher, Stamp, Subscription};
use crate::clock::now_ns;
use crate::endpoint::EndpointPlan;
use crate::measure::loss::{Arrival, Sequences};
use crate::payload;
use crate::run_spec::{RunSpec, Touch, Wait};

/// Creates both ends, waits for the others and the start, and passes messages on until nothing more comes.
pub fn run(context: &Context, backend: &dyn Backend) -> Result<(), String> {
    let to = EndpointPlan { topic: context.plan.relay_topic.clone(), ..context.plan.clone() };
    let mut ends = Ends {
        subscription: backend.subscription(&context.spec, &context.plan)?,
        publisher: backend.publisher(&context.spec, &to)?,
    };
    let Some(start_ns) = wait_for_start(&mut [(context, &mut ends)])? else { return Ok(()) };
    let rows = Rows::new(context.plan.endpoint, context.outgoing.clone(), start_ns);
    let sequences = Sequences::new(context.spec.has_publishers(), context.spec.last_id);
    let draining = Draining::new(context, start_ns);
    let mut relaying = Relaying { context, ends, rows, sequences, draining, overwritten: 0, taken: 0, said: false };
    relaying.relay_all()?;
    context.finish(Closing::default());
    context.stay_until_the_end();
    Ok(())
}

struct Ends {
    subscription: Box<dyn Subscription>,
    publisher: Box<dyn Publisher>,
}

impl Matched for Ends {
    /// On the side where there are fewer.
    fn matched(&mut self) -> Result<usize, String> {
        Ok(self.subscription.matched()?.min(self.publisher.matched()?))
    }

    fn mismatches(&mut self) -> Vec<String> {
        [self.subscription.mismatches(), self.publisher.mismatches()].concat()
    }
}

struct Relaying<'a> {
    context: &'a Context,
    ends: Ends,
    rows: Rows,
    sequences: Sequences,
    overwritten: u64,
    /// Messages taken, duplicates not counted.
    taken: u64,
    /// Whether more is to be expected.
    draining: Draining<'a>,
    /// Why a message could not be passed on has been said.
    said: bool,
}

impl Relaying<'_> {
    fn relay_all(&mut self) -> Result<(), String> {
        let spec = self.context.spec.clone();
        while !self.context.flags.abandoned() {
            if self.draining.is_complete(self.taken + self.overwritten) {
                while spec.has_publishers() && self.relay_one(&spec)? {}
                break;
            }
            let before_ns = now_ns();
            if self.draining.is_over(before_ns) {
                break;
            }
            if self.relay_one(&spec)? {
                continue;
            }
            self.rows.until(before_ns);
            if spec.wait == Wait::Spin {
                std::hint::spin_loop();
            } else {
                self.ends.subscription.wait(self.draining.wait(before_ns, self.rows.end_ns()))?;
            }
        }
        self.rows.until(now_ns());
        self.rows.last();
        Ok(())
    }

    /// Passes one message on, if there is one.
    fn relay_one(&mut self, spec: &RunSpec) -> Result<bool, String> {
        let Ends { subscription, publisher } = &mut self.ends;
        let (mut refused, mut passed) = (None, None);
        let taken = subscription.take(&mut |taken| {
            let stamp = Stamp { time_ns: taken.time_ns, id: taken.id, rate_hz: spec.rate_hz };
            passed = Some((taken.received_ns, taken.time_ns, taken.length_bytes, taken.source, taken.id));
            refused = publisher.publish(&mut Passed { stamp, touch: spec.touch }).err();
        });
        let taken = match taken {
            Ok(taken) => taken,
            Err(sentence) => {
                refused = Some(sentence);
                true
            }
        };
        if let Some((received_ns, time_ns, length_bytes, source, id)) = passed {
            self.rows.until(received_ns);
            self.draining.arrived(received_ns, received_ns.saturating_sub(time_ns));
            self.taken += u64::from(self.sequences.arrived(source, id, 0).1 != Arrival::Duplicate);
            let relayed = &mut self.rows.open.relayed;
            relayed.samples += u64::from(refused.is_none());
            relayed.bytes += length_bytes;
        }
        let overwritten = self.ends.subscription.overwritten();
        self.rows.open.relayed.overwritten += overwritten.saturating_sub(self.overwritten);
        self.overwritten = overwritten;
        if let Some(sentence) = refused {
            self.rows.open.relayed.refused += 1;
            if !std::mem::replace(&mut self.said, true) {
                let sentence = format!("a message was not passed on: {sentence}");
                self.context.report(Report::Warning(self.context.plan.endpoint, sentence));
            }
        }
        Ok(taken)
    }
}

/// A message that is passed on.
struct Passed {
    stamp: Stamp,
    touch: Touch,
}

impl Draft for Passed {
    fn write(&mut self, bytes: &mut [u8]) {
        payload::write(bytes, self.touch, self.stamp.id);
    }

    fn stamp(&mut self) -> Stamp {
        self.stamp
    }
}
