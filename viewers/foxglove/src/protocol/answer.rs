//! The messages of the server.

use super::{
    CDR, JSON, ROS2MSG,
    frame::{BINARY, CLOSE, MAX_HEAD_BYTES, TEXT, frame, head},
    request::Parameter,
};
use gantry::{ServiceTypeDescription, TypeDescription};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of a message before its CDR: the opcode, the subscription and the time.
const MESSAGE_BYTES: usize = 1 + 4 + 8;

/// The weight of a status.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Something is to be known.
    Info = 0,
    /// Something is missing.
    Warning = 1,
    /// Something was refused.
    Error = 2,
}

/// A topic with one type.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The server's number.
    pub id: u32,
    /// The full name of the topic.
    pub topic: String,
    /// The type.
    pub message_type: TypeDescription,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceEntry {
    /// The server's number.
    pub id: u32,
    /// The full name.
    pub name: String,
    /// The type.
    pub service_type: ServiceTypeDescription,
}

/// A call that has no response.
#[derive(Clone, Copy, Debug)]
pub struct CallFailure<'a> {
    /// The server's number of the service.
    pub service_id: u32,
    /// The viewer's number of the call.
    pub call_id: u32,
    /// A sentence.
    pub why: &'a str,
}

fn text(value: &Value) -> Vec<u8> {
    frame(TEXT, value.to_string().as_bytes())
}

/// The first message.
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

/// The close frame for the end of the server, with the code 1001 of RFC 6455, section 7.4.1.
#[must_use]
pub fn going_away() -> Vec<u8> {
    frame(CLOSE, &[&1001u16.to_be_bytes()[..], b"the server ends"].concat())
}

/// A status: a sentence for the user. It replaces an earlier status with the same id.
#[must_use]
pub fn status(level: Level, message: &str, id: Option<&str>) -> Vec<u8> {
    let mut status = json!({ "op": "status", "level": level as u8, "message": message });
    if let Some(id) = id {
        status["id"] = id.into();
    }
    text(&status)
}

/// The status is no longer true.
#[must_use]
pub fn remove_status(id: &str) -> Vec<u8> {
    text(&json!({ "op": "removeStatus", "statusIds": [id] }))
}

/// These channels are there.
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

/// These channels are gone.
#[must_use]
pub fn unadvertise(ids: &[u32]) -> Vec<u8> {
    text(&json!({ "op": "unadvertise", "channelIds": ids }))
}

/// These services are there.
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

/// These services are gone.
#[must_use]
pub fn unadvertise_services(ids: &[u32]) -> Vec<u8> {
    text(&json!({ "op": "unadvertiseServices", "serviceIds": ids }))
}

/// The start of a message's frame. The message in CDR follows it.
#[must_use]
pub fn message_start(subscription_id: u32, time_ns: u64, cdr_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAX_HEAD_BYTES + MESSAGE_BYTES);
    head(&mut out, BINARY, MESSAGE_BYTES + cdr_bytes);
    out.push(1);
    out.extend(subscription_id.to_le_bytes());
    out.extend(time_ns.to_le_bytes());
    out
}

/// The response of a service.
#[must_use]
pub fn call_response(service_id: u32, call_id: u32, encoding: &str, response: &[u8]) -> Vec<u8> {
    let mut payload = vec![3];
    [service_id, call_id, encoding.len() as u32].iter().for_each(|number| payload.extend(number.to_le_bytes()));
    payload.extend_from_slice(encoding.as_bytes());
    payload.extend_from_slice(response);
    frame(BINARY, &payload)
}

/// A call has no response.
#[must_use]
pub fn call_failure(failure: CallFailure<'_>) -> Vec<u8> {
    let CallFailure { service_id, call_id, why } = failure;
    text(&json!({ "op": "serviceCallFailure", "serviceId": service_id, "callId": call_id, "message": why }))
}

/// The values of parameters: the answer to a request, or a change.
#[must_use]
pub fn parameter_values(parameters: &[Parameter], id: Option<&str>) -> Vec<u8> {
    let mut values = json!({ "op": "parameterValues", "parameters": parameters });
    if let Some(id) = id {
        values["id"] = id.into();
    }
    text(&values)
}

/// The entries of the graph that are new or changed, and the names that are gone: The three arrays are for topics
/// with publishers, topics with subscriptions, and services, each name with its nodes.
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
