//! QoS events and changes of the graph. Python gets each event as a name and a dictionary of counts.

use crate::{error::failed, wait::Handle};
use gantry::{GraphChanges, PublisherEvent, PublisherEvents, SubscriptionEvent, SubscriptionEvents, Waitable};
use pyo3::{prelude::*, types::PyDict};

/// The events of an endpoint or of the graph.
#[pyclass(frozen, module = "gantry._native")]
pub struct Events(Kind);

enum Kind {
    Publisher(Handle<PublisherEvents>),
    Subscription(Handle<SubscriptionEvents>),
    Graph(Handle<GraphChanges>),
}

/// The events of a publisher.
pub fn from_publisher(events: PublisherEvents) -> Events {
    Events(Kind::Publisher(Handle::new(events, "handle of events")))
}

/// The events of a subscription.
pub fn from_subscription(events: SubscriptionEvents) -> Events {
    Events(Kind::Subscription(Handle::new(events, "handle of events")))
}

/// The changes of the graph.
pub fn from_graph(events: GraphChanges) -> Events {
    Events(Kind::Graph(Handle::new(events, "handle of events")))
}

/// The name of an event and its counts.
type Named<'py> = (&'static str, Bound<'py, PyDict>);

fn named<'py, const N: usize>(
    py: Python<'py>,
    name: &'static str,
    counts: [(&str, i64); N],
    policy: Option<String>,
) -> PyResult<Named<'py>> {
    let fields = PyDict::new(py);
    counts.into_iter().try_for_each(|(count, value)| fields.set_item(count, value))?;
    policy.map_or(Ok(()), |policy| fields.set_item("last_policy_kind", policy))?;
    Ok((name, fields))
}

/// Converts a count to a signed number; a larger count becomes the maximum.
fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Events {
    /// Calls `visit` with the source of the events. Fails if this handle was destroyed.
    pub fn visit(&self, py: Python<'_>, visit: &mut dyn FnMut(&mut dyn Waitable) -> PyResult<()>) -> PyResult<()> {
        match &self.0 {
            Kind::Publisher(events) => visit(events.lock(py).get()?),
            Kind::Subscription(events) => visit(events.lock(py).get()?),
            Kind::Graph(events) => visit(events.lock(py).get()?),
        }
    }
}

#[pymethods]
impl Events {
    /// The next event, as its name and its counts; `None` if there is none.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Named<'py>>> {
        match &self.0 {
            Kind::Publisher(events) => {
                let event = events.lock(py).get()?.take().map_err(failed)?;
                event.map(|event| publisher_event(py, event)).transpose()
            }
            Kind::Subscription(events) => {
                let event = events.lock(py).get()?.take().map_err(failed)?;
                event.map(|event| subscription_event(py, event)).transpose()
            }
            Kind::Graph(events) => {
                let change = events.lock(py).get()?.take().map_err(failed)?;
                change.map(|_| named(py, "graph_changed", [], None)).transpose()
            }
        }
    }

    fn destroy(&self, py: Python<'_>) {
        match &self.0 {
            Kind::Publisher(events) => events.destroy(py),
            Kind::Subscription(events) => events.destroy(py),
            Kind::Graph(events) => events.destroy(py),
        }
    }
}

fn publisher_event(py: Python<'_>, event: PublisherEvent) -> PyResult<Named<'_>> {
    let totals = |total, change| [("total_count", count(total)), ("total_count_change", count(change))];
    match event {
        PublisherEvent::Matched { total_count, total_count_change, current_count, current_count_change } => {
            let [total, change] = totals(total_count, total_count_change);
            let current = [("current_count", count(current_count)), ("current_count_change", current_count_change)];
            named(py, "matched", [total, change, current[0], current[1]], None)
        }
        PublisherEvent::OfferedDeadlineMissed { total_count, total_count_change } => {
            named(py, "deadline", totals(total_count, total_count_change), None)
        }
        PublisherEvent::LivelinessLost { total_count, total_count_change } => {
            named(py, "liveliness", totals(total_count, total_count_change), None)
        }
        PublisherEvent::OfferedIncompatibleQos { total_count, total_count_change, last_policy } => {
            named(py, "incompatible_qos", totals(total_count, total_count_change), Some(last_policy.to_string()))
        }
        PublisherEvent::IncompatibleType { total_count, total_count_change } => {
            named(py, "incompatible_type", totals(total_count, total_count_change), None)
        }
        _ => named(py, "unknown", [], None),
    }
}

fn subscription_event(py: Python<'_>, event: SubscriptionEvent) -> PyResult<Named<'_>> {
    let totals = |total, change| [("total_count", count(total)), ("total_count_change", count(change))];
    match event {
        SubscriptionEvent::Matched { total_count, total_count_change, current_count, current_count_change } => {
            let [total, change] = totals(total_count, total_count_change);
            let current = [("current_count", count(current_count)), ("current_count_change", current_count_change)];
            named(py, "matched", [total, change, current[0], current[1]], None)
        }
        SubscriptionEvent::RequestedDeadlineMissed { total_count, total_count_change } => {
            named(py, "deadline", totals(total_count, total_count_change), None)
        }
        SubscriptionEvent::LivelinessChanged {
            alive_count,
            not_alive_count,
            alive_count_change,
            not_alive_count_change,
        } => {
            let counts = [
                ("alive_count", count(alive_count)),
                ("not_alive_count", count(not_alive_count)),
                ("alive_count_change", alive_count_change),
                ("not_alive_count_change", not_alive_count_change),
            ];
            named(py, "liveliness", counts, None)
        }
        SubscriptionEvent::RequestedIncompatibleQos { total_count, total_count_change, last_policy } => {
            named(py, "incompatible_qos", totals(total_count, total_count_change), Some(last_policy.to_string()))
        }
        SubscriptionEvent::IncompatibleType { total_count, total_count_change } => {
            named(py, "incompatible_type", totals(total_count, total_count_change), None)
        }
        _ => named(py, "unknown", [], None),
    }
}
