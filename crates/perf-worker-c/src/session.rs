//! The session of a back end in C: the middleware in one process.

use std::sync::Arc;

use perf_worker::{
    backend::{
        Client, Delivery, DeliveryKind, Description, DeviceMemory, Executor, Publisher, Server, Session, Settings,
    },
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

use crate::abi;
use crate::endpoints::{Endpoints, ServiceParts};
use crate::executor::CExecutor;
use crate::failure::Failure;
use crate::opaque::Effective;
use crate::open::Open;
use crate::run::CRun;

/// The session of a back end in C.
pub struct CSession {
    endpoints: Endpoints,
    delivery: DeliveryKind,
}

impl CSession {
    /// Opens the middleware in this process.
    ///
    /// # Errors
    /// The error sentence of the back end.
    pub fn open(functions: &abi::Backend, description: &Description, spec: &RunSpec) -> Result<CSession, String> {
        // The run is never freed, because a process has only one session.
        let run: &'static CRun = Box::leak(Box::new(CRun::new(spec)?));
        let mut failure = Failure::new();
        let open = functions.open.ok_or("the back end has no function open")?;
        // SAFETY: promises H1 and H4 of the header; the run lives as long as the session.
        let object = unsafe { open(run.address(), failure.address()) };
        if object.is_null() {
            return Err(failure.sentence("open"));
        }
        let open = Arc::new(Open { functions: *functions, object, run });
        let capabilities = &description.capabilities;
        let endpoints = Endpoints::new(open, capabilities.matching);
        Ok(CSession { endpoints, delivery: capabilities.delivery })
    }
}

impl Session for CSession {
    fn effective(&self) -> Settings {
        let mut effective = Effective::default();
        if let Some(read) = self.endpoints.open.functions.effective {
            // SAFETY: H1, H4.
            unsafe { read(self.endpoints.open.object, &raw mut effective) };
        }
        effective.0
    }

    fn publisher(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        Ok(Box::new(self.endpoints.create_publisher(plan)?))
    }

    fn subscription(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        Ok(match self.delivery {
            DeliveryKind::Pull => {
                Delivery::Pull(self.endpoints.subscription_of(self.endpoints.create_subscription(plan)?))
            }
            DeliveryKind::Push => Delivery::Push(Box::new(self.endpoints.create_listener(plan)?)),
        })
    }

    fn executor(&self, _: &RunSpec, _: u32) -> Result<Box<dyn Executor>, String> {
        Ok(Box::new(CExecutor::new(self.endpoints.clone())?))
    }

    fn client(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Client, String> {
        let ServiceParts { publisher, subscription } = self.endpoints.create_client(plan)?;
        Ok(Client { requests: Box::new(publisher), responses: self.endpoints.subscription_of(subscription) })
    }

    fn server(&self, _: &RunSpec, plan: &EndpointPlan) -> Result<Server, String> {
        let ServiceParts { publisher, subscription } = self.endpoints.create_server(plan)?;
        Ok(Server { requests: self.endpoints.subscription_of(subscription), responses: Box::new(publisher) })
    }

    fn device_memory(&self) -> Option<DeviceMemory> {
        let read = self.endpoints.open.functions.device_memory?;
        let mut memory = abi::DeviceMemory::default();
        // SAFETY: H1, H4.
        let is_there = unsafe { read(self.endpoints.open.object, &raw mut memory) };
        let abi::DeviceMemory { text_bytes, data_bytes, bss_bytes, stack_peak_bytes, heap_peak_bytes } = memory;
        is_there.then_some(DeviceMemory { text_bytes, data_bytes, bss_bytes, stack_peak_bytes, heap_peak_bytes })
    }
}
