//! The agent of DDS-XRCE: it connects microcontrollers (ours and micro-ROS's) with Gantry's topics and services.
//!
//! ```no_run
//! use gantry_agent::{Agent, Config, Udp};
//!
//! # fn main() -> gantry_agent::Result<()> {
//! let agent = Agent::new(Config::default())?;
//! let udp = Udp::open(&agent, ([0, 0, 0, 0], 8888).into())?;
//! println!("clients connect to {}", udp.address());
//! # Ok(()) }
//! ```
//!
//! A client's participant is a node of Gantry, its data writers and data readers are publishers and subscriptions, its requesters and
//! repliers are clients and servers of services. Their bytes stay as they are, since both sides have little-endian CDR: data from a
//! client is copied once, into the memory that subscriptions read, and data for a client once, from the publisher's memory into the
//! message that is sent. Only big-endian data of a client is turned around first.
//!
//! # Invariants
//! - Bytes of clients are not trusted: a defect is answered or logged, and harms no other client. No thread waits for a client.
//! - What a client can take of the machine is limited ([`Limits`]), as is the rate of the log.
//! - Nothing is lost in silence: losses are counted ([`ClientStatistics`]) and logged.
//! - The lock of the table of clients is taken before that of a client.

#![forbid(unsafe_code)]

mod agent;
mod big_endian;
mod budget;
mod client;
mod clients;
mod clock;
mod config;
mod context;
mod error;
mod listener;
mod lock;
mod log;
mod names;
mod port;
mod qos;
mod shared;
mod slots;
mod ticker;
mod transport;
mod types;

pub use agent::Agent;
pub use client::{ClientStatistics, Counts};
pub use config::{Config, Limits};
pub use error::{Error, Result};
pub use gantry_xrce::framing::socket_can::Frame as CanFrame;
pub use log::{Level, Sink};
pub use port::Port;
pub use transport::{Can, CanFrameBits, CanTiming, PeerAddress, Serial, Tcp, Transport, Udp};
pub use types::Types;
