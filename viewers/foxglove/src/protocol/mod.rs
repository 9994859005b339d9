//! Foxglove's WebSocket protocol: requests of viewers, and answers. JSON in text frames, numbers little-endian in
//! binary frames. The specification was `docs/spec.md` of github.com/foxglove/ws-protocol up to commit 305d217.

mod answer;
mod frame;
mod request;

pub use answer::{
    CallFailure, Channel, Level, ServiceEntry, advertise, advertise_services, call_failure, call_response, going_away,
    graph_update, message_start, parameter_values, remove_status, server_info, status, unadvertise,
    unadvertise_services,
};
pub use frame::{BINARY, CLOSE, MAX_HEAD_BYTES, TEXT, frame, head};
pub use request::{Binary, ClientChannel, NewSubscription, Parameter, Request, binary, request};

/// The subprotocols that the server supports: the name in Foxglove's SDK, and the name in the older specification.
pub const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];
/// The encoding of messages, requests and responses.
pub const CDR: &str = "cdr";
/// The other encoding, which viewers may use for messages and requests.
pub const JSON: &str = "json";
/// The encoding of schemas: `.msg` texts, concatenated.
pub const ROS2MSG: &str = "ros2msg";
