//! The QoS events of a publisher or a subscription: one status for each kind.
//!
//! The library has one queue of events for an endpoint; its waker sorts them into the statuses, on the control thread.

use super::{
    listener::{Callback, lock},
    wake_up::Flag,
};
use crate::{
    bindings::*,
    failure::{Failure, Result},
};
use gantry::{Events, PublisherEvent, QosPolicy, SubscriptionEvent, Waitable};
use std::{
    ffi::c_void,
    sync::{Arc, Mutex},
    task::Wake,
};

/// The events of one kind of one endpoint.
pub struct Event {
    kind: rmw_event_type_t,
    pub flag: Arc<Flag>,
    counts: Mutex<Counts>,
    pub callback: Mutex<Callback>,
}

/// Totals since the events were made, and changes since the last take.
#[derive(Clone, Copy, Default)]
struct Counts {
    total: u64,
    total_change: u64,
    current: u64,
    current_change: i64,
    /// Those that are not alive; of liveliness only.
    not_alive: u64,
    not_alive_change: i64,
    last_policy: rmw_qos_policy_kind_t,
    /// The number of events that no callback was told.
    untold: u64,
}

/// An event of the library, as one of `rmw`.
pub trait LibraryEvent: Sized + Send + 'static {
    const KINDS: &'static [rmw_event_type_t];
    /// Its kind and what it adds.
    fn sorted(self) -> Option<(rmw_event_type_t, Change)>;
}

/// What an event adds to the counts of its kind.
#[derive(Default)]
pub struct Change {
    total: u64,
    current: Option<(u64, i64)>,
    not_alive: Option<(u64, i64)>,
    last_policy: Option<rmw_qos_policy_kind_t>,
}

/// All kinds of events of an endpoint.
pub struct EndpointEvents<E: 'static> {
    /// Made for the first event that is asked for.
    library: Mutex<Option<Events<E>>>,
    /// Whether they were made; held while they are.
    is_made: Mutex<bool>,
    events: Vec<Event>,
}

impl<E: LibraryEvent> EndpointEvents<E> {
    pub fn new() -> Arc<EndpointEvents<E>> {
        let event = |kind: &rmw_event_type_t| Event {
            kind: *kind,
            flag: Arc::default(),
            counts: Mutex::default(),
            callback: Mutex::default(),
        };
        Arc::new(EndpointEvents {
            library: Mutex::new(None),
            is_made: Mutex::new(false),
            events: E::KINDS.iter().map(event).collect(),
        })
    }

    /// The events of a kind; `make` makes the library's, once. Events that are not supported have none.
    pub fn event(
        self: &Arc<EndpointEvents<E>>,
        kind: rmw_event_type_t,
        make: impl FnOnce() -> gantry::Result<Events<E>>,
    ) -> Result<&Event> {
        let event = self.events.iter().find(|event| event.kind == kind);
        let event = event.ok_or_else(|| Failure::unsupported(&format!("events of type {kind} of this endpoint")))?;
        let mut is_made = lock(&self.is_made);
        if !*is_made {
            // Not under the lock of the events: the waker may be called at once, and takes it.
            let mut library = make()?;
            library.set_waker(Some(self.clone().into()));
            *lock(&self.library) = Some(library);
            self.sort();
            *is_made = true;
        }
        Ok(event)
    }

    /// Ends the events, before the endpoint is destroyed.
    pub fn close(&self) {
        let library = lock(&self.library).take();
        drop(library); // not under the lock, which its waker takes
        for event in &self.events {
            *lock(&event.callback) = Callback::default();
        }
    }

    /// Counts an event that the library does not have.
    pub fn add(&self, kind: rmw_event_type_t, change: &Change) {
        if let Some(event) = self.events.iter().find(|event| event.kind == kind) {
            event.add(change);
            event.notify();
        }
    }

    /// Sorts the events that the library has.
    fn sort(&self) {
        while let Some(event) = self.next() {
            if let Some((kind, change)) = event.sorted() {
                self.add(kind, &change);
            }
        }
    }

    /// The library's next event. If endpoints cannot be read now, it comes at the next change.
    fn next(&self) -> Option<E> {
        lock(&self.library).as_mut().and_then(|library| library.take().ok().flatten())
    }
}

impl<E: LibraryEvent> Wake for EndpointEvents<E> {
    fn wake(self: Arc<EndpointEvents<E>>) {
        self.sort();
    }
}

impl Event {
    fn add(&self, change: &Change) {
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
        counts.last_policy = change.last_policy.unwrap_or(counts.last_policy);
        counts.untold += 1;
    }

    /// Wakes the wait set and tells the callback.
    fn notify(&self) {
        self.flag.set();
        self.tell();
    }

    /// Tells the callback of the events that no callback was told.
    fn tell(&self) {
        let callback = lock(&self.callback);
        if callback.is_set() {
            let untold = std::mem::take(&mut lock(&self.counts).untold);
            callback.call(untold);
        }
    }

