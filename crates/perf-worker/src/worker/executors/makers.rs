//! The creation of a process's endpoints: publishers with their timers or triggers, and clients, each as a
//! publisher of requests and a subscription to responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Part, receiver::Receiver, responder::Answering, sender::Sender, trigger::Trigger};
use crate::{
    backend::{Executor, NodeClient, Publisher},
    endpoint::{Endpoint, EndpointPlan},
    worker::context::Context,
};

/// Creates endpoints. A publisher is created before the subscriptions of its node.
#[derive(Default)]
pub struct Makers {
    /// The response ends of clients. A client is created with its request end; its response end waits here until
    /// it is created in turn.
    responses: BTreeMap<Endpoint, Part>,
    /// The triggers of publishers.
    triggers: Vec<Arc<Trigger>>,
}

impl Makers {
    /// Creates an endpoint; `all` are the contexts of all endpoints of the process.
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
            Endpoint::Subscription(_) if plan.service => {
                Err("it takes responses, and its requests are not here".to_owned())
            }
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

    /// A publisher, with its timer or its trigger.
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

    /// Creates a client: the end for its requests now, and the end for its responses when its turn comes.
    fn client(&mut self, requests: &Context, responses: &Context, executor: &mut dyn Executor) -> Result<Part, String> {
        let receiver = Arc::new(Receiver::new(&responses.plan, &[]));
        let NodeClient { requests: publisher, responses: received } =
            executor.client(&requests.spec, &requests.plan, receiver.clone())?;
        self.responses.insert(responses.plan.endpoint, Part::Receiver(receiver, received, None));
        self.sender(&requests.plan, publisher, executor)
    }
}

/// The context of a client's subscription, if `requests` is the client's publisher.
fn response_to<'a>(contexts: &'a [Context], requests: &Context) -> Option<&'a Context> {
    // The cheap check comes first: a process may have thousands of publishers that are no clients.
    let is_client = requests.plan.service;
    is_client.then(|| contexts.iter().find(|context| context.plan.answers == Some(requests.plan.endpoint))).flatten()
}
