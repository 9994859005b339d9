//! The part of Gantry's bridges to other hosts that does not depend on a network.
//!
//! A bridge is a process of a domain. It shows the domain's graph ([`LocalGraph`]) to a network, carries samples of
//! local publishers there ([`Carrier`], [`Lane`], [`Sender`]), and publishes samples of far publishers ([`Inlet`]). A
//! [`Policy`] says which names are carried, how often, and how urgently. The network itself is the program's: see
//! `bridges/zenoh`.
//!
//! Invariants:
//! - No loop and no copy: a node has an [`Origin`] that bridges show wherever they show the node. It crosses a
//!   [`Border`] by the best of its ways only, and never into a domain or a network where it was. Endpoints of the
//!   bridge's own process are never shown to the network, and of other bridges only by a hub.
//! - A far sample keeps the time, the number and the GID of its publisher ([`gantry_shm::SampleInfo::origin`]).
//! - A pin that waits for a slow link is bounded by count and bytes; each dropped sample is counted.
//! - Control path only, except for [`Carrier`], [`Lane`] and [`Inlet`], which move samples; these lock and allocate, in
//!   the bridge's own threads.

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
pub use status::{LinkStatus, RoundTrip, Status, TopicStatus};
pub use status_publisher::StatusPublisher;
pub use timing::{IMPATIENCE, LINGER, PERIOD, SETTLE};
pub use topics_out::{Outgoing, Output, Refusal, TopicsOut, history_depth};
