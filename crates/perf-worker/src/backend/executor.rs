//! Executors: the middleware's own threads, which run the timers and the subscriptions of nodes.

use std::sync::Arc;

use super::{Draft, Matched, Publisher, Sent, Sink, Taken};
use crate::{endpoint::EndpointPlan, run_spec::RunSpec};

/// An executor runs the callbacks of the nodes of its endpoints. The executor is created and filled on one thread and
/// spun on another. It is dropped at the end of the process, after all executors have ended their spin, and before its
/// endpoints.
pub trait Executor: Send {
    /// Creates a publisher of the node `plan.node`, for the callback of a timer or of a subscription. The publisher
    /// loans or copies according to `plan.pass_by`. May block.
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

    /// Creates a subscription of the node `plan.node`, whose callback passes each message to `sink`, in place or
    /// copied according to `plan.pass_by`. May block.
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

    /// Starts all timers at `start_ns`, which lies ahead, and runs callbacks until it is stopped.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot go on.
    fn spin(&mut self, start_ns: i64) -> Result<(), String>;

    /// Returns a function that stops the spin, even if the spin has not begun yet. The function is called on another
    /// thread. The spin then returns when no callback runs any more.
    fn stop(&mut self) -> Box<dyn Fn() + Send + Sync>;
}

/// The sentence of a middleware whose executors have no services.
#[must_use]
pub fn no_services(plan: &EndpointPlan) -> String {
    let service = plan.given_topic();
    format!(
        "the executors of this middleware have no services, and {service} is one: leave its clients and its server out, or give \
         another -c"
    )
}

/// A client of a node.
pub struct NodeClient {
    /// Sends requests.
    pub requests: Box<dyn Publisher + Send>,
    /// Receives responses.
    pub responses: Box<dyn Received + Send>,
}

/// Sends the response to the request that is being handled. The argument and the results are the same as of
/// [`Publisher::publish`]. Called at most once for a request.
pub type Respond<'a> = &'a mut dyn FnMut(&mut dyn Draft) -> Result<Sent, String>;

/// The work of the instrument in the callback of a server.
pub trait Responder: Send + Sync {
    /// Records a request and answers it with `respond`. Does not allocate.
    fn request(&self, taken: &Taken<'_>, respond: Respond<'_>);

    /// Reports that no more requests can be received. `sentence` is the reason.
    fn failed(&self, sentence: String);
}

/// A subscription, a client or a server whose messages a callback receives. The instrument reads the matching only
/// before the spin.
pub trait Received: Matched {
    /// The same count as [`Subscription::overwritten`](super::Subscription::overwritten). Called at any time.
    fn overwritten(&self) -> u64;
}
