//! Foxglove's WebSocket protocol: requests of viewers, and answers. Text frames contain JSON; binary frames contain
//! little-endian numbers. The specification was `docs/spec.md` of github.com/foxglove/ws-protocol up to commit 305d217.

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
/// The name of the CDR encoding for messages, requests and responses.
pub const CDR: &str = "cdr";
/// The name of the JSON encoding, which viewers may use for messages that they publish and for service calls.
pub const JSON: &str = "json";
/// The name of the schema encoding: the `.msg` texts of a type and of its nested types, concatenated.
pub const ROS2MSG: &str = "ros2msg";
