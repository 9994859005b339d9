//! The life cycle of the program: it runs until a shutdown, which ends all spins and waits of the process.
//!
//! Invariant: a shutdown runs all functions of [`on_shutdown`] before it ends spins and waits. So a `main` that returns
//! after its spin does not interrupt these functions. This module is on the control path.

mod signals;

use crate::{
    error::{Error, Result},
    lock::lock,
    log,
};
use std::{
    collections::{BTreeMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
    task::Waker,
};

static STATE: Mutex<State> =
    Mutex::new(State { phase: Phase::New, functions: VecDeque::new(), wakers: BTreeMap::new(), last_waker: 0 });

struct State {
    phase: Phase,
    /// The functions that [`on_shutdown`] added, oldest first.
    functions: VecDeque<Box<dyn FnOnce() + Send>>,
    /// The wakers that a shutdown calls: of tasks, and of threads that sleep outside the engine.
    wakers: BTreeMap<u64, Waker>,
    last_waker: u64,
}

/// A waker that is called at the end of each shutdown, and at each [`begin`] of the program. Dropping this value
/// removes the waker.
#[derive(Debug, Default)]
pub(crate) struct ShutdownWaker {
    number: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Initialized,
    /// The functions of [`on_shutdown`] run.
    ShuttingDown,
    ShutDown,
}

/// Marks the program as running, at its start or again after a shutdown, and installs the signal handlers.
pub(crate) fn begin() -> Result<()> {
    let mut state = lock(&STATE);
    if matches!(state.phase, Phase::Initialized | Phase::ShuttingDown) {
        return Err(Error::AlreadyInitialized);
    }
    signals::install().map_err(|error| Error::Signals { why: error.to_string() })?;
    state.phase = Phase::Initialized;
    gantry_shm::interrupt_waits(false);
    let wakers = state.wakers.clone();
    drop(state);
    wakers.into_values().for_each(Waker::wake);
    Ok(())
}

/// Whether the program still runs: `false` after a shutdown (`rclcpp::ok`). In a program that never calls
/// [`init`](crate::init), the result is `true`, unlike rclcpp's `ok`.
///
/// # Real-time
/// Costs one atomic load. After a shutdown has begun, it also takes a lock that is held while the waiting threads are
/// woken.
#[must_use]
pub fn ok() -> bool {
    !is_shut_down()
}

/// Whether the program has shut down, so that spins and waits end at once.
pub(crate) fn is_shut_down() -> bool {
    gantry_shm::is_interrupted()
}

/// Shuts the program down, as SIGINT and SIGTERM do after [`init`](crate::init): runs the functions of [`on_shutdown`],
/// then ends all current and future spins and waits of this process. Returns `false` if a shutdown had already begun.
///
/// The panic of a function is logged, and the next function runs. A spin returns `Ok` after its current callback. A
/// wait returns `false`, as at its time limit. A service call, and a future of this library that has no value yet, fail
/// with [`Error::ShutDown`].
///
/// Nodes and endpoints stay usable and leave the domain when they are dropped, so `main` should return. A signal that
/// arrives after the shutdown began ends the process at once.
pub fn shutdown() -> bool {
    {
        let mut state = lock(&STATE);
        if matches!(state.phase, Phase::ShuttingDown | Phase::ShutDown) {
            return false;
        }
        state.phase = Phase::ShuttingDown;
    }
    signals::stop_catching();
    while let Some(function) = next_function() {
        if catch_unwind(AssertUnwindSafe(function)).is_err() {
            log::error("", "a function of on_shutdown panicked; the shutdown goes on");
        }
    }
    true
}

/// Adds a function that the next shutdown calls once, while nodes still work. The functions run in the order in which
/// they were added, on the thread that shuts down; after a signal, this is a thread of the library. If the program has
/// already shut down, this function is called at once.
pub fn on_shutdown(function: impl FnOnce() + Send + 'static) {
    let mut state = lock(&STATE);
    if state.phase == Phase::ShutDown {
        drop(state);
        return function();
    }
    state.functions.push_back(Box::new(function));
}

impl ShutdownWaker {
    pub(crate) fn new(waker: Waker) -> ShutdownWaker {
        let mut this = ShutdownWaker::default();
        this.set(waker);
        this
    }

    /// Replaces the waker.
    fn set(&mut self, waker: Waker) {
        let mut state = lock(&STATE);
        let number = *self.number.get_or_insert_with(|| {
            state.last_waker += 1;
            state.last_waker
        });
        let old = state.wakers.insert(number, waker);
        drop(state);
        drop(old); // dropped after the unlock: the drop may run user code
    }

    /// Whether a waiting task must end because the program has shut down. If not, a shutdown will wake `task`.
    pub(crate) fn ends(&mut self, task: &Waker) -> bool {
        self.set(task.clone()); // before the check, so that no shutdown is missed
        is_shut_down()
    }
}

impl Drop for ShutdownWaker {
    fn drop(&mut self) {
        let old = self.number.and_then(|number| lock(&STATE).wakers.remove(&number));
        drop(old); // dropped after the unlock, as in `set`
    }
}

/// Takes the next function to call. If there is none, completes the shutdown and ends spins and waits. The phase and
/// the interruption of waits change under one lock, so a concurrent [`begin`] cannot leave the restarted program
/// interrupted.
fn next_function() -> Option<Box<dyn FnOnce() + Send>> {
    let mut state = lock(&STATE);
    let next = state.functions.pop_front();
    if next.is_none() {
        state.phase = Phase::ShutDown;
        gantry_shm::interrupt_waits(true);
        let wakers = state.wakers.clone();
        drop(state);
        wakers.into_values().for_each(Waker::wake);
    }
    next
}
