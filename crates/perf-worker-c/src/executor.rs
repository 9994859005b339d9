//! An executor of a back end in C: its timers and sinks, and its destruction.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perf_worker::{
    backend::{self as contract, Executor, NodeClient, Publisher, Received, no_services},
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

use crate::abi::{ExecutorFunctions, ServiceEnd};
use crate::endpoints::{Endpoints, ServiceParts, server::CServer};
use crate::failure::Failure;
use crate::opaque::{Responder, Sink, Timer};
use crate::open::Open;
use crate::run::{CEndpoint, Kind};

/// An executor of a back end in C.
pub struct CExecutor {
    endpoints: Endpoints,
    executor: Arc<Object>,
    failure: Failure,
}

/// The C object of the executor, which is destroyed when this value is dropped. The value also owns all objects that
/// the executor may use until then.
struct Object {
    pointer: *mut c_void,
    functions: ExecutorFunctions,
    uses: Mutex<Uses>,
    _session: Arc<Open>,
}

/// The objects to which the executor in C has pointers.
#[derive(Default)]
struct Uses {
    plans: Vec<Arc<CEndpoint>>,
    timers: Vec<Arc<Timer>>,
    sinks: Vec<Arc<Sink>>,
    responders: Vec<Arc<Responder>>,
}

// SAFETY: H3.
unsafe impl Send for Object {}
// SAFETY: promise H3 of the header: only `stop` is called while another function runs.
unsafe impl Sync for Object {}

impl Object {
    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: promise H1 of the header; the executor exists and is destroyed only here.
            unsafe { destroy(self.pointer) };
        }
    }
}

impl CExecutor {
    /// Creates an executor of the kind that the run requests, without endpoints.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn new(endpoints: Endpoints) -> Result<CExecutor, String> {
        let functions = endpoints.open.functions.executor;
        let create = functions.create.ok_or("the back end has no function executor.create")?;
        let mut failure = Failure::new();
        // SAFETY: promises H1 and H4 of the header; the run lives as long as the session.
        let pointer = unsafe { create(endpoints.open.object, endpoints.open.run.address(), failure.address()) };
        if pointer.is_null() {
            return Err(failure.sentence("executor.create"));
        }
        let executor = Object { pointer, functions, uses: Mutex::default(), _session: endpoints.open.clone() };
        Ok(CExecutor { endpoints, executor: Arc::new(executor), failure })
    }
}

impl Executor for CExecutor {
    fn publisher(&mut self, _: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher + Send>, String> {
        Ok(Box::new(self.endpoints.create_publisher(plan)?))
    }

    fn timer(&mut self, plan: &EndpointPlan, expired: Box<dyn FnMut(u64) + Send>) -> Result<(), String> {
        let add = self.executor.functions.add_timer.ok_or("the back end has no function executor.add_timer")?;
        let period_ns = plan.pace.period_ns().ok_or("a timer needs a period")?;
        let (plan, timer) =
            (Arc::new(CEndpoint::new(plan, Kind::Publisher)?), Arc::new(Timer::new(period_ns, expired)));
        let mut uses = self.executor.uses();
        uses.plans.push(plan.clone());
        uses.timers.push(timer.clone());
        drop(uses);
        // SAFETY: promises H1 and H4 of the header; plan and timer live as long as the executor.
        let added = unsafe { add(self.executor.pointer, plan.address(), Arc::as_ptr(&timer), self.failure.address()) };
        self.failure.check("executor.add_timer", added)
    }

    fn subscription(
        &mut self,
        _: &RunSpec,
        plan: &EndpointPlan,
        sink: Arc<dyn contract::Sink>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let add =
            self.executor.functions.add_subscription.ok_or("the back end has no function executor.add_subscription")?;
        let (subscription, sink) = (self.endpoints.create_listener(plan)?, Arc::new(Sink(sink)));
        self.executor.uses().sinks.push(sink.clone());
        // SAFETY: promises H1 and H4 of the header; the sink lives as long as the executor, and the subscription lives
        // longer.
        let added =
            unsafe { add(self.executor.pointer, subscription.object(), Arc::as_ptr(&sink), self.failure.address()) };
        self.failure.check("executor.add_subscription", added)?;
        Ok(Box::new(subscription))
    }

    fn client(
        &mut self,
        _: &RunSpec,
        plan: &EndpointPlan,
        responses: Arc<dyn contract::Sink>,
    ) -> Result<NodeClient, String> {
        let add = self.executor.functions.add_client.ok_or_else(|| no_services(plan))?;
        let ServiceParts { publisher, subscription } = self.endpoints.create_client(plan)?;
        let (subscription, sink) = (self.endpoints.listener_of(subscription), Arc::new(Sink(responses)));
        self.executor.uses().sinks.push(sink.clone());
        let client = ServiceEnd { publisher: publisher.object(), subscription: subscription.object() };
        // SAFETY: promises H1 and H4 of the header; the sink lives as long as the executor, and both parts of the
        // client live longer.
        let added =
            unsafe { add(self.executor.pointer, &raw const client, Arc::as_ptr(&sink), self.failure.address()) };
        self.failure.check("executor.add_client", added)?;
        Ok(NodeClient { requests: Box::new(publisher), responses: Box::new(subscription) })
    }

    fn server(
        &mut self,
        _: &RunSpec,
        plan: &EndpointPlan,
        requests: Arc<dyn contract::Responder>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let add = self.executor.functions.add_server.ok_or_else(|| no_services(plan))?;
        let ServiceParts { publisher, subscription } = self.endpoints.create_server(plan)?;
        let subscription = self.endpoints.listener_of(subscription);
        let server = ServiceEnd { publisher: publisher.object(), subscription: subscription.object() };
        let responses = Arc::new(Mutex::new(publisher));
        let responder = Arc::new(Responder { requests, responses: responses.clone() });
        self.executor.uses().responders.push(responder.clone());
        // SAFETY: promises H1 and H4 of the header; the responder lives as long as the executor, and both parts of the
        // server live longer.
        let added =
            unsafe { add(self.executor.pointer, &raw const server, Arc::as_ptr(&responder), self.failure.address()) };
        self.failure.check("executor.add_server", added)?;
        Ok(Box::new(CServer::new(subscription, responses)))
    }

    fn spin(&mut self, start_ns: i64) -> Result<(), String> {
        let spin = self.executor.functions.spin.ok_or("the back end has no function executor.spin")?;
        self.executor.uses().timers.iter().for_each(|timer| timer.start(start_ns));
        // SAFETY: H1, H3, H4.
        let returned = unsafe { spin(self.executor.pointer, start_ns, self.failure.address()) };
        self.failure.check("executor.spin", returned)
    }

    fn stop(&mut self) -> Box<dyn Fn() + Send + Sync> {
        let executor = self.executor.clone();
        Box::new(move || {
            if let Some(stop) = executor.functions.stop {
                // SAFETY: promises H1 and H3 of the header; the executor still exists.
                unsafe { stop(executor.pointer) };
            }
        })
    }
}
