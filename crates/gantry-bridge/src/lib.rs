//! The part of Gantry's bridges to other hosts that does not depend on a network.

#![forbid(unsafe_code)]

mod border;
mod calls;
mod context;
mod counts;
mod far;
mod graph;
mod inbound;
mod lock;
mod only_one;
mod options;
mod outbound;
mod policy;
mod status;
mod status_publisher;
mod timing;
mod topics_out;

pub use border::Border;
pub use calls::{Call, Caller, Calls, MAX_WAIT, Sent, Sources, StandIn};
pub use context::Context;
pub use counts::{CountValues, Counts};
pub use far::{FarNode, FarNodes, hash_text, mismatch};
pub use graph::{Endpoint, Kind, LocalEndpoint, LocalGraph, LocalNode, Origin, ServiceHashes, far_mark, watch_domain};
pub use inbound::{FarSample, Inlet};
pub use lock::lock;
pub use only_one::{AnotherBridge, Place, only_bridge};
pub use options::Options;
pub use outbound::{Carrier, Lane, LaneOptions, Sender};
pub use policy::{Policy, PolicyError, Treatment};
pub use status::{LinkStatus, Status, TopicStatus};
pub use status_publisher::StatusPublisher;
pub use timing::{IMPATIENCE, LINGER, PERIOD, SETTLE};
pub use topics_out::{Outgoing, Output, Refusal, TopicsOut, history_depth};
