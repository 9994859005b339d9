//! The watchdog of an executor. It finds callbacks in slow runs that hold up other callbacks. It runs on the control
//! thread, because all threads of the executor may be in slow runs.
//!
//! The watchdog looks at the executor whenever the control thread probes for dead processes, at most once per second.
//! If the executor has gathered since the last look, only every [`LOOKS_WHILE_BUSY`]th look reads the callbacks;
//! otherwise every look does. So the only cost for the executor is a counter of its gatherings.
//!
//! Invariant: the control thread holds references to callbacks, and to the objects that they own, only while `looking`
//! is locked. It runs no user code under this lock.

use super::{LIMIT_NS, SlowRunWarning};
use crate::{
    callback::{Callback, CallbackGroupType},
    executor::{members::Members, wake_signal::WakeSignal},
    time::monotonic_ns,
    wait::lock,
};
use gantry_shm::{Participant, Role, Watcher};
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Waker,
};

/// The number of looks per reading of the callbacks while the executor still gathers: a thread pool may gather although
/// a callback holds up its group.
const LOOKS_WHILE_BUSY: usize = 8;

/// A watchdog that looks for slow runs among the callbacks of one executor. Its references are weak, so that the
/// control thread keeps no node alive.
pub(in crate::executor) struct Watchdog {
    signal: Weak<WakeSignal>,
    members: Weak<Members>,
    looking: Mutex<()>,
    /// The earliest time of the next look, CLOCK_MONOTONIC. Joins and leaves of endpoints cause more updates than the
    /// watchdog needs.
    rest_until_ns: AtomicU64,
    /// The number of the executor's gatherings at the last look.
    seen_gatherings: AtomicUsize,
    looks: AtomicUsize,
}

impl Watchdog {
    /// Starts a watchdog, which works until its last handle is dropped.
    pub(in crate::executor) fn start(
        participant: &Participant,
        signal: &Arc<WakeSignal>,
        members: &Arc<Members>,
    ) -> crate::Result<Arc<Watchdog>> {
        let (signal, members) = (Arc::downgrade(signal), Arc::downgrade(members));
        let (looking, rest_until_ns, seen_gatherings, looks) = Default::default();
        let make = |_| Watchdog { signal, members, looking, rest_until_ns, seen_gatherings, looks };
        // The topic does not matter, because the control thread updates all watchers at each probe.
        Ok(participant.watch("", Role::Publisher, make)?)
    }

    /// Waits until the current look has ended. After this call, the control thread holds no reference to members that
    /// left.
    pub(in crate::executor) fn wait_for_look(&self) {
        drop(lock(&self.looking));
    }

    fn look(&self) -> Vec<SlowRunWarning> {
        let now_ns = monotonic_ns();
        let (Some(signal), Some(members)) = (self.signal.upgrade(), self.members.upgrade()) else { return Vec::new() };
        if signal.threads() == 0 || now_ns < self.rest_until_ns.load(Relaxed) {
            return Vec::new();
        }
        self.rest_until_ns.store(now_ns + LIMIT_NS, Relaxed);
        let gatherings = signal.gatherings();
        let is_quiet = self.seen_gatherings.swap(gatherings, Relaxed) == gatherings;
        let is_due = is_quiet || self.looks.fetch_add(1, Relaxed) % LOOKS_WHILE_BUSY == LOOKS_WHILE_BUSY - 1;
        if is_due { slow_runs(signal, &members, now_ns) } else { Vec::new() }
    }
}

/// The warnings about slow runs that hold up other callbacks.
fn slow_runs(signal: Arc<WakeSignal>, members: &Members, now_ns: u64) -> Vec<SlowRunWarning> {
    let threads = signal.threads();
    let callbacks = members.callbacks(&Waker::from(signal));
    let ran_ns = |callback: &Callback| Some(now_ns.saturating_sub(callback.running_since_ns()?));
    let slow = callbacks.iter().filter_map(|callback| Some((callback, ran_ns(callback)?)));
    let slow: Vec<_> = slow.filter(|(_, ran_ns)| *ran_ns >= LIMIT_NS).collect();
    let are_all_in_slow_ones = slow.len() >= threads;
    let holds_up = |callback: &Callback| {
        callbacks.iter().any(|other| {
            (are_all_in_slow_ones || excludes(callback, other))
                && other.running_since_ns().is_none()
                && other.has_work()
        })
    };
    let unknown = slow.into_iter().filter(|(callback, _)| !callback.is_known_slow() && holds_up(callback));
    unknown.filter_map(|(callback, ran_ns)| SlowRunWarning::for_running(callback, ran_ns)).collect()
}

/// Whether `other` cannot run at the same time as `callback`, because both are in one mutually exclusive group.
fn excludes(callback: &Callback, other: &Callback) -> bool {
    callback.group.kind == CallbackGroupType::MutuallyExclusive && Arc::ptr_eq(&callback.group, &other.group)
}

impl Watcher for Watchdog {
    fn update(&self) {
        let looking = lock(&self.looking);
        let warnings = self.look();
        drop(looking);
        warnings.iter().for_each(SlowRunWarning::log);
    }

    /// The watchdog has no due time, so that the control thread need not wake for it.
    fn due_ns(&self) -> Option<u64> {
        None
    }
}