    /// Replaces the callback, and tells it what came before.
    ///
    /// # Safety
    /// As [`Callback::set`].
    pub unsafe fn set_callback(&self, function: rmw_event_callback_t, user_data: *const c_void) {
        {
            let mut callback = lock(&self.callback);
            // SAFETY: the promise of the caller.
            unsafe { callback.set(function, user_data) };
        }
        self.tell();
    }

    /// Takes the status of its kind: writes the struct that `rmw` documents for it.
    ///
    /// # Safety
    /// `status` is that struct.
    pub unsafe fn take(&self, status: *mut c_void) {
        self.flag.take(); // before the counts: an event that is added after this sets it again
        let mut counts = lock(&self.counts);
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
                let last_policy_kind = taken.last_policy;
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
            // The structs of the others have the same two fields.
            _ => {
                let missed = rmw_requested_deadline_missed_status_t { total_count, total_count_change };
                // SAFETY: the promise of the caller.
                unsafe { status.cast::<rmw_requested_deadline_missed_status_t>().write(missed) };
            }
        }
    }
}

impl Change {
    /// A number of further events.
    pub fn of_total(total: u64) -> Change {
        Change { total, ..Change::default() }
    }
}

impl LibraryEvent for PublisherEvent {
    const KINDS: &'static [rmw_event_type_t] = &[
        RMW_EVENT_PUBLICATION_MATCHED,
        RMW_EVENT_OFFERED_DEADLINE_MISSED,
        RMW_EVENT_LIVELINESS_LOST,
        RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
        RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
    ];

    fn sorted(self) -> Option<(rmw_event_type_t, Change)> {
        Some(match self {
            PublisherEvent::Matched { total_count_change, current_count, current_count_change, .. } => {
                let current = Some((current_count, current_count_change));
                (RMW_EVENT_PUBLICATION_MATCHED, Change { total: total_count_change, current, ..Change::default() })
            }
            PublisherEvent::OfferedDeadlineMissed { total_count_change, .. } => {
                (RMW_EVENT_OFFERED_DEADLINE_MISSED, Change::of_total(total_count_change))
            }
            PublisherEvent::LivelinessLost { total_count_change, .. } => {
                (RMW_EVENT_LIVELINESS_LOST, Change::of_total(total_count_change))
            }
            PublisherEvent::OfferedIncompatibleQos { total_count_change, last_policy, .. } => {
                (RMW_EVENT_OFFERED_QOS_INCOMPATIBLE, incompatible(total_count_change, last_policy))
            }
            PublisherEvent::IncompatibleType { total_count_change, .. } => {
                (RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE, Change::of_total(total_count_change))
            }
            _ => return None,
        })
    }
}

impl LibraryEvent for SubscriptionEvent {
    const KINDS: &'static [rmw_event_type_t] = &[
        RMW_EVENT_SUBSCRIPTION_MATCHED,
        RMW_EVENT_REQUESTED_DEADLINE_MISSED,
        RMW_EVENT_LIVELINESS_CHANGED,
        RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
        RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE,
        RMW_EVENT_MESSAGE_LOST,
    ];

    fn sorted(self) -> Option<(rmw_event_type_t, Change)> {
        Some(match self {
            SubscriptionEvent::Matched { total_count_change, current_count, current_count_change, .. } => {
                let current = Some((current_count, current_count_change));
                (RMW_EVENT_SUBSCRIPTION_MATCHED, Change { total: total_count_change, current, ..Change::default() })
            }
            SubscriptionEvent::RequestedDeadlineMissed { total_count_change, .. } => {
                (RMW_EVENT_REQUESTED_DEADLINE_MISSED, Change::of_total(total_count_change))
            }
            SubscriptionEvent::LivelinessChanged {
                alive_count,
                not_alive_count,
                alive_count_change,
                not_alive_count_change,
            } => {
                let current = Some((alive_count, alive_count_change));
                let not_alive = Some((not_alive_count, not_alive_count_change));
                (RMW_EVENT_LIVELINESS_CHANGED, Change { current, not_alive, ..Change::default() })
            }
            SubscriptionEvent::RequestedIncompatibleQos { total_count_change, last_policy, .. } => {
                (RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE, incompatible(total_count_change, last_policy))
            }
            SubscriptionEvent::IncompatibleType { total_count_change, .. } => {
                (RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, Change::of_total(total_count_change))
            }
            _ => return None,
        })
    }
}

fn incompatible(total: u64, policy: QosPolicy) -> Change {
    let last_policy = Some(match policy {
        QosPolicy::Reliability { .. } => RMW_QOS_POLICY_RELIABILITY,
        QosPolicy::Durability { .. } => RMW_QOS_POLICY_DURABILITY,
        QosPolicy::Deadline { .. } => RMW_QOS_POLICY_DEADLINE,
        // As in DDS, whose policy of liveliness has the lease duration.
        QosPolicy::Liveliness { .. } | QosPolicy::LivelinessLeaseDuration { .. } => RMW_QOS_POLICY_LIVELINESS,
        _ => RMW_QOS_POLICY_INVALID,
    });
    Change { total, last_policy, ..Change::default() }
}
