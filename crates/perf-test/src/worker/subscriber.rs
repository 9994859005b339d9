//! The subscriber's loop: waits, takes all there is, and notes when each sample came.
//!
//! Runs on a thread of a worker. With zero copy a sample's time of reception is taken right after
//! `take`; without it the message is copied to private memory first. No allocation, lock or report
//! per sample; rows go out once a second, also when nothing comes.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use gantry::{MemoryError, SampleInfo, Subscription};

use super::protocol::{Closing, Order, Report};
use super::rows::{Outgoing, Rows, Tallies};
use super::{Context, NOT_DRAINING};
use crate::clock::{SECOND_NS, now_ns};
use crate::measure::loss::{Arrival, Sequences};
use crate::messages::{Benchmark, Stamped};

/// The longest wait for a sample; how long anything may take to notice that the run is over.
const LONGEST_WAIT_NS: i64 = SECOND_NS / 10;
/// The same while draining.
const DRAIN_WAIT_NS: i64 = SECOND_NS / 100;
/// How often a subscription looks for publishers before the start.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Silence after which nothing more is expected although samples are missing.
const GRACE_NS: i64 = SECOND_NS / 4;
/// Refusals in a row after which a subscription gives up.
const REFUSALS_IN_A_ROW: u32 = 100;

/// Creates the subscription, waits for the start, takes until nothing more comes.
pub fn run<M: Benchmark>(context: &mut Context) -> Result<(), String> {
    let node = context.node().map_err(|error| error.to_string())?;
    let created = node.create_subscription::<M>(&context.topic, context.qos());
    let mut subscription = created.map_err(|error| error.to_string())?;
    let private = if context.experiment.zero_copy { None } else { Some(touched_message::<M>(context)) };
    context.report(Report::Ready(context.endpoint));
    let start_ns = loop {
        match context.orders.recv_timeout(LOOK_AGAIN) {
            Ok(Order::Go { start_ns }) => break start_ns,
            Ok(Order::Explain) => explain(context, &mut subscription)?,
            // A subscription meets new publishers only when it looks; here it has the time to map their memory.
            Err(RecvTimeoutError::Timeout) => {
                subscription.publisher_count().map_err(|error| error.to_string())?;
            }
            _ => return Ok(()),
        }
    };
    let mut taking = Taking::new(context, subscription, private, start_ns);
    taking.take_all()?;
    let closing = taking.closing();
    let _ = context.outgoing.send(Outgoing::Finished { endpoint: context.endpoint, closing });
    Ok(())
}

fn explain<M: Benchmark>(context: &Context, subscription: &mut Subscription<M>) -> Result<(), String> {
    let publishers = subscription.publisher_count().map_err(|error| error.to_string())?;
    let mismatches = subscription.mismatches();
    context.report(Report::Explained { endpoint: context.endpoint, publishers, mismatches });
    Ok(())
}

/// A private message of which every page has been touched.
fn touched_message<M: Benchmark>(context: &Context) -> Box<M> {
    let mut message = M::prepared(context.experiment.unbounded_bytes as usize);
    message.touch();
    message
}

struct Taking<'a, M: Benchmark> {
    context: &'a Context,
    subscription: Subscription<M>,
    /// Where messages are copied to; none with zero copy.
    private: Option<Box<M>>,
    rows: Rows<Tallies>,
    sequences: Sequences,
    start_ns: i64,
    /// Samples sent in this time are in the statistics.
    scope_ns: Range<i64>,
    /// Samples taken, whenever they were sent; duplicates not counted.
    taken: u64,
    /// Samples that had left the history when the last one was taken.
    overwritten: u64,
    last_arrival_ns: i64,
    refusals_in_a_row: u32,
    publisher_seen: bool,
    alone_since_ns: Option<i64>,
    /// Why publishers were not matched, while nothing has come.
    mismatches: Vec<String>,
}

impl<'a, M: Benchmark> Taking<'a, M> {
    fn new(context: &'a Context, subscription: Subscription<M>, private: Option<Box<M>>, start_ns: i64) -> Self {
        let rows = Rows::new(context.endpoint, context.outgoing.clone(), start_ns);
        let experiment = &context.experiment;
        let run_ns = i64::from(experiment.max_runtime_s) * SECOND_NS;
        // The publishers of a run know its end themselves; others go on.
        let end_ns = if experiment.is_private() || run_ns == 0 { i64::MAX } else { start_ns + run_ns };
        Taking {
            context,
            subscription,
            private,
            rows,
            sequences: Sequences::new(experiment.is_private()),
            start_ns,
            scope_ns: start_ns + i64::from(experiment.ignore_s) * SECOND_NS..end_ns,
            taken: 0,
            overwritten: 0,
            last_arrival_ns: start_ns,
            refusals_in_a_row: 0,
            publisher_seen: false,
            alone_since_ns: None,
            mismatches: Vec::new(),
        }
    }

