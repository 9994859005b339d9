//! Creates the endpoints of a process in its executors: publishers with their timers or triggers, subscriptions,
//! servers, and clients. A client consists of a publisher of requests and a subscription to responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Part, receiver::Receiver, responder::Answering, sender::Sender, trigger::Trigger};
use crate::{
    backend::{Executor, NodeClient, Publisher},
    endpoint::{Endpoint, EndpointPlan},
    worker::context::Context,
};

/// Creates endpoints. The publishers of a node must be created before its subscriptions.
#[derive(Default)]
pub struct Makers {
    /// The response ends of clients. The middleware creates both ends of a client at once. The response end is kept
    /// here until the loop over the endpoints reaches it.
    responses: BTreeMap<Endpoint, Part>,
    /// The triggers of publishers.
    triggers: Vec<Arc<Trigger>>,
}

impl Makers {
    /// Creates the endpoint of `context`. `all` are the contexts of all endpoints of the process.
    ///
    /// # Errors
    /// The reason, as a sentence of the middleware.
    pub fn create(&mut self, context: &Context, all: &[Context], executor: &mut dyn Executor) -> Result<Part, String> {
        let (spec, plan) = (&context.spec, &context.plan);
        if let Some(part) = self.responses.remove(&plan.endpoint) {
            return Ok(part);
        }
        if let Some(responses) = response_to(all, context) {
            return self.client(context, responses, executor);
        }
        match plan.endpoint {
            Endpoint::Publisher(_) => {
                let publisher = executor.publisher(spec, plan)?;
                self.sender(plan, publisher, executor)
            }
            Endpoint::Subscription(_) if plan.service => Err(
                "the subscription takes the responses of a service, and no client of this worker sends the requests"
                    .to_owned(),
            ),
            Endpoint::Subscription(_) => {
                let receiver = Arc::new(Receiver::new(plan, &self.triggers));
                let received = executor.subscription(spec, plan, receiver.clone())?;
                Ok(Part::Receiver(receiver, received, None))
            }
            Endpoint::Relay(_) if plan.service => {
                let answering = Arc::new(Answering::new(spec, plan));
                let requests = executor.server(spec, plan, answering.clone())?;
                Ok(Part::Server(answering, requests))
            }
            Endpoint::Relay(_) => Err("a relay does not run in an executor".to_owned()),
        }
    }

    /// Adds a timer or a trigger to a publisher.
    fn sender(
        &mut self,
        plan: &EndpointPlan,
        publisher: Box<dyn Publisher + Send>,
        executor: &mut dyn Executor,
    ) -> Result<Part, String> {
        let sender = Arc::new(Sender::default());
        if plan.triggers.is_empty() {
            let expiring = sender.clone();
            executor.timer(plan, Box::new(move |passed_over| expiring.expired(passed_over)))?;
        } else {
            self.triggers.push(Arc::new(Trigger::new(plan, sender.clone())));
        }
        Ok(Part::Sender(sender, Some(publisher)))
    }

    /// Creates a client and returns its request end. The response end is stored until its turn in the list of endpoints
    /// comes.
    fn client(&mut self, requests: &Context, responses: &Context, executor: &mut dyn Executor) -> Result<Part, String> {
        let receiver = Arc::new(Receiver::new(&responses.plan, &[]));
        let NodeClient { requests: publisher, responses: received } =
            executor.client(&requests.spec, &requests.plan, receiver.clone())?;
        self.responses.insert(responses.plan.endpoint, Part::Receiver(receiver, received, None));
        self.sender(&requests.plan, publisher, executor)
    }
}

/// The context of the subscription to a client's responses; `None` if `requests` is not the publisher of a client.
fn response_to<'a>(contexts: &'a [Context], requests: &Context) -> Option<&'a Context> {
    // The cheap check comes first: a process may have thousands of publishers that do not belong to a client.
    let is_client = requests.plan.service;
    is_client.then(|| contexts.iter().find(|context| context.plan.answers == Some(requests.plan.endpoint))).flatten()
}
