//! Tests of the bridge with nodes of other implementations of rmw_zenoh's formats: `hiroz` and `ros2-client`. Gantry's
//! nodes are on one side of the bridge, the nodes of the other implementation on the other side.

mod actions;
mod messages;
mod suite;
#[path = "../../../tests/it/support.rs"]
#[allow(dead_code, reason = "the bridge's own tests use the other helpers")]
mod support;
mod with_hiroz;
mod with_ros2_client;
