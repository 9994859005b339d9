//! The back end of Gantry, through its public API only.
//!
//! With zero copy a message is loaned, written and read in place; without it an owned message is copied in and out. The
//! parts of a loan that must be written to be valid (lengths, texts, single fields) belong to the middleware's cost.
//! Small messages travel inline: they are copied into the ring's entry and out of it, also with zero copy.
//!
//! Of the phases of a message only one is seen: a take that copies out. A message in shared memory has arrived when it
//! is published, and with zero copy nothing is serialised or deserialised.

mod executor;
mod node_service;
mod raw;
mod service;

use std::time::Duration;

use ::gantry::{EngineError, Node, PublishMode, PublisherOptions};

use executor::NodeExecutor;

use crate::messages::{Benchmark, WithType, with_type};
use perf_worker::choice::Choice;
use perf_worker::{
    backend::{
        Backend, Capabilities, Client, DaemonCommand, Delivery, Description, Draft, Executor, Matched, Matching,
        Publisher, Sent, Server, Session, Setting, Settings, Subscription, Taken,
    },
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::{Durability, History, Reliability, RunSpec, Wait},
    stamp::Stamped,
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
        // Gantry and perf_test have one version.
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
        // `perf_test` reports mismatches itself.
        if std::env::var_os("GANTRY_LOG").is_none() {
            ::gantry::set_log_level(::gantry::LogLevel::Error);
        }
        // The nodes of a process share its participant, which lives as long as one of them.
        let name = format!("perf_test_{}", std::process::id());
        let node = Node::builder(&name).domain_id(spec.domain_id).build().map_err(sentence)?;
        let publish_mode = match spec.settings.get("publishing").map(String::as_str) {
            Some("async") => PublishMode::Async { period: ASYNC_PERIOD },
            _ => PublishMode::Sync,
        };
        Ok(Box::new(GantrySession { _node: node, publish_mode, options: spec.options() }))
    }

    /// Joining a domain removes what dead processes left there, and leaving it removes what is empty then.
    fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        Node::builder("perf_test_coordinator").domain_id(spec.domain_id).build().map(drop).map_err(sentence)
    }
}

/// The participant of this process.
struct GantrySession {
    _node: Node,
    publish_mode: PublishMode,
    /// The options of the run; each endpoint carries them out.
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
        if spec.raw {
            return raw::publisher(spec, plan, self.publish_mode);
        }
        let (node, publish_mode, zero_copy) = (node(spec, plan)?, self.publish_mode, spec.zero_copy);
        let publisher = for_message(plan, MakePublisher { node, plan, publish_mode, zero_copy })?;
        Ok(publisher)
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        let made =
            if spec.raw { raw::subscription(spec, plan) } else { for_message(plan, MakeSubscription(spec, plan)) };
        made.map(Delivery::Pull)
    }

    fn executor(&self, spec: &RunSpec, _number: u32) -> Result<Box<dyn Executor>, String> {
        Ok(Box::new(NodeExecutor::new(spec, self.publish_mode)?))
    }

    fn client(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        for_message(plan, service::MakeClient(spec, plan))
    }

    fn server(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        for_message(plan, service::MakeServer(spec, plan))
    }
}

fn for_message<T, W: WithType<Output = Result<T, String>>>(plan: &EndpointPlan, make: W) -> Result<T, String> {
    let (message, layout) = (&plan.message.name, plan.message.layout);
    with_type(message, layout, make)
        .unwrap_or_else(|| Err(format!("there is no message `{message}` in the {} layout", layout.name())))
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

/// A message of which every page has been touched, so that no page fault falls into the measurement.
fn touched<M: Benchmark>(plan: &EndpointPlan) -> Box<M> {
    let mut message = M::prepared(plan.message.unbounded_bytes as usize);
    message.touch();
    message
}

/// The end of a wait.
fn waited(result: ::gantry::Result<bool>) -> Result<(), String> {
    match result {
        // Mismatched publishers are reported by `mismatches`.
        Ok(_)
        | Err(::gantry::Error::Engine(EngineError::TypeMismatch { .. } | EngineError::IncompatibleQos { .. })) => {
            Ok(())
        }
        Err(error) => Err(sentence(error)),
    }
}

struct MakePublisher<'a> {
    node: Node,
    plan: &'a EndpointPlan,
    publish_mode: PublishMode,
    /// Messages are loaned.
    zero_copy: bool,
}

