//! The relay's loop. It takes each message from one topic and publishes it on another topic with the original stamp. A
//! server is also a relay: it answers each request with the request's stamp.
//!
//! The workers of the publisher and of the subscription measure the round trip; a relay only counts messages.

use super::refusals::Refusals;
use crate::{
    backend::{OtherClock, Session, Taken},
    clock::now_ns,
    measure::loss::{Arrival, Sequences},
    run_spec::Wait,
    worker::{
        context::Context,
        matching::{
            Start,
            probe::{End, is_probe, work_on},
            relay_ends::{Ends, Passed},
            wait_for_start,
        },
        protocol::EndpointReport,
        recording::drain::DrainMonitor,
        reporting::rows::Rows,
    },
};

/// Creates the relay's subscription and publisher, and waits for matching and for the start. Passes messages on until
/// no more arrive.
pub fn run(context: &Context, session: &dyn Session) -> Result<(), String> {
    let mut ends = Ends::create(context, session)?;
    let Some(Start { start_ns, early, .. }) = wait_for_start(&mut [(context, End::Relay(&mut ends))])? else {
        return Ok(());
    };
    let rows = Rows::new(context, start_ns);
    let sequences = Sequences::new(context.plan.publishers > 0, context.plan.message.last_id);
    let drain = DrainMonitor::new(context, start_ns);
    let overwritten = if context.spec.has_probes() { ends.subscription.overwritten() } else { 0 };
    let mut relay_loop = RelayLoop {
        context,
        ends,
        rows,
        sequences,
        overwritten_before: overwritten,
        overwritten,
        taken: 0,
        drain,
        refusals: Refusals::new(context),
    };
    // Early messages (sent before this relay started) have already been passed on, so they are only counted.
    for (taken, _) in early.iter().flat_map(|early| &early.own) {
        relay_loop.count(taken, true);
    }
    relay_loop.relay_all()?;
    context.finish(EndpointReport::default());
    context.wait_for_end();
    Ok(())
}

struct RelayLoop<'a> {
    context: &'a Context,
    ends: Ends,
    rows: Rows,
    sequences: Sequences,
    /// The number of probe messages that left the history before the start.
    overwritten_before: u64,
    overwritten: u64,
    /// Messages taken, without duplicates.
    taken: u64,
    drain: DrainMonitor,
    refusals: Refusals<'a>,
}

impl RelayLoop<'_> {
    fn relay_all(&mut self) -> Result<(), String> {
        let spec = self.context.spec.clone();
        while !self.context.flags.is_abandoned() {
            if self.drain.is_complete(self.taken + self.overwritten - self.overwritten_before) {
                while self.context.plan.publishers > 0 && self.relay_one()? {}
                break;
            }
            let before_ns = now_ns();
            if self.drain.is_over(before_ns) {
                break;
            }
            if self.relay_one()? {
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

    /// Takes one message and publishes it on the other topic. Returns whether there was a message.
    fn relay_one(&mut self) -> Result<bool, String> {
        let Ends { subscription, publisher } = &mut self.ends;
        let (mut refused, mut passed) = (None, None);
        let taken = subscription.take(&mut |taken| {
            work_on(taken, self.context.plan.work_ns);
            let published = publisher.publish(&mut Passed::on(self.context, taken));
            if !is_probe(taken) {
                passed = Some(taken.without_payload());
                refused = published.err();
            }
        });
        let taken = taken.unwrap_or_else(|sentence| {
            refused = Some(sentence);
            true
        });
        if let Some(passed) = passed {
            self.count(&passed, refused.is_none());
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

    /// Counts a taken message. `is_sent` tells whether it was published on the other topic.
    fn count(&mut self, taken: &Taken<'_>, is_sent: bool) {
        let received_ns = OtherClock::host_ns(self.ends.subscription.clock(), taken.received_ns);
        self.rows.until(received_ns);
        self.drain.arrived(received_ns, received_ns.saturating_sub(taken.time_ns));
        self.taken += u64::from(self.sequences.arrived(taken.source, taken.id, 0).1 != Arrival::Duplicate);
        let relayed = &mut self.rows.open.relayed;
        relayed.samples += u64::from(is_sent);
        relayed.bytes += taken.length_bytes;
    }
}
