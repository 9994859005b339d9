//! The messages from a viewer to the server.

use serde::{Deserialize, Serialize};

/// A request in JSON.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request {
    /// The viewer subscribes to channels.
    Subscribe {
        /// The subscriptions, one for each channel.
        subscriptions: Vec<NewSubscription>,
    },
    /// The viewer ends subscriptions.
    Unsubscribe {
        /// The numbers that the viewer gave to the subscriptions.
        subscription_ids: Vec<u32>,
    },
    /// The viewer announces channels on which it will publish.
    Advertise {
        /// The channels.
        channels: Vec<ClientChannel>,
    },
    /// The viewer stops publishing on channels.
    Unadvertise {
        /// The numbers that the viewer gave to the channels.
        channel_ids: Vec<u32>,
    },
    /// The viewer requests values of parameters.
    GetParameters {
        /// The names of the parameters; an empty list means all parameters.
        parameter_names: Vec<String>,
        /// The id of the request, which the answer repeats.
        id: Option<String>,
    },
    /// The viewer sets parameters.
    SetParameters {
        /// The parameters with their new values.
        parameters: Vec<Parameter>,
        /// The id of the request, which the answer repeats.
        id: Option<String>,
    },
    /// The viewer subscribes to changes of parameters.
    SubscribeParameterUpdates {
        /// The names of the parameters; an empty list means all parameters.
        parameter_names: Vec<String>,
    },
    /// The viewer ends its subscription to changes of parameters.
    UnsubscribeParameterUpdates {
        /// The names of the parameters; an empty list means all parameters.
        parameter_names: Vec<String>,
    },
    /// The viewer subscribes to the connection graph and its changes.
    SubscribeConnectionGraph,
    /// The viewer ends its subscription to the connection graph.
    UnsubscribeConnectionGraph,
}

/// A viewer's subscription to a channel.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSubscription {
    /// The number that the viewer gave to the subscription.
    pub id: u32,
    /// The number that the server gave to the channel.
    pub channel_id: u32,
}

/// A channel on which a viewer publishes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientChannel {
    /// The number that the viewer gave to the channel.
    pub id: u32,
    /// The topic.
    pub topic: String,
    /// The encoding of the messages, `cdr` or `json`.
    pub encoding: String,
    /// The name of the type, for example `geometry_msgs/msg/Twist` or `geometry_msgs/Twist`.
    pub schema_name: String,
    /// The definition of the type, if the viewer has one.
    #[serde(default)]
    pub schema: Option<String>,
    /// The encoding of the definition, for example `ros2msg`.
    #[serde(default)]
    pub schema_encoding: Option<String>,
}

/// A parameter of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The full name: the node's name, a dot and the parameter's own name.
    pub name: String,
    /// The value; `None` if the parameter is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// The type, if the JSON value does not show it: `float64`, `float64_array`, or `byte_array` (in base64).
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub of_type: Option<String>,
}

/// A request in a binary frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Binary<'a> {
    /// A message that the viewer publishes.
    Message {
        /// The number that the viewer gave to the channel.
        channel_id: u32,
        /// The message, in the channel's encoding.
        payload: &'a [u8],
    },
    /// A call of a service.
    Call {
        /// The number that the server gave to the service.
        service_id: u32,
        /// The number that the viewer gave to the call, which the response repeats.
        call_id: u32,
        /// The encoding of request and response.
        encoding: &'a str,
        /// The request.
        payload: &'a [u8],
    },
}

/// Parses a request in JSON.
///
/// # Errors
/// The reason, as a sentence: the text is not a request that the server supports.
pub fn request(text: &str) -> Result<Request, String> {
    serde_json::from_str(text).map_err(|error| format!("the server does not understand this message: {error}"))
}

/// Parses a request from a binary frame.
///
/// # Errors
/// The reason, as a sentence: the bytes are not a message that the server supports.
pub fn binary(bytes: &[u8]) -> Result<Binary<'_>, String> {
    let too_short = || format!("a binary message of {} bytes ends too early", bytes.len());
    let mut rest = bytes.get(1..).ok_or_else(too_short)?;
    let mut number = || {
        let (first, tail) = rest.split_first_chunk::<4>()?;
        rest = tail;
        Some(u32::from_le_bytes(*first))
    };
    match bytes[0] {
        1 => {
            let channel_id = number().ok_or_else(too_short)?;
            Ok(Binary::Message { channel_id, payload: rest })
        }
        2 => {
            let numbers = (number(), number(), number());
            let (Some(service_id), Some(call_id), Some(length)) = numbers else { return Err(too_short()) };
            let (encoding, payload) = rest.split_at_checked(length as usize).ok_or_else(too_short)?;
            let encoding = std::str::from_utf8(encoding).map_err(|_| "an encoding is not UTF-8".to_owned())?;
            Ok(Binary::Call { service_id, call_id, encoding, payload })
        }
        opcode => Err(format!("the server does not understand binary messages of kind {opcode}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_messages_are_sentences() {
        let call = [2, 7, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, b'c', b'd', b'r', 9];
        let read = Binary::Call { service_id: 7, call_id: 8, encoding: "cdr", payload: &[9] };
        assert_eq!(binary(&call), Ok(read));
        (0..call.len() - 1).for_each(|end| assert!(binary(&call[..end]).is_err(), "{end}"));
        assert!(binary(&[1, 2, 0, 0]).is_err() && binary(&[9; 40]).is_err());
        assert!(binary(&[2, 7, 0, 0, 0, 8, 0, 0, 0, 255, 255, 255, 255, 0]).is_err());
        for text in ["", "{", "[]", r#"{"op":"dance"}"#, r#"{"op":"subscribe","subscriptions":7}"#] {
            assert!(request(text).unwrap_err().starts_with("the server does not understand"), "{text}");
        }
    }
}
