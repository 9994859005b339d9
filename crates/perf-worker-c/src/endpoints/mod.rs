//! Creates the endpoints of a session: publishers, subscriptions, and clients and servers of services.

pub mod matched;
pub mod publisher;
pub mod server;
pub mod subscription;

use std::sync::Arc;

use perf_worker::{
    backend::{MatchingKind, Subscription},
    endpoint::EndpointPlan,
};

use crate::abi::{self, ServiceEnd};
use crate::failure::Failure;
use crate::open::{Endpoint, Open};
use crate::run::{CEndpoint, Kind};
use matched::CMatched;
use publisher::CPublisher;
use subscription::{CListener, CSubscription};

/// The two parts of a client or a server, one of which sends and the other receives.
pub struct ServiceParts {
    /// The part that sends.
    pub publisher: CPublisher,
    /// The part that receives.
    pub subscription: Endpoint,
}

/// Creates the endpoints of one session.
#[derive(Clone)]
pub struct Endpoints {
    /// The session of the back end. It is closed when the last clone is dropped.
    pub open: Arc<Open>,
    matching: MatchingKind,
}

impl Endpoints {
    /// Prepares the creation of endpoints in the session `open`. `matching` is the kind of matching information that
    /// the endpoints report.
    pub fn new(open: Arc<Open>, matching: MatchingKind) -> Endpoints {
        Endpoints { open, matching }
    }

    /// Creates an endpoint by calling the C function `create`.
    fn create(
        &self,
        plan: &EndpointPlan,
        kind: Kind,
        name: &str,
        create: Option<abi::Create>,
    ) -> Result<Endpoint, String> {
        let (endpoint, mut failure) = (Arc::new(CEndpoint::new(plan, kind)?), Failure::new());
        let create = create.ok_or_else(|| format!("the back end has no function {name}"))?;
        // SAFETY: promises H1 and H4 of the header; run and plan live as long as the endpoint.
        let object =
            unsafe { create(self.open.object, self.open.run.address(), endpoint.address(), failure.address()) };
        if object.is_null() { Err(failure.sentence(name)) } else { Ok(Endpoint { object, plan: endpoint }) }
    }

    /// Creates both parts of a client or a server.
    fn create_end(
        &self,
        plan: &EndpointPlan,
        kind: Kind,
        name: &str,
        create: Option<abi::CreateEnd>,
    ) -> Result<ServiceParts, String> {
        let topic = &plan.topic;
        let create =
            create.ok_or_else(|| format!("this middleware does not support services, and {topic} is a service"))?;
        let (endpoint, mut failure) = (Arc::new(CEndpoint::new(plan, kind)?), Failure::new());
        let mut end = ServiceEnd { publisher: std::ptr::null_mut(), subscription: std::ptr::null_mut() };
        let (run, plan) = (self.open.run.address(), endpoint.address());
        // SAFETY: promises H1 and H4 of the header; run and plan live as long as both parts.
        let returned = unsafe { create(self.open.object, run, plan, &raw mut end, failure.address()) };
        failure.check(name, returned)?;
        if end.publisher.is_null() || end.subscription.is_null() {
            return Err(format!("the back end's function {name} returned 0 and left a part NULL"));
        }
        let publisher = self.publisher_of(Endpoint { object: end.publisher, plan: endpoint.clone() });
        Ok(ServiceParts { publisher, subscription: Endpoint { object: end.subscription, plan: endpoint } })
    }

    /// Makes a client.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn create_client(&self, plan: &EndpointPlan) -> Result<ServiceParts, String> {
        self.create_end(plan, Kind::Client, "create_client", self.open.functions.create_client)
    }

    /// Makes a server.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn create_server(&self, plan: &EndpointPlan) -> Result<ServiceParts, String> {
        self.create_end(plan, Kind::Server, "create_server", self.open.functions.create_server)
    }

    fn publisher_of(&self, endpoint: Endpoint) -> CPublisher {
        let functions = self.open.functions.publisher;
        CPublisher::new(CMatched::new(self.open.clone(), functions.matched, self.matching, endpoint), functions)
    }

    /// Makes a publisher.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn create_publisher(&self, plan: &EndpointPlan) -> Result<CPublisher, String> {
        let endpoint = self.create(plan, Kind::Publisher, "publisher.create", self.open.functions.publisher.create)?;
        Ok(self.publisher_of(endpoint))
    }

    /// Creates an endpoint that receives messages.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn create_subscription(&self, plan: &EndpointPlan) -> Result<Endpoint, String> {
        self.create(plan, Kind::Subscription, "subscription.create", self.open.functions.subscription.create)
    }

    /// Creates a subscription that delivers messages: by itself or through an executor.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn create_listener(&self, plan: &EndpointPlan) -> Result<CListener, String> {
        Ok(self.listener_of(self.create_subscription(plan)?))
    }

    /// Wraps an endpoint that receives messages as a listener.
    pub fn listener_of(&self, endpoint: Endpoint) -> CListener {
        let functions = self.open.functions.subscription;
        let matched = CMatched::new(self.open.clone(), functions.matched, self.matching, endpoint);
        CListener::new(matched, functions)
    }

    /// Wraps an endpoint that receives messages as a subscription.
    pub fn subscription_of(&self, endpoint: Endpoint) -> Box<dyn Subscription> {
        let functions = self.open.functions.subscription;
        let matched = CMatched::new(self.open.clone(), functions.matched, self.matching, endpoint);
        Box::new(CSubscription::new(matched, functions))
    }
}
