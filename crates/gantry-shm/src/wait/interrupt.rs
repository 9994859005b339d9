//! The interruption of all waits of this process, for a program that is being shut down.
//!
//! The flag is stored before the bells are rung (pair 8 of `protocol`, with the flag as the news), so that no wait
//! misses it.

use crate::{
    domain::{participant, process_file::waiter_owner},
    protocol::sleep::SHARED_WAITER,
    wait::bell::Bell,
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};

static IS_SET: AtomicBool = AtomicBool::new(false);
/// The lock that is held while the bells are rung. A waker on a control thread may wait for the lock
/// ([`is_interrupted`]), so the holder of the lock must not wait for a control thread. The drop of a participant waits
/// for one, so the holder keeps references to domains only.
static RINGING: Mutex<()> = Mutex::new(());

/// Interrupts all waits of this process in all domains, present and later ones; `on` = `false` ends the
/// interruption. An interrupted wait returns as if its time limit were over. A [`Collector`](crate::Collector), and
/// a [`WaitSet`](crate::WaitSet) with a `look`, are only woken and check [`is_interrupted`] themselves. A publisher
/// that waits for room, 100 ms by default, is not interrupted.
///
/// Allocates, locks and makes system calls: a signal handler must not call this function.
pub fn interrupt_waits(on: bool) {
    let _ringing = RINGING.lock().unwrap_or_else(PoisonError::into_inner);
    IS_SET.store(on, SeqCst);
    if on {
        ring_all();
    }
}

/// Rings the bells of all waiters of this process.
fn ring_all() {
    for domain in participant::joined_domains() {
        let own = domain.board.waiters_of(waiter_owner(domain.process.id()));
        own.into_iter().chain([SHARED_WAITER]).for_each(|waiter| Bell::new(&domain, waiter).ring());
    }
}

/// Whether the waits of this process are interrupted ([`interrupt_waits`]). Costs one load if they are not.
#[must_use]
pub fn is_interrupted() -> bool {
    let is_set = IS_SET.load(SeqCst);
    if is_set {
        // Waits for the thread that rings, which keeps the domain open. If the caller ended the program before that
        // thread closes the domain, the domain's files would stay behind.
        drop(RINGING.lock().unwrap_or_else(PoisonError::into_inner));
    }
    is_set
}

#[cfg(test)]
mod tests {
    use crate::{
        domain::participant::{Participant, joined_domains},
        wait::waiter::Waiter,
    };
    use std::sync::Arc;

    /// Without the rings, an interrupted wait would end only when a slice of its sleep is over, after seconds.
    #[test]
    fn the_waiters_of_all_domains_are_rung() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participants = [0, 1].map(|domain_id| Participant::join_under(root.path(), domain_id).unwrap());
        let mut waiters = participants.each_ref().map(|participant| Waiter::new(participant.domain.clone()));
        let mut rings = || {
            waiters.each_mut().map(|waiter| {
                let index = waiter.index();
                waiter.domain.board.bell(index).rings()
            })
        };
        let before = rings();
        super::ring_all();
        let after = rings();
        assert!(after[0] != before[0] && after[1] != before[1], "{before:?}, {after:?}");
    }

    /// The control thread of a participant that ends may wait for the thread that rings the bells.
    #[test]
    fn a_participant_can_end_while_the_bells_are_rung() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let ringing = joined_domains();
        assert!(ringing.iter().any(|domain| Arc::ptr_eq(domain, &participant.domain)));
        assert!(Arc::into_inner(participant).is_some(), "the thread that rings would wait for the control thread");
    }
}
