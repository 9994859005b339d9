//! The messages from the server to a viewer.

use super::{
    CDR, JSON, ROS2MSG,
    frame::{BINARY, CLOSE, MAX_HEAD_BYTES, TEXT, frame, head},
    request::Parameter,
};
use gantry::{ServiceTypeDescription, TypeDescription};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The length of the data before a message's CDR: the opcode, the subscription id and the time.
const MESSAGE_BYTES: usize = 1 + 4 + 8;

/// The level of a status.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Information.
    Info = 0,
    /// Data is missing.
    Warning = 1,
    /// A request was refused.
    Error = 2,
}

/// A channel: a topic with one type.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The number that the server gave to the channel.
    pub id: u32,
    /// The full name of the topic.
    pub topic: String,
    /// The type.
    pub message_type: TypeDescription,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceEntry {
    /// The number that the server gave to the service.
    pub id: u32,
    /// The full name.
    pub name: String,
    /// The type.
    pub service_type: ServiceTypeDescription,
}

/// A call that has no response.
#[derive(Clone, Copy, Debug)]
pub struct CallFailure<'a> {
    /// The number that the server gave to the service.
    pub service_id: u32,
    /// The number that the viewer gave to the call.
    pub call_id: u32,
    /// The reason, as a sentence.
    pub why: &'a str,
}

fn text(value: &Value) -> Vec<u8> {
    frame(TEXT, value.to_string().as_bytes())
}

/// Makes the first message to a viewer, which describes the server.
#[must_use]
pub fn server_info(name: &str, session: &str, may_write: bool) -> Vec<u8> {
    let mut capabilities = vec!["connectionGraph", "parameters", "parametersSubscribe"];
    let mut info = json!({ "op": "serverInfo", "name": name, "sessionId": session });
    if may_write {
        capabilities.extend(["clientPublish", "services"]);
        info["supportedEncodings"] = json!([CDR, JSON]);
    }
    info["capabilities"] = json!(capabilities);
    text(&info)
}

/// Makes the close frame that the server sends when it ends, with the code 1001 of RFC 6455, section 7.4.1.
#[must_use]
pub fn going_away() -> Vec<u8> {
    frame(CLOSE, &[&1001u16.to_be_bytes()[..], b"the server ends"].concat())
}

/// Makes a status, a sentence that Foxglove shows to the user. It replaces an earlier status with the same id.
#[must_use]
pub fn status(level: Level, message: &str, id: Option<&str>) -> Vec<u8> {
    let mut status = json!({ "op": "status", "level": level as u8, "message": message });
    if let Some(id) = id {
        status["id"] = id.into();
    }
    text(&status)
}

/// Makes the message that removes a status, because its sentence is no longer true.
#[must_use]
pub fn remove_status(id: &str) -> Vec<u8> {
    text(&json!({ "op": "removeStatus", "statusIds": [id] }))
}

/// Makes the message that announces channels.
#[must_use]
pub fn advertise<'a>(channels: impl Iterator<Item = &'a Channel>) -> Vec<u8> {
    let channel = |channel: &Channel| {
        json!({
            "id": channel.id,
            "topic": channel.topic,
            "encoding": CDR,
            "schemaName": channel.message_type.name,
            "schema": &*channel.message_type.definition,
            "schemaEncoding": ROS2MSG,
        })
    };
    text(&json!({ "op": "advertise", "channels": channels.map(channel).collect::<Vec<_>>() }))
}

/// Makes the message that removes channels.
#[must_use]
pub fn unadvertise(ids: &[u32]) -> Vec<u8> {
    text(&json!({ "op": "unadvertise", "channelIds": ids }))
}

/// Makes the message that announces services.
#[must_use]
pub fn advertise_services<'a>(services: impl Iterator<Item = &'a ServiceEntry>) -> Vec<u8> {
    let schema = |part: &TypeDescription| {
        json!({
            "encoding": CDR,
            "schemaName": part.name,
            "schemaEncoding": ROS2MSG,
            "schema": &*part.definition,
        })
    };
    let service = |service: &ServiceEntry| {
        let ServiceTypeDescription { name, request, response } = &service.service_type;
        json!({
            "id": service.id,
            "name": service.name,
            "type": name,
            "request": schema(request),
            "response": schema(response),
            // Viewers that follow the older specification read these two fields.
            "requestSchema": &*request.definition,
            "responseSchema": &*response.definition,
        })
    };
    text(&json!({ "op": "advertiseServices", "services": services.map(service).collect::<Vec<_>>() }))
}

/// Makes the message that removes services.
#[must_use]
pub fn unadvertise_services(ids: &[u32]) -> Vec<u8> {
    text(&json!({ "op": "unadvertiseServices", "serviceIds": ids }))
}

/// Makes the start of a message's frame: everything before the message in CDR.
#[must_use]
pub fn message_start(subscription_id: u32, time_ns: u64, cdr_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAX_HEAD_BYTES + MESSAGE_BYTES);
    head(&mut out, BINARY, MESSAGE_BYTES + cdr_bytes);
    out.push(1);
    out.extend(subscription_id.to_le_bytes());
    out.extend(time_ns.to_le_bytes());
    out
}

/// Makes the response to a viewer's call of a service.
#[must_use]
pub fn call_response(service_id: u32, call_id: u32, encoding: &str, response: &[u8]) -> Vec<u8> {
    let mut payload = vec![3];
    [service_id, call_id, encoding.len() as u32].iter().for_each(|number| payload.extend(number.to_le_bytes()));
    payload.extend_from_slice(encoding.as_bytes());
    payload.extend_from_slice(response);
    frame(BINARY, &payload)
}

/// Makes the message that a call has failed.
#[must_use]
pub fn call_failure(failure: CallFailure<'_>) -> Vec<u8> {
    let CallFailure { service_id, call_id, why } = failure;
    text(&json!({ "op": "serviceCallFailure", "serviceId": service_id, "callId": call_id, "message": why }))
}

/// Makes the message with values of parameters: the answer to the request `id`, or, without an `id`, a change.
#[must_use]
pub fn parameter_values(parameters: &[Parameter], id: Option<&str>) -> Vec<u8> {
    let mut values = json!({ "op": "parameterValues", "parameters": parameters });
    if let Some(id) = id {
        values["id"] = id.into();
    }
    text(&values)
}

/// Makes the message about changes of the connection graph. `changed` has the new or changed names, each with its
/// nodes: topics with publishers, topics with subscriptions, and services.
#[must_use]
pub fn graph_update(
    changed: [&BTreeMap<String, BTreeSet<String>>; 3],
    gone_topics: &[&String],
    gone_services: &[&String],
) -> Vec<u8> {
    let list = |names: &BTreeMap<String, BTreeSet<String>>, ids: &str| {
        names.iter().map(|(name, nodes)| json!({ "name": name, ids: nodes })).collect::<Vec<_>>()
    };
    text(&json!({
        "op": "connectionGraphUpdate",
        "publishedTopics": list(changed[0], "publisherIds"),
        "subscribedTopics": list(changed[1], "subscriberIds"),
        "advertisedServices": list(changed[2], "providerIds"),
        "removedTopics": gone_topics,
        "removedServices": gone_services,
    }))
}