    fn take_all(&mut self) -> Result<(), String> {
        let mut draining_since_ns = None;
        while !self.context.flags.abandoned() {
            let expected = self.context.flags.expected.load(Ordering::Relaxed);
            let draining = expected != NOT_DRAINING;
            if draining && self.taken + self.subscription.overwritten() >= expected {
                break;
            }
            if self.take_one()? {
                continue;
            }
            let now_ns = now_ns();
            self.rows.until(now_ns);
            if draining {
                let since_ns = *draining_since_ns.get_or_insert(now_ns);
                if now_ns - self.last_arrival_ns.max(since_ns) > GRACE_NS {
                    break;
                }
            }
            let longest_ns = if draining { DRAIN_WAIT_NS } else { LONGEST_WAIT_NS };
            let wait_ns = (self.rows.end_ns() - now_ns).clamp(1, longest_ns);
            match self.subscription.wait(Duration::from_nanos(wait_ns as u64)) {
                Ok(true) => {}
                // Publishers of another type are noted there.
                Ok(false) | Err(gantry::Error::Memory(MemoryError::TypeMismatch { .. })) => self.look_around(now_ns)?,
                Err(error) => return Err(error.to_string()),
            }
        }
        self.rows.until(now_ns());
        self.rows.open.tally.received.overwritten += self.passed_over();
        self.rows.last();
        Ok(())
    }

    /// Takes one sample, if there is one.
    fn take_one(&mut self) -> Result<bool, String> {
        let taken = match &mut self.private {
            Some(private) => self.subscription.take_copy_into(private).map(|info| {
                let received_ns = now_ns();
                info.map(|info| (private.stamped(), received_ns, info))
            }),
            None => self.subscription.take().map(|sample| {
                let received_ns = now_ns();
                sample.map(|sample| (M::stamped_sample(&sample), received_ns, sample.message_info()))
            }),
        };
        let (stamped, received_ns, info) = match taken {
            Ok(Some(taken)) => taken,
            Ok(None) => return Ok(false),
            Err(error) => return self.refused(&error).map(|()| true),
        };
        self.refusals_in_a_row = 0;
        self.rows.until(received_ns);
        self.note(stamped, received_ns, info);
        Ok(true)
    }

    fn note(&mut self, stamped: Stamped, received_ns: i64, info: SampleInfo) {
        let Stamped { time_ns, id } = stamped;
        let passed_over = self.passed_over();
        let arrival = self.sequences.arrived(info.publisher_gid.0, info.sequence, passed_over);
        self.last_arrival_ns = received_ns;
        self.taken += u64::from(arrival != Arrival::Duplicate);
        let received = &mut self.rows.open.tally.received;
        received.misnumbered += u64::from(id != info.sequence & M::LAST_ID);
        received.history += u64::from(time_ns < self.start_ns);
        // A sample belongs to the measurement by the time when it was sent, here as with the publishers.
        if !self.scope_ns.contains(&time_ns) {
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
        received.bytes += info.length_bytes as u64;
        match u64::try_from(received_ns - time_ns) {
            Ok(latency_ns) => {
                received.latency_ns.add(latency_ns as f64);
                self.rows.open.tally.latencies.record(latency_ns);
            }
            Err(_) => received.negative += 1,
        }
    }

    fn refused(&mut self, error: &gantry::Error) -> Result<(), String> {
        self.rows.open.tally.received.refused += 1;
        self.refusals_in_a_row += 1;
        if self.refusals_in_a_row == REFUSALS_IN_A_ROW {
            return Err(format!("it gave up after {REFUSALS_IN_A_ROW} samples in a row that could not be taken"));
        }
        if self.refusals_in_a_row == 1 {
            let sentence = format!("a sample could not be taken: {error}");
            self.context.report(Report::Doubt(self.context.endpoint, sentence));
        }
        Ok(())
    }

    /// How many samples left the history since the last call.
    fn passed_over(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.overwritten, self.subscription.overwritten());
        self.overwritten.saturating_sub(before)
    }

    /// While nothing comes there is time to ask why; the publisher may be gone when the run ends.
    fn look_around(&mut self, now_ns: i64) -> Result<(), String> {
        if self.taken == 0 {
            let found = self.subscription.mismatches();
            if !found.is_empty() {
                self.mismatches = found;
            }
        }
        let publishers = self.subscription.publisher_count().map_err(|error| error.to_string())?;
        self.publisher_seen |= publishers > 0 || self.taken > 0;
        if publishers > 0 {
            self.alone_since_ns = None;
        } else if self.publisher_seen {
            self.alone_since_ns.get_or_insert(now_ns - self.start_ns);
        }
        Ok(())
    }

    fn closing(&mut self) -> Closing {
        let mismatches = if self.taken == 0 { std::mem::take(&mut self.mismatches) } else { Vec::new() };
        let (last_seen, before_matched) = (self.sequences.last_seen(), self.sequences.before_matched());
        Closing { last_seen, before_matched, alone_since_ns: self.alone_since_ns, mismatches }
    }
}
