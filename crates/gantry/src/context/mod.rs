//! The state of the program that its nodes see: the program runs until a shutdown, which ends all spins and waits of
//! the process.
//!
//! Invariant: the functions of [`on_shutdown`] have run before a spin or a wait ends because of the shutdown, so a
//! `main` that returns then interrupts none of these functions. This module is on the control path.

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
    /// The functions that were added by [`on_shutdown`], in the order of their calls.
    functions: VecDeque<Box<dyn FnOnce() + Send>>,
    /// The wakers that a shutdown calls: wakers of tasks, and of threads that sleep outside the engine.
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
    /// The functions run.
    ShuttingDown,
    ShutDown,
}

/// Begins the program's life, or a new life after a shutdown: installs the handling of signals.
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

/// Whether the program continues to run: `false` once it shuts down (`rclcpp::ok`). The result is also `true` in
/// programs that never call [`init`](crate::init), where rclcpp's `ok` is false.
///
/// # Real-time
/// Costs one load; after a shutdown has begun, it also takes a lock that is held while the waiting threads are woken.
#[must_use]
pub fn ok() -> bool {
    !is_shut_down()
}

/// Whether spins and waits end.
pub(crate) fn is_shut_down() -> bool {
    gantry_shm::is_interrupted()
}

/// Shuts the program down, as SIGINT and SIGTERM do after [`init`](crate::init): runs the functions of
/// [`on_shutdown`], then ends all spins and waits of this process, present and later ones. Returns `false` if a
/// shutdown has begun before.
///
/// A function that panics is logged, and the next one runs. A spin returns `Ok` after the end of the callback that
/// runs now; a wait returns `false`, as after its time limit. A call of a service, and a future of this library that
/// has nothing to return, fail with [`Error::ShutDown`]. Nodes and endpoints stay usable, and leave the domain when
/// they are dropped: so `main` should return. A signal that comes after the shutdown began ends the process at once.
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

/// Adds a function that is called once at the next shutdown, while nodes still work and after the functions that were
/// added before. The thread that shuts down calls the function; after a signal, this is a thread of this library. If
/// the program is shut down already, the function is called at once.
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
        drop(old); // after the lock: it may own anything
    }

    /// Whether a waiting task must end, because the program shuts down; if not, `task` is woken when the program shuts
    /// down.
    pub(crate) fn ends(&mut self, task: &Waker) -> bool {
        self.set(task.clone()); // before the look
        is_shut_down()
    }
}

impl Drop for ShutdownWaker {
    fn drop(&mut self) {
        let old = self.number.and_then(|number| lock(&STATE).wakers.remove(&number));
        drop(old); // after the lock, as above
    }
}

/// Takes the next function to call. If there is none, completes the shutdown: no function can be added from now on,
/// and spins and waits end. The phase and the interruption of waits change under one lock, so that a program that
/// begins again meanwhile is not interrupted.
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