impl WithType for MakePublisher<'_> {
    type Output = Result<Box<dyn Publisher + Send>, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakePublisher { node, plan, publish_mode, zero_copy } = self;
        let options = PublisherOptions { publish_mode, ..PublisherOptions::default() };
        let created = node.create_publisher_with_options::<M>(&plan.topic, qos(plan), options);
        let message = if zero_copy { M::prepared(plan.message.unbounded_bytes as usize) } else { touched(plan) };
        let is_inline = plan.message.bytes <= options.max_inline_bytes;
        let publisher = created.map_err(sentence)?;
        Ok(Box::new(TypedPublisher { publisher, message, zero_copy, is_inline }))
    }
}

struct TypedPublisher<M: Benchmark> {
    publisher: ::gantry::Publisher<M>,
    /// The message that is copied in; with zero copy the one with the shape of the loans.
    message: Box<M>,
    zero_copy: bool,
    /// The messages are so small that publishing copies them.
    is_inline: bool,
}

impl<M: Benchmark> Matched for TypedPublisher<M> {
    fn matched(&mut self) -> Result<Matching, String> {
        self.publisher.subscription_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.publisher.mismatches().unwrap_or_else(|error| vec![sentence(error)])
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.publisher.gid().0)
    }
}

impl<M: Benchmark> Publisher for TypedPublisher<M> {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        if self.zero_copy {
            let mut loan = self.publisher.loan_uninit_with(self.message.shape()).map_err(sentence)?;
            draft.write(M::payload_of_loan(&mut loan));
            M::stamp_loan(&mut loan, draft.stamp());
            let published = self.publisher.publish(loan).map_err(|unpublished| sentence(unpublished.into()));
            published.map(|_| Sent { loaned: !self.is_inline, ..Sent::default() })
        } else {
            draft.write(self.message.payload_mut());
            self.message.stamp(draft.stamp());
            self.publisher.publish_copy(&self.message).map(|_| Sent::default()).map_err(sentence)
        }
    }
}

struct MakeSubscription<'a>(&'a RunSpec, &'a EndpointPlan);

impl WithType for MakeSubscription<'_> {
    type Output = Result<Box<dyn Subscription>, String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        let MakeSubscription(spec, plan) = self;
        let created = node(spec, plan)?.create_subscription::<M>(&plan.topic, qos(plan));
        let mut subscription = created.map_err(sentence)?;
        subscription.set_busy_wait(spec.wait != Wait::Block);
        let private = (!spec.zero_copy).then(|| touched(plan));
        let marks = spec.phases && private.is_some();
        Ok(Box::new(TypedSubscription { subscription, private, marks }))
    }
}

struct TypedSubscription<M: Benchmark> {
    subscription: ::gantry::Subscription<M>,
    /// The destination of copies; none with zero copy.
    private: Option<Box<M>>,
    /// The beginning of a take that copies is marked.
    marks: bool,
}

impl<M: Benchmark> Matched for TypedSubscription<M> {
    fn matched(&mut self) -> Result<Matching, String> {
        self.subscription.publisher_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.subscription.mismatches()
    }
}

impl<M: Benchmark> Subscription for TypedSubscription<M> {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let in_hand_ns = self.marks.then(now_ns);
        let mut show = |received_ns, stamped: Stamped, info: ::gantry::SampleInfo, overwritten, loaned, payload| {
            reader(&Taken {
                source: info.publisher_gid.0,
                time_ns: stamped.time_ns,
                id: stamped.id,
                received_ns,
                in_hand_ns,
                length_bytes: info.length_bytes as u64,
                overwritten,
                loaned,
                payload,
                ..Taken::default()
            });
        };
        let subscription = &mut self.subscription;
        if let Some(private) = &mut self.private {
            let Some(info) = subscription.take_copy_into(private).map_err(sentence)? else { return Ok(false) };
            let received_ns = now_ns();
            show(received_ns, private.stamped(), info, subscription.overwritten(), false, private.payload());
        } else {
            let Some(sample) = subscription.take().map_err(sentence)? else { return Ok(false) };
            let received_ns = now_ns();
            let (stamped, payload) = (M::stamped_sample(&sample), M::payload_of_sample(&sample));
            let (info, loaned) = (sample.message_info(), !sample.is_inline());
            show(received_ns, stamped, info, subscription.overwritten(), loaned, payload);
        }
        Ok(true)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        waited(self.subscription.wait(timeout))
    }

    fn overwritten(&self) -> u64 {
        self.subscription.overwritten()
    }
}
