//! All events of a publisher or a subscription: one status for each event type.
//!
//! The library has one queue of events for each endpoint. The waker of this queue sorts the events into the
//! statuses, on the control thread.

use super::{
    event::{Change, Event},
    library::Close,
};
use crate::lock::lock;
use gantry::{Events, PublisherEvent, QosPolicy, SubscriptionEvent, Waitable};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{
    sync::{Arc, Mutex},
    task::Wake,
};

/// The events of an endpoint, of all event types.
pub struct EndpointEvents<E: 'static> {
    /// The library's queue of events, made for the first event of this endpoint that a program initializes.
    library: Mutex<Option<Events<E>>>,
    /// Whether the library's queue of events was made; the lock is held while it is made.
    is_made: Mutex<bool>,
    events: Vec<Event>,
}

impl<E: LibraryEvent> EndpointEvents<E> {
    pub fn new() -> Arc<EndpointEvents<E>> {
        Arc::new(EndpointEvents {
            library: Mutex::new(None),
            is_made: Mutex::new(false),
            events: E::KINDS.iter().map(|kind| Event::new(*kind)).collect(),
        })
    }

    /// The events of a kind. `make` makes the library's queue of events at the first call. Unsupported kinds have
    /// no events.
    pub fn event(
        self: &Arc<EndpointEvents<E>>,
        kind: rmw_event_type_t,
        make: impl FnOnce() -> Result<Events<E>>,
    ) -> Result<&Event> {
        let event = self.events.iter().find(|event| event.kind == kind);
        let event = event.ok_or_else(|| {
            Failure::unsupported(&format!("events of type {kind} (by Jazzy's numbers) of this endpoint"))
        })?;
        let mut is_made = lock(&self.is_made);
        if !*is_made {
            // The lock of the events is not held here: the waker may be called at once, and takes the lock.
            let mut library = make()?;
            library.set_waker(Some(self.clone().into()));
            *lock(&self.library) = Some(library);
            self.sort();
            *is_made = true;
        }
        Ok(event)
    }

    /// Counts an event that does not come from the library's queue.
    pub fn add(&self, kind: rmw_event_type_t, change: &Change) {
        if let Some(event) = self.events.iter().find(|event| event.kind == kind) {
            event.add(change);
            event.notify();
        }
    }

    /// Moves the events of the library's queue into their statuses.
    fn sort(&self) {
        while let Some(event) = self.count_next() {
            event.notify();
        }
    }

    /// Counts the library's next event, and returns the status to which the event belongs. If the endpoints cannot
    /// be read now, the event is counted at the next change.
    fn count_next(&self) -> Option<&Event> {
        let mut library = lock(&self.library); // held until the event is counted: another thread may sort the next event
        loop {
            let (kind, change) = match library.as_mut()?.take().ok()??.sorted() {
                Some(sorted) => sorted,
                None => continue,
            };
            if let Some(event) = self.events.iter().find(|event| event.kind == kind) {
                event.add(&change);
                return Some(event);
            }
        }
    }
}

/// Called before the endpoint is destroyed: no callback runs after this.
impl<E: LibraryEvent> Close for EndpointEvents<E> {
    fn close(&self) {
        let library = lock(&self.library).take();
        drop(library); // not under the lock, which its waker takes
        self.events.iter().for_each(Event::end_callback);
    }
}

impl<E: LibraryEvent> Wake for EndpointEvents<E> {
    fn wake(self: Arc<EndpointEvents<E>>) {
        self.sort();
    }
}

/// An event of the library as an event of `rmw`.
pub trait LibraryEvent: Sized + Send + 'static {
    const KINDS: &'static [rmw_event_type_t];
    /// The `rmw` kind of the event, and the amounts that the event adds to the counts of that kind.
    fn sorted(self) -> Option<(rmw_event_type_t, Change)>;
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
                (RMW_EVENT_OFFERED_DEADLINE_MISSED, Change::from_total(total_count_change))
            }
            PublisherEvent::LivelinessLost { total_count_change, .. } => {
                (RMW_EVENT_LIVELINESS_LOST, Change::from_total(total_count_change))
            }
            PublisherEvent::OfferedIncompatibleQos { total_count_change, last_policy, .. } => {
                (RMW_EVENT_OFFERED_QOS_INCOMPATIBLE, incompatible(total_count_change, last_policy))
            }
            PublisherEvent::IncompatibleType { total_count_change, .. } => {
                (RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE, Change::from_total(total_count_change))
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
                (RMW_EVENT_REQUESTED_DEADLINE_MISSED, Change::from_total(total_count_change))
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
                (RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE, Change::from_total(total_count_change))
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
        // As in DDS, the lease duration belongs to the liveliness policy.
        QosPolicy::Liveliness { .. } | QosPolicy::LivelinessLeaseDuration { .. } => RMW_QOS_POLICY_LIVELINESS,
        _ => RMW_QOS_POLICY_INVALID,
    });
    Change { total, last_policy, ..Change::default() }
}
