//! The six services of parameters, and `/parameter_events`, as every ROS 2 node has them. The rules are rclcpp's
//! (`parameter_service.cpp`).

use crate::{
    callback::CallbackHandle,
    error::{Error, Result},
    log,
    node::Node,
    parameter::{Changes, Parameter, ParameterStore},
    service::{Request, Service},
    wait::lock,
};
use gantry_cdr::Service as ServiceType;
use gantry_msgs::rcl_interfaces::{
    self,
    msg::{ParameterEvent, SetParametersResult},
    srv::{
        DescribeParameters, DescribeParameters_Response, GetParameterTypes, GetParameterTypes_Response, GetParameters,
        GetParameters_Response, ListParameters, ListParameters_Response, SetParameters, SetParameters_Response,
        SetParametersAtomically, SetParametersAtomically_Response,
    },
};
use gantry_shm::Qos;
use std::sync::{Arc, Mutex};

/// Starts all of the services, or none after an error; the node's executor runs them.
pub(super) fn start(node: &Node) -> Result<()> {
    let mut services = Vec::new();
    let started = serve_all(node, &mut services).and_then(|()| publish_events(node));
    if started.is_err() {
        services.into_iter().for_each(CallbackHandle::remove);
    }
    started
}

fn serve_all(node: &Node, services: &mut Vec<CallbackHandle>) -> Result<()> {
    serve::<DescribeParameters>(node, services, "describe_parameters", |parameters, request| {
        let descriptors = request.names.iter().map(|name| Ok(parameters.describe(name)?.0)).collect::<Result<_>>();
        DescribeParameters_Response { descriptors: descriptors.unwrap_or_default() }
    })?;
    serve::<GetParameters>(node, services, "get_parameters", |parameters, request| {
        let values = request.names.iter().map(|name| Ok(parameters.get(name)?.into())).collect::<Result<_>>();
        GetParameters_Response { values: values.unwrap_or_default() }
    })?;
    serve::<GetParameterTypes>(node, services, "get_parameter_types", |parameters, request| {
        let type_of = |name: &String| Ok(parameters.describe(name)?.1.parameter_type() as u8);
        let types = request.names.iter().map(type_of).collect::<Result<_>>();
        GetParameterTypes_Response { types: types.unwrap_or_default() }
    })?;
    serve::<ListParameters>(node, services, "list_parameters", |parameters, request| ListParameters_Response {
        result: parameters.list(&request.prefixes, request.depth),
    })?;
    serve::<SetParameters>(node, services, "set_parameters", |parameters, request| {
        let set =
            |parameter: rcl_interfaces::msg::Parameter| result_of(parameters.set_atomically(vec![parameter.into()]));
        SetParameters_Response { results: request.parameters.into_iter().map(set).collect() }
    })?;
    serve::<SetParametersAtomically>(node, services, "set_parameters_atomically", |parameters, request| {
        let set = request.parameters.into_iter().map(Parameter::from).collect();
        SetParametersAtomically_Response { result: result_of(parameters.set_atomically(set)) }
    })
}

fn serve<S>(
    node: &Node,
    services: &mut Vec<CallbackHandle>,
    name: &str,
    answer: impl Fn(&ParameterStore, S::Request) -> S::Response + Send + 'static,
) -> Result<()>
where
    Request<S>: Send,
    Service<S>: Send,
    S: ServiceType + 'static,
{
    let (parameters, node_name) = (Arc::downgrade(node.parameters()), node.fully_qualified_name());
    let service = node.create_service_with_callback::<S>(&format!("~/{name}"), move |service, request| {
        let Some(parameters) = parameters.upgrade() else { return };
        let answered = request.sample().to_message().map_err(|error| error.to_string()).and_then(|message| {
            let response = answer(&parameters, *message);
            service.send_response_copy(request.id(), &response).map_err(|error| error.to_string())
        });
        if let Err(why) = answered {
            log::error(&node_name, format_args!("a request for parameters was not answered: {why}"));
        }
    })?;
    services.push(service);
    Ok(())
}

/// Publishes each change of the node's parameters.
fn publish_events(node: &Node) -> Result<()> {
    let publisher = Mutex::new(node.create_publisher::<ParameterEvent>("/parameter_events", Qos::parameter_events())?);
    let (name, weak) = (node.fully_qualified_name(), node.downgrade());
    node.parameters().set_listener(move |changes| {
        let Some(node) = weak.upgrade() else { return };
        let event = event(&name, node.now().into(), changes);
        if let Err(error) = lock(&publisher).publish_copy(&event) {
            log::error(&name, format_args!("a change of parameters was not published: {error}"));
        }
    })
}

fn event(node: &str, stamp: gantry_msgs::builtin_interfaces::msg::Time, changes: Changes) -> ParameterEvent {
    let messages =
        |parameters: Vec<Parameter>| parameters.into_iter().map(rcl_interfaces::msg::Parameter::from).collect();
    ParameterEvent {
        stamp,
        node: node.to_owned(),
        new_parameters: messages(changes.new),
        changed_parameters: messages(changes.changed),
        deleted_parameters: messages(changes.deleted),
    }
}

fn result_of(set: Result<()>) -> SetParametersResult {
    match set {
        Ok(()) => SetParametersResult { successful: true, reason: String::new() },
        // The caller named the parameter, so the reason need not repeat the name.
        Err(Error::InvalidParameter { why, .. }) => SetParametersResult { successful: false, reason: why },
        Err(error) => SetParametersResult { successful: false, reason: error.to_string() },
    }
}
