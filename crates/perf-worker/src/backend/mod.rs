//! The back-end contract: the traits that a middleware implements to be measured.
//!
//! Gantry and a mock implement them in `perf-test`. The implementation of another middleware goes to [`worker::run`](crate::worker::run)
//! in a program with the name `perf_test_<name>`, which `-c <name>` finds. A program in another language speaks the worker protocol
//! instead (`docs/internals/worker-protocol.md`).
//!
//! The instrument owns schedule, clock, stamps, losses, histograms and reports. A back end moves a message and reports its arrival.
//! All other work of its calls (allocations, locks, copies) is part of the measurement.

mod description;

use std::sync::Arc;
use std::time::Duration;

pub use crate::stamp::Stamp;
use crate::{endpoint::EndpointPlan, run_spec::RunSpec};
pub use description::{Description, Setting, Settings};

/// A middleware.
pub trait Backend: Sync {
    /// Its name for `-c`, headings and logs; upper and lower case do not matter in `-c`.
    fn name(&self) -> &'static str;

    /// Its version and its settings. Older performance_test options are settings, too: `--shared-memory` is `transport` =
    /// `shared-memory`, `--disable-async` is `publishing` = `sync`, `--use-single-participant` is `participants` = `one`.
    fn describe(&self) -> Description;

    /// Checks whether it supports the options of the run, as it does by default. Called before any process is started.
    ///
    /// # Errors
    /// A sentence with the option that it does not support, and with the alternative.
    fn check(&self, _spec: &RunSpec) -> Result<(), String> {
        Ok(())
    }

    /// Opens the middleware in this process, which is a worker: its participant, session or runtime. Called on the main thread,
    /// before there are endpoints; its cost is that of the middleware.
    ///
    /// # Errors
    /// A sentence with the reason and the remedy.
    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String>;

    /// Removes the files of dead processes. The coordinator calls it before a run, and after one in which a worker did not end well.
    ///
    /// # Errors
    /// A sentence: the middleware cannot work here, or files could not be removed.
    fn clean_up(&self, spec: &RunSpec) -> Result<(), String>;
}

/// The middleware in one process. It is dropped after all endpoints, at the end of the process.
pub trait Session: Send + Sync {
    /// The value in effect of each setting of [`RunSpec::settings`]. A run with another value than the one that was asked for does not begin.
    fn settings(&self) -> Settings;

    /// A publisher of `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// A sentence with the reason and the remedy.
    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String>;

    /// A subscription to `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// A sentence with the reason and the remedy.
    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String>;
}

/// The way in which messages reach a subscription: the one that users of the middleware would choose.
pub enum Delivery {
    /// The endpoint's thread takes them, and waits in the way of [`RunSpec::wait`].
    Pull(Box<dyn Subscription>),
    /// The middleware delivers them on threads of its own.
    Push(Box<dyn Listener>),
}

impl Delivery {
    /// The subscription of an endpoint that must take its messages itself.
    ///
    /// # Errors
    /// A sentence: the middleware delivers them.
    pub fn pull(self, endpoint: &str) -> Result<Box<dyn Subscription>, String> {
        match self {
            Delivery::Pull(subscription) => Ok(subscription),
            Delivery::Push(_) => Err(format!(
                "{endpoint} must take messages on its own thread, and the middleware delivers them on others: \
                 use -e INTER_THREAD or INTER_PROCESS, and no relay"
            )),
        }
    }
}

/// The matching of a publisher or a subscription with the other side. Not called while messages are due.
pub trait Matched {
    /// The number of endpoints of the other side that are matched now. Does not wait.
    ///
    /// # Errors
    /// A sentence: the middleware cannot go on.
    fn matched(&mut self) -> Result<usize, String>;

    /// The reasons why others on the topic are not matched, one sentence each; empty if they are not known.
    fn mismatches(&mut self) -> Vec<String>;

    /// Of a publisher, the id that its messages have in [`Taken::source`]. Without it, latencies from the schedule are not known
    /// if several publishers have different phases.
    fn source(&self) -> Option<[u8; 16]> {
        None
    }
}

/// Sends messages.
pub trait Publisher: Matched {
    /// Sends one message: creates or loans it, lets `draft` write the payload, and as the last step before sending gets the stamp from
    /// it and writes that into the message.
    ///
    /// # Errors
    /// A sentence: the message was not sent. The next one is tried again.
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String>;
}

/// The way of a message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Whether it was written in the middleware's memory, so that publishing copied nothing.
    pub loaned: bool,
}

/// A message that is about to be sent.
pub trait Draft {
    /// Writes the bytes of the payload according to `--touch`. Not for texts, whose bytes must stay characters.
    fn write(&mut self, payload: &mut [u8]);

    /// The stamp of the message; reads the clock, so it is called last.
    fn stamp(&mut self) -> Stamp;
}

/// Receives messages.
pub trait Subscription: Matched {
    /// Takes one message, if there is one, and passes it to `reader`. Returns whether there was one. Does not wait.
    ///
    /// # Errors
    /// A sentence: a message could not be taken. The next one is tried again.
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String>;

    /// Waits until there may be something to take, at most `timeout`; not called with `--wait spin`.
    ///
    /// # Errors
    /// A sentence: the middleware cannot go on.
    fn wait(&mut self, timeout: Duration) -> Result<(), String>;

    /// The number of messages that left the history before they were taken, since the subscription was created; always 0 from a
    /// middleware that does not count them, whose losses are then unexplained.
    fn overwritten(&self) -> u64;
}

/// Receives messages on threads of the middleware.
pub trait Listener: Matched {
    /// Passes each message from now on to `sink`, on any thread.
    ///
    /// # Errors
    /// A sentence: the middleware cannot deliver.
    fn start(&mut self, sink: Arc<dyn Sink>) -> Result<(), String>;

    /// Delivers no more; returns when no delivery is running.
    ///
    /// # Errors
    /// A sentence: the middleware cannot end the delivery.
    fn stop(&mut self) -> Result<(), String>;

    /// As [`Subscription::overwritten`].
    fn overwritten(&self) -> u64;
}

/// The destination of delivered messages.
pub trait Sink: Send + Sync {
    /// Records a message. Takes a lock, which others take a few times a second; does not allocate.
    fn taken(&self, taken: &Taken<'_>);

    /// The delivery has ended with this error, a sentence.
    fn failed(&self, sentence: String);
}

/// A message that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// The publisher's id in the middleware; all zeros if there is none, and then only one publisher is allowed.
    pub source: [u8; 16],
    /// The time in the message.
    pub time_ns: i64,
    /// The id in the message, up to [`RunSpec::last_id`].
    pub id: u64,
    /// Time of reception, ns of CLOCK_MONOTONIC: read right after the middleware returned the message, on the copy path right after the
    /// copy.
    pub received_ns: i64,
    /// Length of its body, bytes.
    pub length_bytes: u64,
    /// [`Subscription::overwritten`] when it was taken.
    pub overwritten: u64,
    /// Whether it is read in the middleware's memory, so that taking copied nothing.
    pub loaned: bool,
    /// The bytes that [`Draft::write`] wrote, in place or in the copy.
    pub payload: &'a [u8],
}
