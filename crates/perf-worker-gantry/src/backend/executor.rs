//! Gantry's executors: nodes with timers and subscriptions, whose callbacks run on the executor's threads.
//!
//! The callback of a subscription gets an owned copy if `msg_pass_by` is `unique_ptr`; otherwise it reads the message
//! in shared memory. A publisher loans its messages with `loaned_msg`; otherwise it copies an owned message into shared
//! memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::gantry::{
    CallbackIsolatedExecutor, EventsExecutor, Executor as GantryExecutor, GenericSubscription, MultiThreadedExecutor,
    Node, PublishMode, SingleThreadedExecutor, Tick, Timer,
};

use super::{GantryPublisher, SizedType, node_service, qos, sentence, subscription::Reading};
use perf_worker::{
    backend::{Executor, Matched, Matching, NodeClient, Publisher, Received, Responder, Sink},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::{PassBy, RunSpec},
};

/// The names of the executors for the option `-x`, the default first.
pub const NAMES: [&str; 4] = ["single", "multi", "events", "isolated"];

/// An executor with its nodes.
pub struct NodeExecutor {
    executor: Box<dyn GantryExecutor + Send>,
    nodes: BTreeMap<String, Node>,
    timers: Vec<NodeTimer>,
    subscriptions: Vec<Slot>,
    publish_mode: PublishMode,
}

/// A subscription that waits until the spin adds it to its node. The slot is empty afterwards.
type Slot = Arc<Mutex<Option<WaitingSubscription>>>;

impl NodeExecutor {
    /// Creates the executor of the run, without nodes.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no executor with the requested name.
    pub fn new(spec: &RunSpec, publish_mode: PublishMode) -> Result<NodeExecutor, String> {
        let executor: Box<dyn GantryExecutor + Send> = match spec.executor.as_deref() {
            Some("single") => Box::new(SingleThreadedExecutor::new()),
            Some("multi") => Box::new(MultiThreadedExecutor::new()),
            Some("events") => Box::new(EventsExecutor::new()),
            Some("isolated") => Box::new(CallbackIsolatedExecutor::new()),
            other => return Err(format!("Gantry has no executor {other:?}: give one of {}", NAMES.join(", "))),
        };
        let (nodes, timers, subscriptions) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(NodeExecutor { executor, nodes, timers, subscriptions, publish_mode })
    }

    /// Returns the node of an endpoint, and creates the node when its first endpoint needs it.
    fn node(&mut self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Node, String> {
        if let Some(node) = self.nodes.get(&plan.node) {
            return Ok(node.clone());
        }
        let (namespace, name) = plan.node.rsplit_once('/').unwrap_or_default();
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        let node = Node::builder(name).namespace(namespace).domain_id(spec.domain_id).build().map_err(sentence)?;
        self.executor.add_node(&node).map_err(sentence)?;
        self.nodes.insert(plan.node.clone(), node.clone());
        Ok(node)
    }
}

impl Executor for NodeExecutor {
    fn publisher(&mut self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher + Send>, String> {
        let node = self.node(spec, plan)?;
        let (sized_type, zero_copy) = (SizedType::for_plan(plan)?, plan.pass_by == PassBy::LoanedMsg);
        Ok(Box::new(GantryPublisher::new(&node, plan, sized_type, self.publish_mode, zero_copy)?))
    }

    fn timer(&mut self, plan: &EndpointPlan, mut expired: Box<dyn FnMut(u64) + Send>) -> Result<(), String> {
        let node = self.nodes.get(&plan.node).ok_or("a timer belongs to the node of a publisher")?;
        let period_ns = plan.pace.period_ns().and_then(|period_ns| u64::try_from(period_ns).ok());
        let period = Duration::from_nanos(period_ns.ok_or("a timer needs a period")?);
        let before = Arc::new(AtomicU64::new(0));
        let passed_over = before.clone();
        // Relaxed: the partner is the store in `NodeTimer::start`, which happens before the spin runs callbacks. The
        // timer is passed to the spin under a lock, which orders both.
        let callback = move |tick: Tick| expired(tick.overruns + passed_over.swap(0, Ordering::Relaxed));
        let timer = node.create_timer_with_callback(period, callback).map_err(sentence)?;
        self.timers.push(NodeTimer { timer, period, before });
        Ok(())
    }

    fn subscription(
        &mut self,
        spec: &RunSpec,
        plan: &EndpointPlan,
        sink: Arc<dyn Sink>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let node = self.node(spec, plan)?;
        let overwritten = Arc::new(AtomicU64::new(0));
        let waiting = WaitingSubscription::new(node, plan, sink, overwritten.clone())?;
        let waiting = Arc::new(Mutex::new(Some(waiting)));
        self.subscriptions.push(waiting.clone());
        Ok(Box::new(NodeSubscription { waiting, overwritten }))
    }

    fn client(&mut self, spec: &RunSpec, plan: &EndpointPlan, responses: Arc<dyn Sink>) -> Result<NodeClient, String> {
        let node = self.node(spec, plan)?;
        node_service::client(&node, plan, responses)
    }

    fn server(
        &mut self,
        spec: &RunSpec,
        plan: &EndpointPlan,
        requests: Arc<dyn Responder>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let node = self.node(spec, plan)?;
        node_service::server(&node, plan, requests)
    }

    fn spin(&mut self, start_ns: i64) -> Result<(), String> {
        for slot in self.subscriptions.drain(..) {
            if let Some(waiting) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
                waiting.start();
            }
        }
        self.timers.iter().for_each(|timer| timer.start(start_ns));
        self.executor.spin().map_err(sentence)
    }

