//! The watchdog of an executor: it looks from the control thread for callbacks that run for long while others wait, since
//! the executor's own threads may all be in such callbacks.
//!
//! It looks when the control thread looks for processes that ended, each second or less often, and at the callbacks only if
//! the executor has not gathered since the last look, or seldom: so an executor does nothing for it but to count its
//! gatherings.

use super::{
    members::Members,
    slow_run::{LIMIT_NS, say_running},
    wake_signal::WakeSignal,
};
use crate::{
    callback::{Callback, CallbackGroupType},
    log,
    time::monotonic_ns,
};
use gantry_shm::{Participant, Role, Watcher};
use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Waker,
};

/// A pool that gathers may have a callback that holds up its group: one of so many looks is at the callbacks.
const LOOKS_WHILE_BUSY: usize = 8;

/// Looks at the callbacks of one executor. Weak: the control thread keeps no node.
pub(super) struct Watchdog {
    signal: Weak<WakeSignal>,
    members: Weak<Members>,
    /// The time before which no look is worth it: endpoints that come and go cause updates, too. CLOCK_MONOTONIC.
    rest_until_ns: AtomicU64,
    /// The executor's gatherings at the last look, and the number of looks.
    seen_gatherings: AtomicUsize,
    looks: AtomicUsize,
}

/// A callback, and the full name of its node.
type Watched = (Arc<str>, Arc<Callback>);

impl Watchdog {
    /// A watchdog that looks for as long as it is kept.
    pub(super) fn start(
        participant: &Participant,
        signal: &Arc<WakeSignal>,
        members: &Arc<Members>,
    ) -> crate::Result<Arc<Watchdog>> {
        let (signal, members) = (Arc::downgrade(signal), Arc::downgrade(members));
        let (rest_until_ns, seen_gatherings, looks) = Default::default();
        let make = |_| Watchdog { signal, members, rest_until_ns, seen_gatherings, looks };
        // The nodes' topic has no publishers, so that nothing but the time causes updates.
        Ok(participant.watch("", Role::Publisher, make)?)
    }

    /// Looks at the callbacks, and says those that are slow.
    fn look(&self, signal: Arc<WakeSignal>, members: &Members) {
        let (threads, now_ns) = (signal.threads(), monotonic_ns());
        let callbacks = members.callbacks(&Waker::from(signal));
        let ran_ns = |callback: &Callback| Some(now_ns.saturating_sub(callback.running_since_ns()?));
        let slow = callbacks.iter().filter_map(|watched| Some((watched, ran_ns(&watched.1)?)));
        let slow: Vec<_> = slow.filter(|(_, ran_ns)| *ran_ns >= LIMIT_NS).collect();
        let are_all_in_slow_ones = slow.len() >= threads;
        for ((node, callback), ran_ns) in slow {
            let is_held_up = |(_, other): &Watched| {
                (are_all_in_slow_ones || excludes(callback, other))
                    && other.running_since_ns().is_none()
                    && other.has_work()
            };
            if !callback.is_known_slow() && log::is_warn_enabled(node) && callbacks.iter().any(is_held_up) {
                say_running(callback, node, ran_ns);
            }
        }
    }
}

/// Whether the other callback cannot run at the same time.
fn excludes(callback: &Callback, other: &Callback) -> bool {
    callback.group.kind == CallbackGroupType::MutuallyExclusive && Arc::ptr_eq(&callback.group, &other.group)
}

impl Watcher for Watchdog {
    fn update(&self) {
        let now_ns = monotonic_ns();
        let (Some(signal), Some(members)) = (self.signal.upgrade(), self.members.upgrade()) else { return };
        if signal.threads() == 0 || now_ns < self.rest_until_ns.load(Relaxed) {
            return;
        }
        self.rest_until_ns.store(now_ns + LIMIT_NS, Relaxed);
        let gatherings = signal.gatherings();
        let is_quiet = self.seen_gatherings.swap(gatherings, Relaxed) == gatherings;
        if is_quiet || self.looks.fetch_add(1, Relaxed) % LOOKS_WHILE_BUSY == LOOKS_WHILE_BUSY - 1 {
            self.look(signal, &members);
        }
    }

    /// The control thread wakes for no look.
    fn due_ns(&self) -> Option<u64> {
        None
    }
}
