//! QoS events of publishers and subscriptions, and events about changes of the graph.

use crate::{
    abi::{self, Event, NONE, OK, Status},
    border::{
        argument::{create, destroy, exclusive, output},
        event_fd::EventFd,
        failure::{Result, run},
        sized::sized_output,
    },
    node::{Node, node},
    values::convert::policy,
};
use gantry::{GraphChanges, PublisherEvent, PublisherEvents, SubscriptionEvent, SubscriptionEvents, Waitable};
use std::sync::Arc;

/// `gantry_events`.
pub struct Events {
    source: Source,
    fd: Option<Arc<EventFd>>,
}

enum Source {
    Publisher(PublisherEvents),
    Subscription(SubscriptionEvents),
    Graph(GraphChanges),
}

impl Events {
    pub fn of_publisher(events: PublisherEvents) -> Events {
        Events { source: Source::Publisher(events), fd: None }
    }

    pub fn of_subscription(events: SubscriptionEvents) -> Events {
        Events { source: Source::Subscription(events), fd: None }
    }

    /// The events in the form that a wait set takes. The caller calls [`Events::arm`] after the wait.
    pub fn waitable(&mut self) -> &mut dyn Waitable {
        match &mut self.source {
            Source::Publisher(events) => events,
            Source::Subscription(events) => events,
            Source::Graph(events) => events,
        }
    }

    /// Makes new events wake the descriptor again. This call is needed after each wait, because a wait replaces the
    /// waker by its own.
    pub fn arm(&mut self) {
        if let Some(waker) = self.fd.as_ref().map(EventFd::waker) {
            self.waitable().set_waker(Some(waker));
        }
    }

    fn take(&mut self) -> Result<Option<Event>> {
        Ok(match &mut self.source {
            Source::Publisher(events) => events.take()?.as_ref().map(publisher_event),
            Source::Subscription(events) => events.take()?.as_ref().map(subscription_event),
            Source::Graph(events) => {
                events.take()?.map(|()| Event { kind: abi::EVENT_GRAPH_CHANGED, ..Event::default() })
            }
        })
    }
}

/// Makes an event that has only total counts.
fn totals(kind: i32, total_count: u64, total_count_change: u64) -> Event {
    Event { kind, total_count, total_count_change, ..Event::default() }
}

fn publisher_event(event: &PublisherEvent) -> Event {
    match *event {
        PublisherEvent::Matched { total_count, total_count_change, current_count, current_count_change } => {
            Event { current_count, current_count_change, ..totals(abi::EVENT_MATCHED, total_count, total_count_change) }
        }
        PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change } => {
            totals(abi::EVENT_DEADLINE_MISSED, total_count, total_count_change)
        }
        PublisherEvent::LivelinessLost { total_count, total_count_change } => {
            totals(abi::EVENT_LIVELINESS_LOST, total_count, total_count_change)
        }
        PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change, last_policy } => {
            let event = totals(abi::EVENT_INCOMPATIBLE_QOS, total_count, total_count_change);
            Event { last_policy: policy(&last_policy), ..event }
        }
        PublisherEvent::IncompatibleType { total_count, total_count_change } => {
            totals(abi::EVENT_INCOMPATIBLE_TYPE, total_count, total_count_change)
        }
        _ => totals(abi::EVENT_OTHER, 0, 0),
    }
}

fn subscription_event(event: &SubscriptionEvent) -> Event {
    match *event {
        SubscriptionEvent::Matched { total_count, total_count_change, current_count, current_count_change } => {
            Event { current_count, current_count_change, ..totals(abi::EVENT_MATCHED, total_count, total_count_change) }
        }
        SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change } => {
            totals(abi::EVENT_DEADLINE_MISSED, total_count, total_count_change)
        }
        SubscriptionEvent::LivelinessChanged {
            alive_count,
            not_alive_count,
            alive_count_change,
            not_alive_count_change,
        } => Event {
            kind: abi::EVENT_LIVELINESS_CHANGED,
            current_count: alive_count,
            current_count_change: alive_count_change,
            not_alive_count,
            not_alive_count_change,
            ..Event::default()
        },
        SubscriptionEvent::RequestedIncompatibleQos { total_count, total_count_change, last_policy } => {
            let event = totals(abi::EVENT_INCOMPATIBLE_QOS, total_count, total_count_change);
            Event { last_policy: policy(&last_policy), ..event }
        }
        SubscriptionEvent::IncompatibleType { total_count, total_count_change } => {
            totals(abi::EVENT_INCOMPATIBLE_TYPE, total_count, total_count_change)
        }
        _ => totals(abi::EVENT_OTHER, 0, 0),
    }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_graph_events(handle: *const Node, events: *mut *mut Events) -> Status {
    // SAFETY: H1.
    let make = || Ok(Events { source: Source::Graph(unsafe { node(handle) }?.graph_changes()?), fd: None });
    // SAFETY: H2.
    unsafe { create("events", events, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_events_destroy(events: *mut Events) {
    // SAFETY: H1.
    unsafe { destroy(events) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_events_take(events: *mut Events, event: *mut Event) -> Status {
    run(|| {
        // SAFETY: H1.
        let events = unsafe { exclusive("events", events) }?;
        // SAFETY: H2.
        let output = unsafe { sized_output("event", event) }?;
        let mut taken = events.take()?;
        if let (None, Some(fd)) = (&taken, &events.fd) {
            fd.drain();
            taken = events.take()?; // an event may have come before the drain
        }
        let Some(event) = taken else { return Ok(NONE) };
        output.set(&event);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_events_get_fd(events: *mut Events, fd: *mut i32) -> Status {
    run(|| {
        // SAFETY: H1.
        let events = unsafe { exclusive("events", events) }?;
        // SAFETY: H2.
        let output = unsafe { output("fd", fd) }?;
        if events.fd.is_none() {
            events.fd = Some(EventFd::new()?);
            events.arm();
        }
        output.set(events.fd.as_ref().map_or(-1, |fd| fd.number()));
        Ok(OK)
    })
}