    fn stop(&mut self) -> Box<dyn Fn() + Send + Sync> {
        let handle = self.executor.handle();
        Box::new(move || handle.cancel())
    }
}

/// A timer of a node.
struct NodeTimer {
    timer: Timer,
    period: Duration,
    /// The number of periods between the common start and the start of this timer. They count as skipped.
    before: Arc<AtomicU64>,
}

impl NodeTimer {
    /// Starts the timer so that it expires at whole periods after `start_ns`, even if the executor's thread woke up
    /// late.
    fn start(&self, start_ns: i64) {
        let after_start_ns = now_ns().saturating_sub(start_ns);
        let late = Duration::from_nanos(u64::try_from(after_start_ns).unwrap_or(0));
        let early = Duration::from_nanos(u64::try_from(after_start_ns.saturating_neg()).unwrap_or(0));
        let period_ns = self.period.as_nanos().max(1);
        let [periods, late_ns] = [late.as_nanos() / period_ns, late.as_nanos() % period_ns];
        self.before.store(u64::try_from(periods).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.timer.reset_after(early + self.period - Duration::from_nanos(u64::try_from(late_ns).unwrap_or(0)));
    }
}

/// The handle by which `perf_test` reads the state of a node's subscription.
struct NodeSubscription {
    waiting: Slot,
    overwritten: Arc<AtomicU64>,
}

impl NodeSubscription {
    fn waiting<T>(&self, of: impl FnOnce(&mut GenericSubscription) -> T) -> Option<T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut().map(|waiting| of(&mut waiting.subscription))
    }
}

impl Matched for NodeSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        let count = self.waiting(GenericSubscription::publisher_count).unwrap_or(Ok(0));
        count.map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.waiting(|subscription| subscription.mismatches()).unwrap_or_default()
    }
}

impl Received for NodeSubscription {
    fn overwritten(&self) -> u64 {
        self.overwritten.load(Ordering::Relaxed)
    }
}

/// A subscription whose callback has not been added to its node yet.
struct WaitingSubscription {
    subscription: GenericSubscription,
    node: Node,
    reading: Reading,
    sink: Arc<dyn Sink>,
    overwritten: Arc<AtomicU64>,
}

impl WaitingSubscription {
    fn new(
        node: Node,
        plan: &EndpointPlan,
        sink: Arc<dyn Sink>,
        overwritten: Arc<AtomicU64>,
    ) -> Result<WaitingSubscription, String> {
        let sized_type = SizedType::for_plan(plan)?;
        let created = node.create_generic_subscription(&plan.topic, sized_type.description(), qos(plan));
        let in_place = plan.pass_by != PassBy::UniquePtr;
        let reading = Reading { message_type: sized_type.message_type, in_place, marks: false };
        Ok(WaitingSubscription { subscription: created.map_err(sentence)?, node, reading, sink, overwritten })
    }

    /// Adds the callback of the subscription to the node, which then owns the subscription.
    fn start(self) {
        let WaitingSubscription { subscription, node, reading, sink, overwritten } = self;
        node.add_callback(subscription, move |subscription: &mut GenericSubscription, sample| {
            let left = subscription.overwritten();
            overwritten.store(left, Ordering::Relaxed);
            if let Err(error) = reading.show(&sample, left, &mut |taken| sink.taken(taken)) {
                subscription.skip_malformed(&sample, error);
            }
        });
    }
}
