//! The events of one type (such as "deadline missed") of a publisher or a subscription, and their status.

use super::{callback::Callback, wake_up::Flag};
use crate::lock::lock;
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    sync::{Arc, Mutex},
};

/// The events of one type of one endpoint.
pub struct Event {
    pub kind: rmw_event_type_t,
    pub flag: Arc<Flag>,
    counts: Mutex<Counts>,
    callback: Mutex<Callback>,
}

/// Totals since the creation of the events, and changes since the last take.
#[derive(Clone, Copy, Default)]
struct Counts {
    total: u64,
    total_change: u64,
    current: u64,
    current_change: i64,
    /// The number of publishers that are not alive. Only liveliness events use this number.
    not_alive: u64,
    not_alive_change: i64,
    last_policy: Option<rmw_qos_policy_kind_t>,
    /// The number of events that no callback was called for.
    untold: u64,
}

/// The numbers that an event adds to the counts of its kind.
#[derive(Default)]
pub struct Change {
    pub total: u64,
    /// The new value of `current`, and the change of this value. `not_alive` is a pair with the same meaning.
    pub current: Option<(u64, i64)>,
    pub not_alive: Option<(u64, i64)>,
    pub last_policy: Option<rmw_qos_policy_kind_t>,
}

impl Event {
    pub fn new(kind: rmw_event_type_t) -> Event {
        Event { kind, flag: Arc::default(), counts: Mutex::default(), callback: Mutex::default() }
    }

    /// Removes the callback before the endpoint is destroyed. No call of the callback runs afterwards.
    pub fn end_callback(&self) {
        *lock(&self.callback) = Callback::default();
    }

    /// Adds a change to the counts without a notification. The caller calls [`Event::notify`] next.
    pub fn add(&self, change: &Change) {
        let mut counts = lock(&self.counts);
        counts.total += change.total;
        counts.total_change += change.total;
        if let Some((current, difference)) = change.current {
            counts.current = current;
            counts.current_change += difference;
        }
        if let Some((not_alive, difference)) = change.not_alive {
            counts.not_alive = not_alive;
            counts.not_alive_change += difference;
        }
        counts.last_policy = change.last_policy.or(counts.last_policy);
        counts.untold += 1;
        self.flag.mark(); // under the lock, as in `take`: a take that finds the flag set also finds the counts
    }

    /// Wakes the wait set that waits for the event, and calls the callback.
    pub fn notify(&self) {
        self.flag.ring();
        self.tell();
    }

    /// Calls the callback with the number of events that no callback was called for.
    fn tell(&self) {
        let callback = lock(&self.callback);
        if callback.is_set() {
            let untold = std::mem::take(&mut lock(&self.counts).untold);
            callback.call(untold);
        }
    }

    /// Replaces the callback, and calls the new one with the number of events that no callback was called for.
    ///
    /// # Safety
    /// The same as for [`Callback::set`].
    pub unsafe fn set_callback(&self, function: rmw_event_callback_t, user_data: *const c_void) {
        {
            let mut callback = lock(&self.callback);
            // SAFETY: the promise of the caller.
            unsafe { callback.set(function, user_data) };
        }
        self.tell();
    }

    /// Takes the status of this kind: writes the status struct that `rmw` defines for this kind.
    ///
    /// # Safety
    /// `status` points to the status struct of this kind.
    pub unsafe fn take(&self, status: *mut c_void) {
        let mut counts = lock(&self.counts);
        self.flag.take();
        let taken = *counts;
        (counts.total_change, counts.current_change, counts.not_alive_change, counts.untold) = (0, 0, 0, 0);
        drop(counts);
        let int = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
        let difference = |count: i64| count.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let (total_count, total_count_change) = (int(taken.total), int(taken.total_change));
        match self.kind {
            RMW_EVENT_SUBSCRIPTION_MATCHED | RMW_EVENT_PUBLICATION_MATCHED => {
                let matched = rmw_matched_status_t {
                    total_count: size(taken.total),
                    total_count_change: size(taken.total_change),
                    current_count: size(taken.current),
                    current_count_change: difference(taken.current_change),
                };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_matched_status_t>().write(matched) };
            }
            RMW_EVENT_LIVELINESS_CHANGED => {
                let changed = rmw_liveliness_changed_status_t {
                    alive_count: int(taken.current),
                    not_alive_count: int(taken.not_alive),
                    alive_count_change: difference(taken.current_change),
                    not_alive_count_change: difference(taken.not_alive_change),
                };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_liveliness_changed_status_t>().write(changed) };
            }
            RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE | RMW_EVENT_OFFERED_QOS_INCOMPATIBLE => {
                let last_policy_kind = taken.last_policy.unwrap_or(RMW_QOS_POLICY_INVALID);
                let incompatible =
                    rmw_qos_incompatible_event_status_t { total_count, total_count_change, last_policy_kind };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_qos_incompatible_event_status_t>().write(incompatible) };
            }
            RMW_EVENT_MESSAGE_LOST => {
                let (total_count, total_count_change) = (size(taken.total), size(taken.total_change));
                let lost = rmw_message_lost_status_t { total_count, total_count_change };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_message_lost_status_t>().write(lost) };
            }
            // The structs of the other kinds have the same two fields as `rmw_requested_deadline_missed_status_t`.
            _ => {
                let missed = rmw_requested_deadline_missed_status_t { total_count, total_count_change };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_requested_deadline_missed_status_t>().write(missed) };
            }
        }
    }
}

impl Change {
    /// A change for `total` more events.
    pub fn from_total(total: u64) -> Change {
        Change { total, ..Change::default() }
    }
}
