//! Calls of services.

use super::body;
use crate::protocol::{CDR, JSON, ServiceEntry};
use gantry::{ENCAPSULATION, Node};
use gantry_command::{
    Failure, Result,
    message::{TopicType, Value, call_bytes, json_of},
};
use std::time::Duration;

/// The longest wait for the response of a server.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls the service. `encoding` is the encoding of the request, and also of the returned response.
///
/// # Errors
/// The payload is not a valid request; the server does not answer; the encoding is not known.
pub fn call(node: &Node, service: &ServiceEntry, encoding: &str, payload: &[u8]) -> Result<Vec<u8>> {
    let (name, service_type) = (&service.name, &service.service_type);
    let request_type = TopicType::new(&service_type.request)?;
    let request = match encoding {
        CDR => {
            let request = body(payload)?;
            request_type.view(request)?; // the server should not get a malformed request
            request.to_vec()
        }
        JSON => request_type.encode(std::str::from_utf8(payload).map_err(Failure::new)?)?,
        other => return Err(format!("requests are {CDR} or {JSON}, not '{other}'").into()),
    };
    let response = call_bytes(node, name, service_type.clone(), &request, PATIENCE)?;
    match encoding {
        CDR => Ok([&ENCAPSULATION[..], &response].concat()),
        _ => {
            let response_type = TopicType::new(&service_type.response)?;
            let message = response_type.view(&response)?;
            Ok(json_of(Value::Message(message)).to_string().into_bytes())
        }
    }
}
