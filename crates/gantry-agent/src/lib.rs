//! The agent of DDS-XRCE: it connects microcontrollers (with Gantry's client or micro-ROS's) with Gantry's topics
//! and services.
//!
//! ```no_run
//! use gantry_agent::{Agent, Config, Udp};
//!
//! # fn main() -> gantry_agent::Result<()> {
//! let agent = Agent::new(Config::default())?;
//! let udp = Udp::open(&agent, ([127, 0, 0, 1], 8888).into())?;
//! println!("clients connect to {}", udp.address());
//! # Ok(()) }
//! ```
//!
//! A client's participant becomes a node of Gantry. Its data writers and data readers become publishers and
//! subscriptions, and its requesters and repliers become clients and servers of services.
//!
//! Data is copied once: from a client into shared memory, or for a client from shared memory into the XRCE message.
//! Data from a client is checked before the copy. Only big-endian data is converted, because DDS-XRCE and Gantry both
//! use little-endian CDR.
//!
//! # Invariants
//! - Bytes from clients are not trusted: a malformed message is answered or logged, and does not affect other clients.
//!   No thread waits for a client.
//! - The resources that a client can use are limited ([`Limits`]), and so is the rate of the log.
//! - No loss is silent: losses are counted ([`ClientStatistics`]) and logged.
//! - A thread holds at most one of these locks at a time: the lock of a client, or the lock of the table of clients.
//!   Workers hold neither of them while they create or destroy nodes, publishers and other entities.

#![forbid(unsafe_code)]

mod agent;
mod client;
mod clients;
mod clock;
mod config;
mod context;
mod error;
mod link;
mod lock;
mod log;
mod threads;
mod transport;

pub use agent::{Agent, Port};
pub use client::{ClientStatistics, Counts};
pub use config::{Access, Config, DomainChoice, Limits, Types};
pub use error::{Error, Result};
pub use gantry_xrce::{framing::socket_can::Frame as CanFrame, wire::ClientKey};
pub use ipnet::IpNet;
pub use link::{PeerAddress, Transport};
pub use log::{Level, Log};
pub use transport::{Can, Serial, Tcp, Udp};
#[cfg(feature = "simulated-can")]
pub use transport::{CanFrameBits, CanTiming};
