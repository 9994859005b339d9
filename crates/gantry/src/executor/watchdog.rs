//! The watchdog of an executor: it looks from the control thread for callbacks that run for long while others wait, since
//! the executor's own threads may all be in such callbacks.
//!
//! It looks when the control thread looks for processes that ended, each second or less often, and again when a run that it
//! saw becomes a slow one. So a thread that runs callbacks does nothing for it but to store the time, and an idle executor
//! costs no wake-up.

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
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::Waker,
};

/// Looks at the callbacks of one executor. Weak: the control thread keeps no node.
pub(super) struct Watchdog {
    signal: Weak<WakeSignal>,
    members: Weak<Members>,
    /// When a run that is under way becomes slow, CLOCK_MONOTONIC; `u64::MAX`: none is known.
    due_ns: AtomicU64,
    /// The time before which no look is worth it: endpoints that come and go cause updates, too.
    rest_until_ns: AtomicU64,
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
        let (due_ns, rest_until_ns) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        // The nodes' topic has no publishers, so that nothing but the time causes updates.
        let make = |_| Watchdog { signal, members, due_ns, rest_until_ns };
        Ok(participant.watch("", Role::Publisher, make)?)
    }

    /// Looks at the callbacks, and says those that are slow. Returns when the next of the others becomes slow.
    fn look(&self, now_ns: u64) -> Option<u64> {
        let (Some(signal), Some(members)) = (self.signal.upgrade(), self.members.upgrade()) else { return None };
        let threads = signal.threads();
        if threads == 0 {
            return None;
        }
        let callbacks = members.callbacks(&Waker::from(signal));
        let (mut slow, mut next_ns) = (Vec::new(), None::<u64>);
        for watched in &callbacks {
            let Some(began_ns) = watched.1.running_since_ns() else { continue };
            if now_ns.saturating_sub(began_ns) >= LIMIT_NS {
                slow.push((watched, now_ns - began_ns));
            } else {
                next_ns = next_ns.into_iter().chain([began_ns + LIMIT_NS]).min();
            }
        }
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
        next_ns
    }
}

/// Whether the other callback cannot run at the same time.
fn excludes(callback: &Callback, other: &Callback) -> bool {
    callback.group.kind == CallbackGroupType::MutuallyExclusive && Arc::ptr_eq(&callback.group, &other.group)
}

impl Watcher for Watchdog {
    fn update(&self) {
        let now_ns = monotonic_ns();
        if now_ns >= self.rest_until_ns.load(Relaxed).min(self.due_ns.load(Relaxed)) {
            self.rest_until_ns.store(now_ns + LIMIT_NS, Relaxed);
            self.due_ns.store(self.look(now_ns).unwrap_or(u64::MAX), Relaxed);
        }
    }

    fn due_ns(&self) -> Option<u64> {
        Some(self.due_ns.load(Relaxed)).filter(|due_ns| *due_ns != u64::MAX)
    }
}
