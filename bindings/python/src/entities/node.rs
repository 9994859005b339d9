//! Nodes: the objects that create endpoints.

use super::{
    parameter::{self, Server},
    publisher::Publisher,
    service::{Client, Service},
    subscription::Subscription,
    timer::{self, Timer},
};
use crate::{error::failed, message::types::PySchema, qos, wait::Handle};
use gantry::{
    History, ParameterCallbackHandle, ParameterDescriptor, ParameterValue, PublishMode, PublisherOptions, Reliability,
    ServiceTypeDescription,
};
use pyo3::prelude::*;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A node.
#[pyclass(frozen, module = "gantry._native")]
pub struct Node {
    inner: Handle<gantry::Node>,
    /// The services and the callback for parameters. `destroy` drops them before the node, and without holding Python's
    /// lock.
    parameters: Mutex<Parameters>,
}

/// The parts of a node that serve its parameters.
#[derive(Default)]
struct Parameters {
    server: Option<Server>,
    callback: Option<ParameterCallbackHandle>,
}

impl Node {
    /// The node. Fails if it was destroyed.
    pub fn node(&self, py: Python<'_>) -> PyResult<gantry::Node> {
        Ok(self.inner.lock(py).get()?.clone())
    }

    /// The node, with its parameter services running: other programs can read and set its parameters.
    fn served(&self, py: Python<'_>) -> PyResult<gantry::Node> {
        let node = self.node(py)?;
        let mut parameters = self.parameters.lock().unwrap_or_else(PoisonError::into_inner);
        if parameters.server.is_none() {
            parameters.server = Some(Server::start(&node)?);
        }
        Ok(node)
    }
}

#[pymethods]
impl Node {
    #[new]
    #[pyo3(signature = (name, namespace, domain_id, arguments, remappings, overrides, allow_undeclared, declare_overrides))]
    #[expect(clippy::too_many_arguments, reason = "the options of a node, which Python names")]
    fn new(
        py: Python<'_>,
        name: &str,
        namespace: &str,
        domain_id: Option<u32>,
        arguments: Vec<String>,
        remappings: Vec<(String, String)>,
        overrides: Vec<(String, Bound<'_, PyAny>)>,
        allow_undeclared: bool,
        declare_overrides: bool,
    ) -> PyResult<Node> {
        let mut builder = gantry::Node::builder(name).namespace(namespace).ros_arguments(arguments);
        builder = builder.use_global_arguments(false).allow_undeclared_parameters(allow_undeclared);
        builder = builder.automatically_declare_parameters_from_overrides(declare_overrides);
        if let Some(domain_id) = domain_id {
            builder = builder.domain_id(domain_id);
        }
        for (from, to) in &remappings {
            builder = builder.remap(from, to);
        }
        for (name, value) in &overrides {
            builder = builder.parameter_override(name, parameter::from_python(value)?);
        }
        let node = py.detach(|| builder.build()).map_err(failed)?;
        Ok(Node { inner: Handle::new(node, "node"), parameters: Mutex::default() })
    }

    /// Destroys the node. It leaves the domain when all of its endpoints have been destroyed.
    fn destroy(&self, py: Python<'_>) {
        let parameters = std::mem::take(&mut *self.parameters.lock().unwrap_or_else(PoisonError::into_inner));
        py.detach(|| drop(parameters));
        self.inner.destroy(py);
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.node(py)?.name().to_owned())
    }

