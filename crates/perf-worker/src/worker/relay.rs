//! The relay's loop: it takes each message from one topic and sends it on the other with its original stamp. A server is one, too: it
//! answers each request with its stamp.
//!
//! The publisher's and the subscription's workers measure the round trip; a relay only counts messages.

use super::{
    Context,
    drain::DrainMonitor,
    matching::{Start, wait_for_start},
    protocol::EndpointReport,
    refusals::Refusals,
    rows::Rows,
};
use crate::{
    backend::{Draft, Matched, Matching, Publisher, Server, Session, Stamp, Subscription},
    clock::{now_ns, work},
    endpoint::EndpointPlan,
    measure::loss::{Arrival, Sequences},
    payload,
    run_spec::{RunSpec, Touch, Wait},
};

/// Creates both ends, waits for matching and for the start, and passes messages on until no more come.
pub fn run(context: &Context, session: &dyn Session) -> Result<(), String> {
    let mut ends = Ends::create(context, session)?;
    let Some(Start { start_ns, .. }) = wait_for_start(&mut [(context, &mut ends)])? else { return Ok(()) };
    let rows = Rows::new(context, start_ns);
    let sequences = Sequences::new(context.plan.publishers > 0, context.plan.message.last_id);
    let drain = DrainMonitor::new(context, start_ns);
    let mut relay_loop =
        RelayLoop { context, ends, rows, sequences, drain, overwritten: 0, taken: 0, refusals: Refusals::new(context) };
    relay_loop.relay_all()?;
    context.finish(EndpointReport::default());
    context.wait_for_end();
    Ok(())
}

struct Ends {
    subscription: Box<dyn Subscription>,
    publisher: Box<dyn Publisher>,
}

impl Ends {
    fn create(context: &Context, session: &dyn Session) -> Result<Ends, String> {
        let (spec, plan) = (&context.spec, &context.plan);
        if plan.service {
            let Server { requests, responses } = session.server(spec, plan)?;
            return Ok(Ends { subscription: requests, publisher: responses });
        }
        let to = EndpointPlan { topic: plan.relay_topic.clone(), ..plan.clone() };
        Ok(Ends {
            subscription: session.subscription(spec, plan)?.pull("a relay")?,
            publisher: session.publisher(spec, &to)?,
        })
    }
}

impl Matched for Ends {
    /// The matching of the side that has fewer.
    fn matched(&mut self) -> Result<Matching, String> {
        let (from, to) = (self.subscription.matched()?, self.publisher.matched()?);
        Ok(match (from, to) {
            (Matching::Count(from), Matching::Count(to)) => Matching::Count(from.min(to)),
            _ if from.is_none() || to == Matching::Unknown => from,
            _ => to,
        })
    }

    fn mismatches(&mut self) -> Vec<String> {
        [self.subscription.mismatches(), self.publisher.mismatches()].concat()
    }
}

struct RelayLoop<'a> {
    context: &'a Context,
    ends: Ends,
    rows: Rows,
    sequences: Sequences,
    overwritten: u64,
    /// Messages taken, duplicates not counted.
    taken: u64,
    /// Monitors the end.
    drain: DrainMonitor,
    refusals: Refusals<'a>,
}

impl RelayLoop<'_> {
    fn relay_all(&mut self) -> Result<(), String> {
        let spec = self.context.spec.clone();
        while !self.context.flags.is_abandoned() {
            if self.drain.is_complete(self.taken + self.overwritten) {
                while self.context.plan.publishers > 0 && self.relay_one(&spec)? {}
                break;
            }
            let before_ns = now_ns();
            if self.drain.is_over(before_ns) {
                break;
            }
            if self.relay_one(&spec)? {
                continue;
            }
            self.rows.until(before_ns);
            if spec.wait == Wait::Spin {
                std::hint::spin_loop();
            } else {
                self.ends.subscription.wait(self.drain.wait(before_ns, self.rows.hand_over_ns()))?;
            }
        }
        self.rows.last(now_ns());
        Ok(())
    }

    /// Passes one message on, if there is one.
    fn relay_one(&mut self, spec: &RunSpec) -> Result<bool, String> {
        let Ends { subscription, publisher } = &mut self.ends;
        let (mut refused, mut passed) = (None, None);
        let taken = subscription.take(&mut |taken| {
            let stamp = Stamp { time_ns: taken.time_ns, id: taken.id, rate_hz: self.context.plan.pace.rate_hz() };
            passed = Some((taken.received_ns, taken.time_ns, taken.length_bytes, taken.source, taken.id));
            work(self.context.plan.work_ns);
            refused = publisher.publish(&mut Passed { stamp, touch: spec.touch }).err();
        });
        let taken = taken.unwrap_or_else(|sentence| {
            refused = Some(sentence);
            true
        });
        if let Some((received_ns, time_ns, length_bytes, source, id)) = passed {
            self.rows.until(received_ns);
            self.drain.arrived(received_ns, received_ns.saturating_sub(time_ns));
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
            self.refusals.report("a message was not passed on", &sentence);
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
