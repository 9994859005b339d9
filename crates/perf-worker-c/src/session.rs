//! The middleware in one process, and the endpoints that it makes.

use std::ffi::c_void;
use std::sync::Arc;

use perf_worker::{
    backend::{
        Client, Delivery, DeliveryKind, Description, DeviceMemory, Executor, MatchingKind, Publisher, Server, Session,
        Settings, Subscription,
    },
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

use crate::abi::{self, ServiceEnd};
use crate::executor::CExecutor;
use crate::exports::Effective;
use crate::failure::Failure;
use crate::matched::CMatched;
use crate::publisher::CPublisher;
use crate::run::{CEndpoint, CRun, Kind};
use crate::subscription::{CListener, CSubscription};

/// A session that is open, and closes when it and its endpoints are gone.
pub struct Open {
    /// The functions of the back end.
    pub functions: abi::Backend,
    /// The session in C.
    pub object: *mut c_void,
    /// The run.
    pub run: &'static CRun,
}

// SAFETY: H3; the run does not change.
unsafe impl Send for Open {}
// SAFETY: as before.
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(close) = self.functions.close {
            // SAFETY: H1; it was opened, and this is the only end of it.
            unsafe { close(self.object) };
        }
    }
}

/// Both parts of one side of a service.
pub struct ServiceParts {
    /// The part that sends.
    pub publisher: CPublisher,
    /// The part that receives.
    pub subscription: Endpoint,
}

/// The middleware in one process.
#[derive(Clone)]
pub struct CSession {
    /// The session of the program in C, which is closed with the last clone.
    pub open: Arc<Open>,
    matching: MatchingKind,
    delivery: DeliveryKind,
}

impl CSession {
    /// Opens it.
    ///
    /// # Errors
    /// The sentence of the back end.
    pub fn open(functions: &abi::Backend, description: &Description, spec: &RunSpec) -> Result<CSession, String> {
        // Until the end of the process, which has one session.
        let run: &'static CRun = Box::leak(Box::new(CRun::new(spec)?));
        let mut failure = Failure::new();
        let open = functions.open.ok_or("the back end has no function open")?;
        // SAFETY: H1, H4: the run lives as long as the session.
        let object = unsafe { open(run.address(), failure.address()) };
        if object.is_null() {
            return Err(failure.sentence("open"));
        }
        let open = Arc::new(Open { functions: *functions, object, run });
        let capabilities = &description.capabilities;
        Ok(CSession { open, matching: capabilities.matching, delivery: capabilities.delivery })
    }

    /// Makes an endpoint with `create`.
    fn create(
        &self,
        plan: &EndpointPlan,
        kind: Kind,
        name: &str,
        create: Option<abi::Create>,
    ) -> Result<Endpoint, String> {
        let (endpoint, mut failure) = (Arc::new(CEndpoint::new(plan, kind)?), Failure::new());
        let create = create.ok_or_else(|| format!("the back end has no function {name}"))?;
        // SAFETY: H1, H4: run and plan live as long as the endpoint.
        let object =
            unsafe { create(self.open.object, self.open.run.address(), endpoint.address(), failure.address()) };
        if object.is_null() { Err(failure.sentence(name)) } else { Ok(Endpoint { object, plan: endpoint }) }
    }

    /// Makes both parts of one side of a service.
    fn create_end(
        &self,
        plan: &EndpointPlan,
        kind: Kind,
        name: &str,
        create: Option<abi::CreateEnd>,
    ) -> Result<ServiceParts, String> {
        let topic = &plan.topic;
        let create = create.ok_or_else(|| format!("this middleware has no services, and {topic} is one"))?;
        let (endpoint, mut failure) = (Arc::new(CEndpoint::new(plan, kind)?), Failure::new());
        let mut end = ServiceEnd { publisher: std::ptr::null_mut(), subscription: std::ptr::null_mut() };
        let (run, plan) = (self.open.run.address(), endpoint.address());
        // SAFETY: H1, H4: run and plan live as long as both parts.
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
    /// The sentence of the back end.
    pub fn create_client(&self, plan: &EndpointPlan) -> Result<ServiceParts, String> {
        self.create_end(plan, Kind::Client, "create_client", self.open.functions.create_client)
    }

    /// Makes a server.
    ///
    /// # Errors
    /// The sentence of the back end.
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
    /// The sentence of the back end.
    pub fn create_publisher(&self, plan: &EndpointPlan) -> Result<CPublisher, String> {
        let endpoint = self.create(plan, Kind::Publisher, "publisher.create", self.open.functions.publisher.create)?;
        Ok(self.publisher_of(endpoint))
    }

    fn create_subscription(&self, plan: &EndpointPlan) -> Result<Endpoint, String> {
        self.create(plan, Kind::Subscription, "subscription.create", self.open.functions.subscription.create)
    }

    /// Makes a subscription that delivers messages, in an executor or by itself.
    ///
    /// # Errors
    /// The sentence of the back end.
    pub fn create_listener(&self, plan: &EndpointPlan) -> Result<CListener, String> {
        Ok(self.listener_of(self.create_subscription(plan)?))
    }

    /// The listener of an endpoint that receives.
    pub fn listener_of(&self, endpoint: Endpoint) -> CListener {
        let functions = self.open.functions.subscription;
        let matched = CMatched::new(self.open.clone(), functions.matched, self.matching, endpoint);
        CListener::new(matched, functions)
    }

    fn subscription_of(&self, endpoint: Endpoint) -> Box<dyn Subscription> {
        let functions = self.open.functions.subscription;
        let matched = CMatched::new(self.open.clone(), functions.matched, self.matching, endpoint);
        Box::new(CSubscription::new(matched, functions))
    }
}

/// An endpoint of the back end, and its plan.
pub struct Endpoint {
    /// The endpoint.
    pub object: *mut c_void,
    /// Its plan, at an address that stays.
    pub plan: Arc<CEndpoint>,
}

impl Session for CSession {
    fn effective(&self) -> Settings {
        let mut effective = Effective::default();
        if let Some(read) = self.open.functions.effective {
            // SAFETY: H1, H4.
            unsafe { read(self.open.object, &raw mut effective) };
        }
        effective.0
    }

    fn publisher(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        Ok(Box::new(self.create_publisher(plan)?))
    }

    fn subscription(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        Ok(match self.delivery {
            DeliveryKind::Pull => Delivery::Pull(self.subscription_of(self.create_subscription(plan)?)),
            DeliveryKind::Push => Delivery::Push(Box::new(self.create_listener(plan)?)),
        })
    }

    fn executor(&self, _: &RunSpec, _: u32) -> Result<Box<dyn Executor>, String> {
        Ok(Box::new(CExecutor::new(self.clone())?))
    }

    fn client(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        let ServiceParts { publisher, subscription } = self.create_client(plan)?;
        Ok(Client { requests: Box::new(publisher), responses: self.subscription_of(subscription) })
    }

    fn server(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        let ServiceParts { publisher, subscription } = self.create_server(plan)?;
        Ok(Server { requests: self.subscription_of(subscription), responses: Box::new(publisher) })
    }

    fn device_memory(&self) -> Option<DeviceMemory> {
        let read = self.open.functions.device_memory?;
        let mut memory = abi::DeviceMemory::default();
        // SAFETY: H1, H4.
        let is_there = unsafe { read(self.open.object, &raw mut memory) };
        let abi::DeviceMemory { text_bytes, data_bytes, bss_bytes, stack_peak_bytes, heap_peak_bytes } = memory;
        is_there.then_some(DeviceMemory { text_bytes, data_bytes, bss_bytes, stack_peak_bytes, heap_peak_bytes })
    }
}
