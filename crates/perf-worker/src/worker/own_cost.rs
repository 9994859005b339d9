//! Measures the own cost of `perf_test`: the part of each latency or period that `perf_test` causes and not the
//! middleware.
//!
//! The measurement runs a worker's loops with the options of the run and a middleware that does nothing. The caches are
//! warm in this measurement. A real run with a low rate finds colder caches, so its own cost is somewhat higher.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::context::account::InstrumentAccount;
use super::context::outgoing::OUTGOING_CAPACITY;
use super::context::{Context, Flags, NOT_DRAINING};
use super::loops::publisher::{PublisherLoop, sleep};
use super::loops::subscriber::SubscriberLoop;
use super::matching::Start;
use super::matching::probe::Early;
use super::placement::Placement;
use super::protocol::times::ROW_DELAY_NS;
use crate::{
    backend::{Draft, Matched, Matching, Publisher, Sent, Subscription, Taken},
    clock::{SECOND_NS, now_ns},
    endpoint::{Endpoint, EndpointPlan},
    measure::{median::median, own_cost::OwnCost},
    run_spec::{Roundtrip, RunSpec},
};

/// The number of batches over which the median is taken, not counting one batch for warm-up.
const BATCHES: usize = 15;
/// The number of messages of a batch: large enough that the cost of reading the clock at its end is negligible.
const BATCH: u64 = 1000;
/// A rate with which messages are due faster than the loop sends them, so that the loop never sleeps.
const RATE_HZ: u32 = 1_000_000;
/// The age of the start: all messages are already due. It is less than a second, so that no row ends during the
/// measurement.
const START_AGE_NS: i64 = SECOND_NS / 2;
/// The spread of the latencies, nanoseconds. It makes the counts fall into many cells of a histogram.
const SPREAD_NS: u64 = 100_000;
/// The step of the latency from one message to the next. It is coprime to the spread, so the latencies take all values.
const SPREAD_STEP_NS: u64 = 7919;

/// Measures the own cost on this machine with the options of `spec`. Takes some milliseconds.
#[must_use]
pub fn measure(spec: &RunSpec) -> OwnCost {
    OwnCost { send_ns: message_ns(spec, send), receive_ns: message_ns(spec, receive) }
}

/// The cost of one message in a loop with a middleware that does nothing. The start of the run is in the past, so all
/// messages are already due.
fn message_ns(spec: &RunSpec, run: fn(&Context, NullMiddleware, i64)) -> f64 {
    // The measured run has no end, one publisher and one subscription. A run without a rate needs no due times and no
    // statistics of lateness, so its rate stays 0.
    let spec = RunSpec {
        rate_hz: if spec.rate_hz == 0 { 0 } else { RATE_HZ },
        publishers: 1,
        subscriptions: 1,
        roundtrip: Roundtrip::None,
        work_ns: 0,
        warmup_s: 0,
        ignore_s: 0,
        max_runtime_s: 0,
        ..spec.clone()
    };
    // The peers of these channels stay alive but unused: no order arrives, and no report is read.
    let ((_orders, orders), (outgoing, _reports)) = (mpsc::channel(), mpsc::sync_channel(OUTGOING_CAPACITY));
    let flags = Flags { stop: AtomicBool::new(false), abandon: Arc::new(AtomicBool::new(false)) };
    let plan = EndpointPlan::of_run(&spec, Endpoint::Publisher(0), "");
    let placement = Placement::for_run(&spec);
    let row_delay_ns = ROW_DELAY_NS;
    let (spec, flags, expected) = (Arc::new(spec), Arc::new(flags), Arc::new(AtomicU64::new(NOT_DRAINING)));
    let context = Context {
        plan,
        placement,
        spec,
        row_delay_ns,
        orders,
        flags,
        expected,
        outgoing,
        account: InstrumentAccount::default(),
    };
    let ends_ns = Rc::new(RefCell::new(Vec::with_capacity(BATCHES + 1)));
    let nothing = NullMiddleware { messages: 0, ends_ns: ends_ns.clone(), flags: context.flags.clone() };
    run(&context, nothing, now_ns() - START_AGE_NS);
    let batches = ends_ns.borrow().windows(2).map(|ends| (ends[1] - ends[0]) as f64 / BATCH as f64).collect();
    median(batches)
}

fn send(context: &Context, nothing: NullMiddleware, start_ns: i64) {
    // The result is ignored: only the middleware can fail, and this one does not.
    let _ = PublisherLoop::new(context, Box::new(nothing), start_ns).publish_all(&mut sleep);
}

fn receive(context: &Context, nothing: NullMiddleware, start_ns: i64) {
    let start = Start { start_ns, sources: Vec::new(), early: Vec::new() };
    let _ = SubscriberLoop::new(context, Box::new(nothing), &start, Early::default()).take_all();
}

/// A middleware that does nothing, and ends the loop after all batches.
struct NullMiddleware {
    messages: u64,
    /// The time at which each batch ended.
    ends_ns: Rc<RefCell<Vec<i64>>>,
    flags: Arc<Flags>,
}

impl NullMiddleware {
    fn count_message(&mut self) {
        self.messages += 1;
        if self.messages.is_multiple_of(BATCH) {
            let mut ends_ns = self.ends_ns.borrow_mut();
            ends_ns.push(now_ns());
            if ends_ns.len() > BATCHES {
                self.flags.stop.store(true, Ordering::Relaxed);
                self.flags.abandon.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Matched for NullMiddleware {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(1))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Publisher for NullMiddleware {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        draft.write(&mut []);
        black_box(draft.stamp());
        self.count_message();
        Ok(Sent { loaned: true, ..Sent::default() })
    }
}

impl Subscription for NullMiddleware {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let received_ns = now_ns();
        self.count_message();
        reader(&Taken {
            source: [1; 16],
            time_ns: received_ns - (self.messages * SPREAD_STEP_NS % SPREAD_NS) as i64,
            id: self.messages,
            received_ns,
            length_bytes: 1,
            loaned: true,
            ..Taken::default()
        });
        Ok(true)
    }

    fn wait(&mut self, _: Duration) -> Result<(), String> {
        Ok(())
    }

    fn overwritten(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::median::median;
    use crate::run_spec::{Touch, tests::example};

    fn clock_cost_ns() -> f64 {
        let cost_ns = |_| {
            let begin_ns = now_ns();
            (0..BATCH).for_each(|_| _ = black_box(now_ns()));
            (now_ns() - begin_ns) as f64 / BATCH as f64
        };
        median((0..BATCHES).map(cost_ns).collect())
    }

    #[test]
    fn sending_reads_the_clock_more_than_once_and_both_cost_something() {
        for spec in [
            RunSpec { rate_hz: 1000, ..example() },
            RunSpec { rate_hz: 0, touch: Touch::Full, check_memory: true, ..example() },
            RunSpec { publishers: 0, warmup_s: 5, ..example() },
            RunSpec { roundtrip: Roundtrip::Relay, ..example() },
        ] {
            let (cost, clock_ns) = (measure(&spec), clock_cost_ns());
            assert!(cost.send_ns > clock_ns && cost.receive_ns > clock_ns, "{spec:?}: {cost:?}, clock {clock_ns} ns");
        }
    }
}
