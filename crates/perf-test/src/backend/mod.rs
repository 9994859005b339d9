//! What a middleware must do to be measured: the back-end contract.
//!
//! The worker loops call it; [`gantry`] and [`mock`] implement it. Whoever adds a middleware implements three traits of a few
//! methods each and gives the implementation to [`worker::run`](crate::worker::run): here, if it is light, or in a program of its own
//! called `perf_test_<name>`, which `-c <name>` finds. A program in another language speaks the worker protocol instead
//! (`docs/internals/worker-protocol.md`).
//!
//! Who measures what: schedule, clock, stamps, losses, histograms and reports are the instrument's. A back end moves a message and says
//! what arrived. What its calls do besides (allocate, lock, copy) is what is measured.

pub mod gantry;
pub mod mock;

use std::time::Duration;

use crate::endpoint::EndpointPlan;
use crate::run_spec::RunSpec;
pub use crate::stamp::Stamp;

/// The middlewares that this program brings along.
pub const BUILT_IN: [&dyn Backend; 2] = [&gantry::Gantry, &mock::Mock];

/// A middleware.
pub trait Backend: Sync {
    /// Its name for `-c`, headings and logs; upper and lower case do not matter in `-c`.
    fn name(&self) -> &'static str;

    /// What it always does of what others have to be asked for: the option (`--shared-memory`, `--disable-async`,
    /// `--use-single-participant`), and what that means with it, for the heading.
    fn always(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether it can do all that the run asks for. Called before any process is started.
    ///
    /// # Errors
    /// A sentence that says which option cannot apply, and what can.
    fn check(&self, spec: &RunSpec) -> Result<(), String>;

    /// A publisher of `plan.topic`. May block; called on the thread that will use it.
    ///
    /// # Errors
    /// A sentence that says why not and what to do.
    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String>;

    /// A subscription to `plan.topic`, which waits as [`RunSpec::wait`] says. As [`Backend::publisher`] otherwise.
    ///
    /// # Errors
    /// A sentence that says why not and what to do.
    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Subscription>, String>;

    /// Takes away what dead processes left. The coordinator calls it before a run, and after one in which a worker did not end well.
    ///
    /// # Errors
    /// A sentence: the middleware cannot work here, or something is still there.
    fn clean_up(&self, spec: &RunSpec) -> Result<(), String>;
}

/// What publishers and subscriptions have in common: they meet the other side. Not called while messages are due.
pub trait Matched {
    /// How many of the other side are matched now. Does not wait.
    ///
    /// # Errors
    /// A sentence: the middleware cannot go on.
    fn matched(&mut self) -> Result<usize, String>;

    /// Why others on the topic are not matched, one sentence each; empty if that is not known.
    fn mismatches(&mut self) -> Vec<String>;
}

/// Sends messages.
pub trait Publisher: Matched {
    /// Sends one message: makes or loans it, lets `draft` write the payload, and as the last thing before sending asks it for the
    /// stamp and writes that into the message.
    ///
    /// # Errors
    /// A sentence: the message was not sent. The next one is tried again.
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<(), String>;
}

/// A message that is about to be sent.
pub trait Draft {
    /// Writes the bytes of the payload as `--touch` says. Not for texts, whose bytes must stay characters.
    fn write(&mut self, payload: &mut [u8]);

    /// What identifies the message; reads the clock, so it is called last.
    fn stamp(&mut self) -> Stamp;
}

/// Receives messages.
pub trait Subscription: Matched {
    /// Takes one message, if there is one, and shows it to `reader`; whether there was one. Does not wait.
    ///
    /// # Errors
    /// A sentence: a message could not be taken. The next one is tried again.
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String>;

    /// Waits until there may be something to take, at most `timeout`; not called with `--wait spin`.
    ///
    /// # Errors
    /// A sentence: the middleware cannot go on.
    fn wait(&mut self, timeout: Duration) -> Result<(), String>;

    /// How many messages left the history before they were taken, since the subscription was made; always 0 from a middleware that
    /// does not tell, whose losses are then unexplained.
    fn overwritten(&self) -> u64;
}

/// A message that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// Who published it, as the middleware tells publishers apart; all zeros if it does not, and then there may be only one.
    pub source: [u8; 16],
    /// The time in the message.
    pub time_ns: i64,
    /// The id in the message, as far as it carries it ([`RunSpec::last_id`]).
    pub id: u64,
    /// When it was in hand, ns of CLOCK_MONOTONIC: read right after the middleware gave it, with the copy path right after the copy.
    pub received_ns: i64,
    /// Length of its body, bytes.
    pub length_bytes: u64,
    /// [`Subscription::overwritten`] when it was taken.
    pub overwritten: u64,
    /// The bytes that [`Draft::write`] wrote, in place or in the copy.
    pub payload: &'a [u8],
}
