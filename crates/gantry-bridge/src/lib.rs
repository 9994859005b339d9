//! The parts of Gantry's bridges to other hosts that are the same for all networks.
//!
//! A bridge is a process of a domain. It shows the domain's graph ([`LocalGraph`]) to a network, and sends samples of
//! local publishers there ([`Carrier`], [`Lane`], [`Sender`]). It publishes samples from the network in the domain
//! ([`Inlet`]). A [`Policy`] states which names are carried, how often, and with which priority. The program of a
//! bridge adds the network: see `bridges/zenoh`.
//!
//! Invariants:
//! - No loops and no duplicates: each node has an [`Origin`], which bridges show together with the node. It crosses a
//!   [`Border`] only by its best way, and never into a domain or a network where it was before. A bridge never shows
//!   its own endpoints to the network. Only a hub shows endpoints that other bridges brought.
//! - A sample from the network keeps the time, the sequence number and the GID of its publisher
//!   ([`gantry_shm::SampleInfo::origin`]).
//! - Pinned samples that wait for a slow link are limited in number and bytes; each dropped sample is counted.
//! - Only [`Carrier`], [`Lane`] and [`Inlet`] move samples; they lock and allocate, in threads of the bridge. All other
//!   items are control path.

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
pub use only_one::{AnotherBridge, OnlyBridge, only_bridge};
pub use options::Options;
pub use outbound::{Carrier, Lane, LaneOptions, Sender};
pub use policy::{Policy, PolicyError, Treatment};
pub use status::{LinkStatus, RoundTrip, Status, TopicStatus};
pub use status_publisher::StatusPublisher;
pub use timing::{IMPATIENCE, LINGER, PERIOD, SETTLE};
pub use topics_out::{Outgoing, Output, Refusal, TopicsOut, history_depth};
