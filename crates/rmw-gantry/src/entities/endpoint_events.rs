//! All events of a publisher or a subscription. Each event type has one status, as in DDS.
//!
//! `gantry` has one queue for all events of an endpoint. The queue's waker runs on the control thread, and adds each
//! event to the status of its type.

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

/// The events of all types of one endpoint.
pub struct EndpointEvents<E: 'static> {
    /// The queue of events in `gantry`. It is made when the program initializes the first event of this endpoint.
    library: Mutex<Option<Events<E>>>,
    /// True if `library` was set once. A thread that makes the queue holds this lock meanwhile.
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

    /// Returns the events of one kind. `make` makes the queue of events at the first call. An unsupported kind is an
    /// error.
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
            // The lock of `library` is free here, because `set_waker` may call the waker at once, and the waker takes
            // the lock.
            let mut library = make()?;
            library.set_waker(Some(self.clone().into()));
            *lock(&self.library) = Some(library);
            self.sort();
            *is_made = true;
        }
        Ok(event)
    }

    /// Counts an event that does not come from the queue of `gantry`.
    pub fn add(&self, kind: rmw_event_type_t, change: &Change) {
        if let Some(event) = self.events.iter().find(|event| event.kind == kind) {
            event.add(change);
            event.notify();
        }
    }

    /// Adds all events of the queue to the statuses of their types.
    fn sort(&self) {
        while let Some(event) = self.count_next() {
            event.notify();
        }
    }

    /// Takes the next event from the queue, counts it, and returns the status of its type. If the queue cannot be read
    /// now, the next change of the endpoint's events counts the event.
    fn count_next(&self) -> Option<&Event> {
        let mut library = lock(&self.library); // held until the event is counted, to keep the order of events
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

/// Ends the callbacks before the endpoint is destroyed: no callback runs after `close`.
impl<E: LibraryEvent> Close for EndpointEvents<E> {
    fn close(&self) {
        let library = lock(&self.library).take();
        drop(library); // without the lock: the waker of the queue takes the lock
        self.events.iter().for_each(Event::end_callback);
    }
}

impl<E: LibraryEvent> Wake for EndpointEvents<E> {
    fn wake(self: Arc<EndpointEvents<E>>) {
        self.sort();
    }
}

/// An event of `gantry` that can be converted to an event of `rmw`.
pub trait LibraryEvent: Sized + Send + 'static {
    const KINDS: &'static [rmw_event_type_t];
    /// The `rmw` kind of the event, and the numbers that the event adds to the status of this kind.
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
