//! The life of the program as its nodes see it: it runs until a shutdown, which ends all spins and waits of the
//! process.
//!
//! Invariant: the functions of [`on_shutdown`] have run before a spin or a wait ends because of the shutdown, so a
//! `main` that returns then cuts none of them off. Control path.

mod signals;

use crate::{
    error::{Error, Result},
    wait::lock,
};
use std::{collections::VecDeque, sync::Mutex, task::Waker};

static STATE: Mutex<State> = Mutex::new(State { phase: Phase::New, functions: VecDeque::new(), wakers: Vec::new() });

struct State {
    phase: Phase,
    /// The functions of [`on_shutdown`], in their order.
    functions: VecDeque<Box<dyn FnOnce() + Send>>,
    /// They wake threads that sleep outside the engine.
    wakers: Vec<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Initialized,
    /// The functions run.
    ShuttingDown,
    ShutDown,
}

/// Begins the program's life, or a new one after a shutdown: installs the handling of signals.
pub(crate) fn begin() -> Result<()> {
    let mut state = lock(&STATE);
    if matches!(state.phase, Phase::Initialized | Phase::ShuttingDown) {
        return Err(Error::AlreadyInitialized);
    }
    signals::install().map_err(|error| Error::Signals { why: error.to_string() })?;
    state.phase = Phase::Initialized;
    gantry_shm::interrupt_waits(false);
    Ok(())
}

/// Whether the program goes on: `false` once it shuts down (`rclcpp::ok`). It is `true` in programs that never call
/// [`init`](crate::init), which rclcpp's is not.
///
/// # Real-time
/// One load; after a shutdown has begun, also a lock that is held while the waits are woken.
#[must_use]
pub fn ok() -> bool {
    !is_shut_down()
}

/// Whether spins and waits end.
pub(crate) fn is_shut_down() -> bool {
    gantry_shm::is_interrupted()
}

/// Shuts the program down, as SIGINT and SIGTERM do after [`init`](crate::init): runs the functions of [`on_shutdown`],
/// then ends all spins and waits of this process, present and later ones. `false` if a shutdown has begun before.
///
/// A spin returns `Ok` after the callback that runs; a wait returns `false`, as after its time; a call of a service
/// fails. Futures are not ended. Nodes and endpoints stay usable, and leave when they are dropped: return from `main`.
/// A signal that comes after the shutdown began ends the process at once.
pub fn shutdown() -> bool {
    {
        let mut state = lock(&STATE);
        if matches!(state.phase, Phase::ShuttingDown | Phase::ShutDown) {
            return false;
        }
        state.phase = Phase::ShuttingDown;
    }
    signals::stop_catching();
    let _end = End; // also after a panic in a function
    while let Some(function) = next_function() {
        function();
    }
    true
}

/// Has `function` called once at the next shutdown, after those that were added before and while nodes still work, on
/// the thread of the shutdown: a thread of this library if a signal is the cause. If the program is shut down already,
/// it is called at once.
pub fn on_shutdown(function: impl FnOnce() + Send + 'static) {
    let mut state = lock(&STATE);
    if state.phase == Phase::ShutDown {
        drop(state);
        return function();
    }
    state.functions.push_back(Box::new(function));
}

/// Has `waker` called at the end of each shutdown.
pub(crate) fn wake_at_shutdown(waker: &Waker) {
    lock(&STATE).wakers.push(waker.clone());
}

/// Takes the waker back.
pub(crate) fn forget_waker(waker: &Waker) {
    lock(&STATE).wakers.retain(|other| !other.will_wake(waker));
}

/// The next function to be called. Without one, no function is added any more.
fn next_function() -> Option<Box<dyn FnOnce() + Send>> {
    let mut state = lock(&STATE);
    let next = state.functions.pop_front();
    if next.is_none() {
        state.phase = Phase::ShutDown;
    }
    next
}

/// Ends spins and waits when dropped.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        let wakers = {
            let mut state = lock(&STATE);
            state.phase = Phase::ShutDown;
            state.wakers.clone()
        };
        gantry_shm::interrupt_waits(true);
        wakers.into_iter().for_each(Waker::wake);
    }
}
