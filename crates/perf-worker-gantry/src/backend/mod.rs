//! The back end of Gantry. It uses only Gantry's public API.
//!
//! With zero copy, a message is loaned, and written and read in shared memory. Without it, an owned message is copied
//! in and out. The parts of a loan without which it is not valid (lengths, texts, single fields) are written at the
//! middleware's cost. Small messages are inline: they are copied into an entry of the publisher's ring and out of it,
//! even with zero copy.
//!
//! Endpoints use the generic API. The functions of a [`MessageType`](crate::messages::MessageType) do the work of
//! Gantry's typed endpoints: build a loan, check a sample, serialise, copy out. So this code is compiled once, and not
//! for each type.
//!
//! The back end reports only one phase of a message: the time at which a take begins to copy the message out. The other
//! phases do not exist in shared memory. A message has arrived as soon as it is published, and with zero copy nothing
//! is serialised or deserialised.

mod executor;
mod node_service;
mod publisher;
mod raw;
mod service;
mod sized_type;
mod subscription;

use std::time::Duration;

use ::gantry::{Node, PublishMode};

use executor::NodeExecutor;
use publisher::GantryPublisher;
use sized_type::SizedType;
use subscription::GantrySubscription;

use perf_worker::{
    backend::{
        Backend, Capabilities, Client, DaemonCommand, Delivery, Description, Executor, Publisher, Server, Session,
        Setting, Settings,
    },
    endpoint::EndpointPlan,
    run_spec::{Durability, History, Reliability, RunSpec},
};

/// The period of the sender thread with asynchronous publishing.
const ASYNC_PERIOD: Duration = Duration::from_micros(100);

/// The back end `Gantry`.
#[derive(Debug)]
pub struct Gantry;

impl Backend for Gantry {
    fn name(&self) -> &str {
        "Gantry"
    }

    fn describe(&self) -> Description {
        let settings = vec![
            Setting::new("transport", &["shared-memory"], "messages go through shared memory"),
            Setting::new(
                "publishing",
                &["sync", "async"],
                "sync: the publishing thread wakes sleeping readers; async: another thread does, up to 100 µs later",
            ),
            Setting::new("participants", &["one"], "each process is one participant of the domain"),
        ];
        // Gantry and `perf_test` are released together, so both have the same version.
        Description {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: Capabilities {
                phases: true,
                executors: executor::NAMES.map(str::to_owned).into(),
                ..Capabilities::all()
            },
            settings,
        }
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        service::check(spec).map(|()| Vec::new())
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        // Gantry's own warnings about mismatches are not needed, because `perf_test` reports mismatches.
        if std::env::var_os("GANTRY_LOG").is_none() {
            ::gantry::set_log_level(::gantry::LogLevel::Error);
        }
        // The nodes of a process share its participant, which lives as long as at least one node.
        let name = format!("perf_test_{}", std::process::id());
        let node = Node::builder(&name).domain_id(spec.domain_id).build().map_err(sentence)?;
        let publish_mode = match spec.settings.get("publishing").map(String::as_str) {
            Some("async") => PublishMode::Async { period: ASYNC_PERIOD },
            _ => PublishMode::Sync,
        };
        Ok(Box::new(GantrySession { _node: node, publish_mode, options: spec.options() }))
    }

    /// Joins and leaves the domain. Joining removes the files of dead processes. Leaving removes the domain's folder if
    /// no other process is in the domain.
    fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        Node::builder("perf_test_coordinator").domain_id(spec.domain_id).build().map(drop).map_err(sentence)
    }
}

/// The participant of this process.
struct GantrySession {
    _node: Node,
    publish_mode: PublishMode,
    /// The options of the run, which each endpoint applies.
    options: Settings,
}

impl Session for GantrySession {
    fn effective(&self) -> Settings {
        let publishing = match self.publish_mode {
            PublishMode::Sync => "sync",
            PublishMode::Async { .. } => "async",
        };
        let settings = [("transport", "shared-memory"), ("publishing", publishing), ("participants", "one")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.options.clone().into_iter().chain(settings).collect()
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        let (node, sized_type) = (node(spec, plan)?, sized_type(spec, plan)?);
        Ok(Box::new(GantryPublisher::new(&node, plan, sized_type, self.publish_mode, spec.zero_copy)?))
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        let (node, sized_type) = (node(spec, plan)?, sized_type(spec, plan)?);
        Ok(Delivery::Pull(Box::new(GantrySubscription::new(&node, spec, plan, sized_type)?)))
    }

    fn executor(&self, spec: &RunSpec, _number: u32) -> Result<Box<dyn Executor>, String> {
        Ok(Box::new(NodeExecutor::new(spec, self.publish_mode)?))
    }

    fn client(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        service::client(spec, plan)
    }

    fn server(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        service::server(spec, plan)
    }
}

/// The type of an endpoint outside of executors.
fn sized_type(spec: &RunSpec, plan: &EndpointPlan) -> Result<SizedType, String> {
    if spec.raw { Ok(raw::sized_type(plan)) } else { SizedType::for_plan(plan) }
}

#[cold]
#[inline(never)]
fn sentence(error: ::gantry::Error) -> String {
    error.to_string()
}

fn node(spec: &RunSpec, plan: &EndpointPlan) -> Result<Node, String> {
    let name = plan.endpoint.to_string().replace(' ', "_");
    Node::builder(&format!("perf_test_{name}")).domain_id(spec.domain_id).build().map_err(sentence)
}

fn qos(plan: &EndpointPlan) -> ::gantry::Qos {
    let qos = ::gantry::Qos::default();
    let qos = match plan.qos.reliability {
        Reliability::Reliable => qos.reliable(),
        Reliability::BestEffort => qos.best_effort(),
    };
    let qos = match plan.qos.durability {
        Durability::TransientLocal => qos.transient_local(),
        Durability::Volatile => qos.volatile(),
    };
    match plan.qos.history {
        History::KeepLast => qos.keep_last(plan.qos.depth),
        History::KeepAll => qos.keep_all(),
    }
}
