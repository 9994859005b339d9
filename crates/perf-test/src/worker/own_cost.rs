//! What the instrument itself costs for each message: its loops, its readings of the clock and its books.
//!
//! Measured by the coordinator on the machine of the run, and printed with the results: that much of each latency or period is not
//! the middleware's. What runs are the loops of a worker themselves, with the run's options and a middleware that does nothing:
//! warm, so a run at a slow pace, which finds them in a colder cache, costs somewhat more.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::placement::Placement;
use super::publisher::Publishing;
use super::subscriber::Taking;
use super::{Context, Flags, NOT_DRAINING, OUTGOING_CAPACITY};
use crate::backend::{Draft, Matched, Publisher, Subscription, Taken};
use crate::clock::{SECOND_NS, now_ns};
use crate::endpoint::{Endpoint, EndpointPlan};
use crate::measure::calibration::median;
use crate::measure::own_cost::OwnCost;
use crate::run_spec::{Roundtrip, RunSpec};

/// Batches of which the median is taken; one more goes before them, in which everything gets warm.
const BATCHES: usize = 15;
/// Messages of a batch: many enough that reading the clock at its end does not count.
const BATCH: u64 = 1000;
/// A pace at which messages are due faster than they are sent, so that nobody ever sleeps.
const RATE_HZ: u32 = 1_000_000;
/// So long before now everything begins: all messages are due. Less than a second, so that no row is handed over meanwhile.
const BEGUN_NS: i64 = SECOND_NS / 2;
/// Latencies are spread over so many nanoseconds, so that not always the same cell of a histogram is counted up.
const SPREAD_NS: u64 = 100_000;
/// From one message to the next; without a common factor with the spread.
const SPREAD_STEP_NS: u64 = 7919;

/// Measures the own cost on this machine with the options of `spec`, in some milliseconds.
#[must_use]
pub fn measure(spec: &RunSpec) -> OwnCost {
    OwnCost { send_ns: message_ns(spec, send), receive_ns: message_ns(spec, receive) }
}

/// What one message costs in a loop, which gets a middleware that does nothing and a start in the past.
fn message_ns(spec: &RunSpec, run: fn(&Context, Nothing, i64)) -> f64 {
    // One of each in a run without an end. As fast as possible has no schedule, and no books of it.
    let spec = RunSpec {
        rate_hz: if spec.rate_hz == 0 { 0 } else { RATE_HZ },
        publishers: 1,
        subscriptions: 1,
        roundtrip: Roundtrip::None,
        warmup_s: 0,
        ignore_s: 0,
        max_runtime_s: 0,
        ..spec.clone()
    };
    // Nobody gives orders and nobody reads what is reported; both ends stay open.
    let ((_orders, orders), (outgoing, _reports)) = (mpsc::channel(), mpsc::sync_channel(OUTGOING_CAPACITY));
    let flags = Flags {
        stop: AtomicBool::new(false),
        abandon: Arc::new(AtomicBool::new(false)),
        expected: AtomicU64::new(NOT_DRAINING),
    };
    let plan =
        EndpointPlan { endpoint: Endpoint::Publisher(0), topic: String::new(), relay_topic: String::new(), place: 0 };
    let placement = Placement::of(&spec);
    let context = Context { plan, placement, spec: Arc::new(spec), orders, flags: Arc::new(flags), outgoing };
    let ends_ns = Rc::new(RefCell::new(Vec::with_capacity(BATCHES + 1)));
    let nothing = Nothing { messages: 0, ends_ns: ends_ns.clone(), flags: context.flags.clone() };
    run(&context, nothing, now_ns() - BEGUN_NS);
    let batches = ends_ns.borrow().windows(2).map(|ends| (ends[1] - ends[0]) as f64 / BATCH as f64).collect();
    median(batches)
}

fn send(context: &Context, nothing: Nothing, start_ns: i64) {
    // Only the middleware could fail.
    let _ = Publishing::new(context, Box::new(nothing), start_ns).publish_all(&mut |_| Ok(()));
}

fn receive(context: &Context, nothing: Nothing, start_ns: i64) {
    let _ = Taking::new(context, Box::new(nothing), start_ns).take_all();
}

/// A middleware that does nothing, and ends the loop after all batches.
struct Nothing {
    messages: u64,
    /// When each batch was over.
    ends_ns: Rc<RefCell<Vec<i64>>>,
    flags: Arc<Flags>,
}

impl Nothing {
    fn one_more(&mut self) {
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

impl Matched for Nothing {
    fn matched(&mut self) -> Result<usize, String> {
        Ok(1)
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Publisher for Nothing {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<(), String> {
        draft.write(&mut []);
        black_box(draft.stamp());
        self.one_more();
        Ok(())
    }
}

impl Subscription for Nothing {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let received_ns = now_ns();
        self.one_more();
        reader(&Taken {
            source: [1; 16],
            time_ns: received_ns - (self.messages * SPREAD_STEP_NS % SPREAD_NS) as i64,
            id: self.messages,
            received_ns,
            length_bytes: 1,
            overwritten: 0,
            payload: &[],
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
    use crate::cli;
    use crate::measure::calibration::clock_cost_ns;

    fn spec(options: &str) -> RunSpec {
        let arguments = format!("perf_test {options}");
        let cli = cli::parse(arguments.split_whitespace().map(Into::into)).unwrap();
        cli::resolve(&cli.options, cli::Defaults::Run).unwrap().spec
    }

    #[test]
    fn sending_reads_the_clock_more_than_once_and_both_cost_something() {
        for options in
            ["-r 1000", "-r 0 --touch full --check-memory", "-p 0 -t other --warmup 5", "--roundtrip-mode Relay"]
        {
            let cost = measure(&spec(options));
            let clock_ns = clock_cost_ns();
            assert!(cost.send_ns > clock_ns && cost.receive_ns > clock_ns, "{options}: {cost:?}, clock {clock_ns} ns");
        }
    }
}
