//! A guard condition: an event that the program itself triggers to end waits.

use super::{
    lock,
    take_future::TakeFuture,
    waitable::{TakeSource, WaitSource, Waitable},
};
use crate::error::Result;
use std::{
    sync::{Arc, Mutex},
    task::Waker,
};

/// A guard condition, with which any thread of the process wakes a wait set, an executor or a future (rclcpp's
/// `GuardCondition`). Clones are handles to the same guard condition: for example, one thread triggers a clone while
/// another thread waits for its own clone.
///
/// ```
/// use gantry::{GuardCondition, Node, WaitSet};
/// use std::{thread, time::Duration};
///
/// # fn main() -> gantry::Result<()> {
/// let node = Node::new("guarded")?;
/// let mut done = GuardCondition::new();
/// let trigger = done.clone();
/// thread::spawn(move || trigger.trigger());
/// assert!(WaitSet::new(&node)?.wait(&mut [&mut done], Duration::from_secs(10))?);
/// assert!(done.take());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct GuardCondition {
    state: Arc<Mutex<State>>,
    /// The number that identifies this handle among the handles of the guard condition.
    handle: u64,
}

#[derive(Debug, Default)]
struct State {
    is_triggered: bool,
    /// The number of handles that were made.
    handles: u64,
    /// The wakers of the handles, each with its handle's number.
    wakers: Vec<(u64, Waker)>,
}

impl GuardCondition {
    /// Makes a guard condition that is not triggered.
    #[must_use]
    pub fn new() -> GuardCondition {
        GuardCondition { state: Arc::new(Mutex::new(State { handles: 1, ..State::default() })), handle: 0 }
    }

    /// Triggers the guard condition and wakes its waiters. Several triggers before a take count as one.
    ///
    /// # Real-time
    /// Takes one lock, which is held for some nanoseconds. If threads or tasks wait, it also allocates and makes one
    /// system call for each of them.
    pub fn trigger(&self) {
        let mut state = lock(&self.state);
        state.is_triggered = true;
        let wakers: Vec<Waker> = state.wakers.iter().map(|(_, waker)| waker.clone()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns whether the guard condition was triggered since the last take, and resets it.
    pub fn take(&mut self) -> bool {
        std::mem::take(&mut lock(&self.state).is_triggered)
    }

    /// A future of the next trigger, for any async runtime.
    ///
    /// # Errors
    /// [`Error::ShutDown`](crate::Error::ShutDown).
    pub fn take_async(&mut self) -> TakeFuture<'_, GuardCondition> {
        TakeFuture::new(self)
    }
}

impl Default for GuardCondition {
    fn default() -> Self {
        GuardCondition::new()
    }
}

impl WaitSource for GuardCondition {
    fn describe(&mut self) -> String {
        "a guard condition".to_owned()
    }
}

impl Waitable for GuardCondition {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(lock(&self.state).is_triggered)
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        let mut state = lock(&self.state);
        let index = state.wakers.iter().position(|(handle, _)| *handle == self.handle);
        let old = index.map(|index| state.wakers.swap_remove(index));
        state.wakers.extend(waker.clone().map(|waker| (self.handle, waker)));
        let is_triggered = state.is_triggered;
        drop(state);
        drop(old); // dropped after the unlock: the waker may own this guard condition
        if is_triggered {
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl TakeSource for GuardCondition {
    type Taken = ();

    fn take_next(&mut self) -> Result<Option<()>> {
        Ok(self.take().then_some(()))
    }
}

impl Clone for GuardCondition {
    /// Makes another handle to the same guard condition.
    fn clone(&self) -> GuardCondition {
        let mut state = lock(&self.state);
        let handle = state.handles;
        state.handles += 1;
        GuardCondition { state: self.state.clone(), handle }
    }
}

impl Drop for GuardCondition {
    fn drop(&mut self) {
        self.set_waker(None);
    }
}
