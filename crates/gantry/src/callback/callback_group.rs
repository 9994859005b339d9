//! Groups of callbacks: which of them may run at the same time, and what is more urgent.
//!
//! Made by nodes; run by executors. A node keeps its callbacks; an executor that has the node runs them.

use super::Callback;
use crate::{
    error::Result,
    node::Node,
    time::{Clock, Tick, Timer},
    topic::Sample,
    wait::Take,
};
use gantry_cdr::Message;
use gantry_shm::Qos;
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    task::Waker,
    time::Duration,
};

/// Whether callbacks of a group may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackGroupType {
    /// One at a time.
    MutuallyExclusive,
    /// Any number, each on a thread of its own; but none together with itself, for it is `FnMut`.
    Reentrant,
}

/// A group of a node's callbacks.
///
/// # Real-time
/// Not for real-time threads: adding to it locks and allocates.
#[derive(Clone)]
pub struct CallbackGroup {
    callbacks: Arc<Callbacks>,
    group: Arc<Group>,
}

/// What executors know of a group.
pub(crate) struct Group {
    pub(crate) kind: CallbackGroupType,
    pub(crate) priority: i32,
    /// One of a mutually exclusive group runs. W, R: whoever holds the executor's lock.
    pub(crate) is_busy: AtomicBool,
}

/// A callback that was added; dropping the handle changes nothing.
///
/// # Real-time
/// Not for real-time threads: removing it locks and allocates.
#[derive(Clone)]
pub struct CallbackHandle {
    callbacks: Arc<Callbacks>,
    callback: Arc<Callback>,
}

/// The callbacks of a node.
#[derive(Default)]
pub(crate) struct Callbacks {
    list: Mutex<List>,
    /// Counts changes of the list.
    version: AtomicU64,
}

#[derive(Default)]
struct List {
    callbacks: Vec<Arc<Callback>>,
    /// Of the executor that runs them.
    executor: Option<Waker>,
}

impl CallbackGroup {
    pub(crate) fn new(callbacks: Arc<Callbacks>, kind: CallbackGroupType) -> CallbackGroup {
        let group = Group { kind, priority: 0, is_busy: AtomicBool::new(false) };
        CallbackGroup { callbacks, group: Arc::new(group) }
    }

    /// A group of the same kind whose callbacks an [`EventsExecutor`](crate::EventsExecutor) runs before those of lower priority; 0
    /// if it is not said.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> CallbackGroup {
        let group = Group { kind: self.group.kind, priority, is_busy: AtomicBool::new(false) };
        CallbackGroup { group: Arc::new(group), ..self }
    }

    /// Gives `waitable`, which is of the same domain, to the node's executor, which calls `callback` with it and whatever is taken
    /// from it. A callback that owns a clone of its node keeps the node for ever; give it publishers and clients.
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: Take + 'static,
        W::Taken: Send,
    {
        let callback = Arc::new(Callback::new(self.group.clone(), waitable, callback));
        self.callbacks.change(|callbacks| callbacks.push(callback.clone()));
        CallbackHandle { callbacks: self.callbacks.clone(), callback }
    }
}

impl Node {
    /// A subscription whose messages an executor that has this node gives to `callback`, one at a time.
    ///
    /// # Errors
    /// As [`Node::create_subscription`].
    pub fn create_subscription_with_callback<T>(
        &self,
        topic: &str,
        qos: Qos,
        mut callback: impl FnMut(Sample<T>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        T: Message,
        Sample<T>: Send,
    {
        let subscription = self.create_subscription::<T>(topic, qos)?;
        Ok(self.add_callback(subscription, move |_, sample| callback(sample)))
    }

    /// A timer on the steady clock that goes off every `period`; [`Timer`] has others.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer(&self, period: Duration) -> Result<Timer> {
        Timer::new(&Clock::steady(), period)
    }

    /// A timer at each of whose ticks an executor that has this node calls `callback`; what is returned cancels and resets it.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer_with_callback(
        &self,
        period: Duration,
        mut callback: impl FnMut(Tick) + Send + 'static,
    ) -> Result<Timer> {
        let timer = self.create_timer(period)?;
        self.add_callback(timer.clone(), move |_, tick| callback(tick));
        Ok(timer)
    }

    /// A group for callbacks of this node.
    #[must_use]
    pub fn create_callback_group(&self, kind: CallbackGroupType) -> CallbackGroup {
        CallbackGroup::new(self.callbacks().clone(), kind)
    }

    /// Gives `waitable` to this node's executor, in the node's default group, which is mutually exclusive; see
    /// [`CallbackGroup::add_callback`].
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: Take + 'static,
        W::Taken: Send,
    {
        self.default_group().add_callback(waitable, callback)
    }
}

impl CallbackHandle {
    /// Takes the callback, and what it waits for, away from its node. If it runs just now it comes to its end.
    pub fn remove(self) {
        self.callback.remove();
        self.callbacks.change(|callbacks| callbacks.retain(|callback| !Arc::ptr_eq(callback, &self.callback)));
    }
}

impl Callbacks {
    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Callback>>)) {
        let mut list = self.list();
        change(&mut list.callbacks);
        self.version.fetch_add(1, Release);
        let executor = list.executor.clone();
        drop(list);
        executor.into_iter().for_each(Waker::wake);
    }

    /// Counts changes.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// The callbacks there are, in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<Arc<Callback>> {
        self.list().callbacks.clone()
    }

    /// Gives them to an executor, which is woken when there are others; `false` if they are another's.
    pub(crate) fn give_to(&self, executor: &Waker) -> bool {
        let mut list = self.list();
        let is_free = list.executor.is_none();
        if is_free {
            list.executor = Some(executor.clone());
        }
        is_free
    }

    /// Takes them back.
    pub(crate) fn take_back(&self) {
        self.list().executor = None;
    }
}

impl std::fmt::Debug for CallbackGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackGroup({:?}, priority {})", self.group.kind, self.group.priority)
    }
}

impl std::fmt::Debug for CallbackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackHandle(removed: {})", self.callback.is_removed())
    }
}
