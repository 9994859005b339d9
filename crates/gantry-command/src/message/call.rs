//! A call of a service whose types are known only at run time.

use super::{TopicType, json_of, service_types};
use crate::error::{Failure, Result};
use gantry::{Node, ServiceTypeDescription};
use gantry_dynamic::{DynamicMessage, Value};
use std::time::Duration;

/// The response of a service, with its type.
pub struct Answer {
    answer_type: TopicType,
    bytes: Vec<u8>,
}

/// Calls a service with values in JSON, and waits for the response. Returns `None` if no process offers the service.
///
/// # Errors
/// The values do not fit the type; the server is not matched, or does not answer in time.
pub fn call(node: &Node, service: &str, values: &serde_json::Value, patience: Duration) -> Result<Option<Answer>> {
    let Some(service_type) = service_types(node, service)?.pop() else { return Ok(None) };
    let request = TopicType::new(&service_type.request)?.encode(&values.to_string())?; // JSON is also YAML
    let answer_type = TopicType::new(&service_type.response)?;
    Ok(Some(Answer { answer_type, bytes: call_bytes(node, service, service_type, &request, patience)? }))
}

/// Calls a service with the bytes of a request, and waits for the bytes of its response.
///
/// # Errors
/// The server is not matched; it does not answer in time.
pub fn call_bytes(
    node: &Node,
    service: &str,
    service_type: ServiceTypeDescription,
    request: &[u8],
    patience: Duration,
) -> Result<Vec<u8>> {
    let mut client = node.create_generic_client(service, service_type)?;
    if !client.wait_for_service(patience)? {
        return Err(Failure::new(format!("{service} is not matched: {}", client.mismatches()?.join("; "))));
    }
    Ok(client.call_copy(request, patience)?.bytes().to_vec())
}

impl Answer {
    /// The response.
    ///
    /// # Errors
    /// The bytes from the server are not a response of this type.
    pub fn message(&self) -> Result<DynamicMessage<'_>> {
        self.answer_type.view(&self.bytes)
    }

    /// The response as JSON.
    ///
    /// # Errors
    /// The errors of [`Answer::message`].
    pub fn json(&self) -> Result<serde_json::Value> {
        Ok(json_of(Value::Message(self.message()?)))
    }
}
