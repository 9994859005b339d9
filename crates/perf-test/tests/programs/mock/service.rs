//! Services of the mock. Requests go to the topic of the service. Each client has a topic for its responses, whose name
//! contains the client's id; so each response reaches only the client that sent the request.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::{
    MockPublisher, MockSubscription,
    transport::{self, Kind},
};
use perf_worker::{
    backend::{Client, Draft, Matched, Matching, Publisher, Sent, Server, Subscription, Taken},
    endpoint::{Endpoint, EndpointPlan},
    run_spec::RunSpec,
};

/// The id of a client.
type Source = [u8; 16];

/// The plan of an endpoint for the responses to a client.
fn response_plan(plan: &EndpointPlan, client: &Source) -> EndpointPlan {
    EndpointPlan { topic: format!("{}/responses/{client:02x?}", plan.topic), ..plan.clone() }
}

/// Creates a client.
pub fn client(spec: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
    let (requests, responses) = client_ends(spec, plan)?;
    Ok(Client { requests: Box::new(requests), responses: Box::new(responses) })
}

/// Creates the two endpoints of a client: for requests and for responses.
pub fn client_ends(spec: &RunSpec, plan: &EndpointPlan) -> Result<(MockPublisher, MockSubscription), String> {
    let requests = MockPublisher::new(spec, plan)?;
    let index = match plan.endpoint {
        Endpoint::Publisher(index) | Endpoint::Subscription(index) | Endpoint::Relay(index) => index,
    };
    let own = EndpointPlan { endpoint: Endpoint::Subscription(index), ..response_plan(plan, &requests.source) };
    let mut responses = MockSubscription::new(spec, &own)?;
    // The server creates its publisher of responses only for its first response. So the client counts as matched when
    // it finds the server on the topic of requests.
    (responses.endpoint.key, responses.endpoint.others) = (requests.endpoint.key.clone(), Kind::Subscription);
    Ok((requests, responses))
}

/// Creates a server.
pub fn server(spec: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
    let in_hand = Rc::new(Cell::new(None));
    let (inner, answers) = server_ends(spec, plan)?;
    let requests = Requests { inner, in_hand: in_hand.clone() };
    let responses = Responses { answers, in_hand };
    Ok(Server { requests: Box::new(requests), responses: Box::new(responses) })
}

/// Creates the endpoints of a server: for requests and for responses.
pub fn server_ends(spec: &RunSpec, plan: &EndpointPlan) -> Result<(MockSubscription, Answers), String> {
    // This subscription is never nameless, because the server needs the client's id for its response.
    let requests = MockSubscription { nameless: false, ..MockSubscription::new(spec, plan)? };
    Ok((requests, Answers { spec: spec.clone(), plan: plan.clone(), clients: BTreeMap::new() }))
}

struct Requests {
    inner: MockSubscription,
    /// The client whose request the server is answering.
    in_hand: Rc<Cell<Option<Source>>>,
}

impl Matched for Requests {
    fn matched(&mut self) -> Result<Matching, String> {
        self.inner.matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.inner.mismatches()
    }
}

impl Subscription for Requests {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let Requests { inner, in_hand } = self;
        inner.take(&mut |taken| {
            in_hand.set(Some(taken.source));
            reader(taken);
        })
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        self.inner.wait(timeout)
    }

    fn overwritten(&self) -> u64 {
        self.inner.overwritten()
    }
}

struct Responses {
    answers: Answers,
    in_hand: Rc<Cell<Option<Source>>>,
}

/// The publishers of responses, by client.
pub struct Answers {
    spec: RunSpec,
    plan: EndpointPlan,
    clients: BTreeMap<Source, MockPublisher>,
}

impl Matched for Responses {
    /// The result is always unknown: the subscription to requests reports whether the server is matched.
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Unknown)
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Publisher for Responses {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let client = self.in_hand.take().ok_or("a response of the mock has no request in hand")?;
        self.answers.send(client, draft)
    }
}

impl Answers {
    /// Sends a response to this client.
    pub fn send(&mut self, client: Source, draft: &mut dyn Draft) -> Result<Sent, String> {
        if !self.clients.contains_key(&client) {
            let mut publisher = MockPublisher::new(&self.spec, &response_plan(&self.plan, &client))?;
            publisher.subscriptions = transport::connect_all(&publisher.endpoint.key, Kind::Subscription)?;
            self.clients.insert(client, publisher);
        }
        let publisher = self.clients.get_mut(&client).ok_or("the mock does not know the client of a request")?;
        publisher.publish(draft)
    }
}