    #[getter]
    fn namespace(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.node(py)?.namespace().to_owned())
    }

    #[getter]
    fn fully_qualified_name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.node(py)?.fully_qualified_name())
    }

    #[getter]
    fn domain_id(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.node(py)?.domain_id())
    }

    fn resolve_topic_name(&self, py: Python<'_>, topic: &str) -> PyResult<String> {
        self.node(py)?.resolve_topic_name(topic).map_err(failed)
    }

    fn resolve_service_name(&self, py: Python<'_>, service: &str) -> PyResult<String> {
        self.node(py)?.resolve_service_name(service).map_err(failed)
    }

    /// The node's time, ns since 1970.
    fn now(&self, py: Python<'_>) -> PyResult<i64> {
        Ok(timer::nanoseconds(self.node(py)?.clock().now()))
    }

    fn ros_time_is_active(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.node(py)?.clock().ros_time_is_active())
    }

    #[pyo3(signature = (topic, schema, profile, max_memory_bytes=None, asynchronous=false, max_blocking_time=None))]
    #[expect(clippy::too_many_arguments, reason = "the options of a publisher, which Python names")]
    fn create_publisher(
        &self,
        py: Python<'_>,
        topic: &str,
        schema: &PySchema,
        profile: &Bound<'_, PyAny>,
        max_memory_bytes: Option<usize>,
        asynchronous: bool,
        max_blocking_time: Option<f64>,
    ) -> PyResult<Publisher> {
        let (node, qos) = (self.node(py)?, qos::from_python(profile)?);
        let mut options = PublisherOptions { max_memory_bytes, ..PublisherOptions::default() };
        if asynchronous {
            options.publish_mode = PublishMode::Async { period: Duration::from_millis(1) };
        }
        if let Some(limit) = max_blocking_time {
            options.max_blocking_time = qos::duration(limit, "max_blocking_time")?;
        }
        let description = schema.0.description.clone();
        let create = || node.create_generic_publisher_with_options(topic, description, qos, options);
        let publisher = py.detach(create).map_err(failed)?;
        let may_block = qos.history == History::KeepAll && qos.reliability == Reliability::Reliable;
        Ok(Publisher::new(publisher, schema.0.clone(), may_block))
    }

    fn create_subscription(
        &self,
        py: Python<'_>,
        topic: &str,
        schema: &PySchema,
        profile: &Bound<'_, PyAny>,
    ) -> PyResult<Subscription> {
        let (node, qos, description) = (self.node(py)?, qos::from_python(profile)?, schema.0.description.clone());
        let create = || node.create_generic_subscription(topic, description, qos);
        Ok(Subscription::new(py.detach(create).map_err(failed)?, schema.0.clone()))
    }

    fn create_service(
        &self,
        py: Python<'_>,
        name: &str,
        type_name: &str,
        request: &PySchema,
        response: &PySchema,
        profile: &Bound<'_, PyAny>,
    ) -> PyResult<Service> {
        let (node, qos) = (self.node(py)?, qos::from_python(profile)?);
        let service_type = service_type(type_name, request, response);
        let service = py.detach(|| node.create_generic_service_with_qos(name, service_type, qos)).map_err(failed)?;
        Ok(Service::new(service, request.0.clone(), response.0.clone()))
    }

    fn create_client(
        &self,
        py: Python<'_>,
        name: &str,
        type_name: &str,
        request: &PySchema,
        response: &PySchema,
        profile: &Bound<'_, PyAny>,
    ) -> PyResult<Client> {
        let (node, qos) = (self.node(py)?, qos::from_python(profile)?);
        let service_type = service_type(type_name, request, response);
        let client = py.detach(|| node.create_generic_client_with_qos(name, service_type, qos)).map_err(failed)?;
        Ok(Client::new(client, request.0.clone(), response.0.clone()))
    }

    fn create_timer(&self, py: Python<'_>, period: f64) -> PyResult<Timer> {
        timer::timer(self.node(py)?.clock(), period)
    }

    /// Declares a parameter and returns its value.
    fn declare_parameter<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        value: &Bound<'py, PyAny>,
        description: String,
        read_only: bool,
        dynamic_typing: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (node, value) = (self.served(py)?, parameter::from_python(value)?);
        let descriptor = ParameterDescriptor { description, read_only, dynamic_typing, ..Default::default() };
        let declare = || node.declare_parameter_with_descriptor(name, value, descriptor);
        parameter::to_python(py, py.detach(declare).map_err(failed)?)
    }

    fn undeclare_parameter(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let node = self.node(py)?;
        py.detach(|| node.undeclare_parameter(name)).map_err(failed)
    }

    fn has_parameter(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let node = self.node(py)?;
        Ok(py.detach(|| node.has_parameter(name)))
    }

    fn get_parameter<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let node = self.node(py)?;
        let value = py.detach(|| node.get_parameter::<ParameterValue>(name)).map_err(failed)?;
        parameter::to_python(py, value)
    }

    fn get_parameters_by_prefix<'py>(
        &self,
        py: Python<'py>,
        prefix: &str,
    ) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let node = self.node(py)?;
        let values = py.detach(|| node.get_parameters_by_prefix(prefix));
        values.into_iter().map(|(name, value)| Ok((name, parameter::to_python(py, value)?))).collect()
    }

    /// Sets all of these parameters, or none of them if one is refused.
    fn set_parameters(&self, py: Python<'_>, values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        let node = self.served(py)?;
        let parameters = values
            .iter()
            .map(|(name, value)| Ok(gantry::Parameter { name: name.clone(), value: parameter::from_python(value)? }));
        let parameters: Vec<_> = parameters.collect::<PyResult<_>>()?;
        py.detach(|| node.set_parameters_atomically(parameters)).map_err(failed)
    }

    /// Makes the library call `function` before each change of parameters. `function` must not keep a strong reference
    /// to the node, because the node keeps the function.
    fn on_set_parameters(&self, py: Python<'_>, function: Py<PyAny>) -> PyResult<()> {
        let node = self.node(py)?;
        let add = || node.add_on_set_parameters_callback(move |parameters| parameter::ask(&function, parameters));
        let handle = py.detach(add).map_err(failed)?;
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner).callback = Some(handle);
        Ok(())
    }
}

fn service_type(name: &str, request: &PySchema, response: &PySchema) -> ServiceTypeDescription {
    let (request, response) = (request.0.description.clone(), response.0.description.clone());
    ServiceTypeDescription { name: name.to_owned(), request, response }
}
