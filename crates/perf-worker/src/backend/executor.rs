//! Executors: the middleware's own threads, which run the timers and the subscriptions of nodes.

use std::sync::Arc;

use super::{Draft, Matched, Publisher, Sent, Sink, Taken};
use crate::{endpoint::EndpointPlan, run_spec::RunSpec};

/// Runs the callbacks of nodes. One thread creates and fills the executor, and another thread spins it. The executor is
/// dropped at the end of the process: after the spins of all executors have ended, and before the endpoints are
/// dropped.
pub trait Executor: Send {
    /// Creates a publisher of the node `plan.node`. The callback of a timer or of a subscription publishes through it.
    /// The publisher loans messages or copies them, according to `plan.pass_by`. May block.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    fn publisher(&mut self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher + Send>, String>;

    /// Creates a timer of the node `plan.node` with the period of `plan.pace`. The timer expires for the first time one
    /// period after the start. It does not catch up: a timer that is late by more than a period skips periods, and
    /// `expired` gets the number of periods that were skipped since the last call.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware has no such timer.
    fn timer(&mut self, plan: &EndpointPlan, expired: Box<dyn FnMut(u64) + Send>) -> Result<(), String>;

    /// Creates a subscription of the node `plan.node`. The subscription's callback passes each message to `sink`: in
    /// the middleware's memory or as a copy, according to `plan.pass_by`. May block.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    fn subscription(
        &mut self,
        spec: &RunSpec,
        plan: &EndpointPlan,
        sink: Arc<dyn Sink>,
    ) -> Result<Box<dyn Received + Send>, String>;

    /// Creates a client of the service `plan.topic` in the node `plan.node`. The callback of a timer sends requests
    /// through the client; the client's own callback passes each response, with the stamp of its request, to
    /// `responses`. The client loans or copies requests and responses according to `plan.pass_by`. May block.
    ///
    /// # Errors
    /// The reason, as a sentence. The default implementation always fails: the executors have no services.
    fn client(
        &mut self,
        _spec: &RunSpec,
        plan: &EndpointPlan,
        _responses: Arc<dyn Sink>,
    ) -> Result<NodeClient, String> {
        Err(no_services(plan))
    }

    /// Creates the server of the service `plan.topic` in the node `plan.node`. The server's callback passes
    /// each request to `requests`. The server loans or copies requests and responses according to
    /// `plan.pass_by`. May block.
    ///
    /// # Errors
    /// The reason, as a sentence. The default implementation always fails: the executors have no services.
    fn server(
        &mut self,
        _spec: &RunSpec,
        plan: &EndpointPlan,
        _requests: Arc<dyn Responder>,
    ) -> Result<Box<dyn Received + Send>, String> {
        Err(no_services(plan))
    }

    /// Starts all timers at `start_ns`, a time in the future, and runs callbacks until the function from
    /// [`stop`](Self::stop) is called.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot continue.
    fn spin(&mut self, start_ns: i64) -> Result<(), String>;

    /// Returns a function that ends the spin, even if the spin has not begun yet. Another thread calls the function.
    /// The spin returns as soon as no callback is running.
    fn stop(&mut self) -> Box<dyn Fn() + Send + Sync>;
}

/// The error text for a service in a middleware whose executors have no services.
#[must_use]
pub fn no_services(plan: &EndpointPlan) -> String {
    let service = plan.given_topic();
    format!(
        "the executors of this middleware do not support services: remove the clients and the server of {service} from \
         the topology, or give another -c"
    )
}

/// A client of a node.
pub struct NodeClient {
    /// Sends requests.
    pub requests: Box<dyn Publisher + Send>,
    /// Receives responses.
    pub responses: Box<dyn Received + Send>,
}

/// Sends the response to the request that is being handled. The argument and the result have the same meaning as in
/// [`Publisher::publish`]. Called at most once for each request.
pub type Respond<'a> = &'a mut dyn FnMut(&mut dyn Draft) -> Result<Sent, String>;

/// The part of `perf_test` that a server's callback calls.
pub trait Responder: Send + Sync {
    /// Records a request and answers it with `respond`. Does not allocate.
    fn request(&self, taken: &Taken<'_>, respond: Respond<'_>);

    /// Reports that no more requests can be received. `sentence` is the reason.
    fn failed(&self, sentence: String);
}

/// A subscription, a client or a server that receives messages in callbacks. `perf_test` calls [`Matched::matched`]
/// only before the spin.
pub trait Received: Matched {
    /// The number of lost messages as defined by [`Subscription::overwritten`](super::Subscription::overwritten). May
    /// be called at any time.
    fn overwritten(&self) -> u64;
}
