//! Sessions: a client and an agent identify each other and move submessages over streams.
//!
//! [`Link`] is the code that both ends share: four streams and their acknowledgements. [`ClientSession`] connects,
//! keeps the connection alive and connects again; [`AgentSession`] answers. The caller moves the bytes. It passes each
//! received message to `receive`. It sends the messages that `transmit` returns until there are none, and calls
//! `transmit` again at `deadline`.
//!
//! # Extensions
//! A client and an agent of Gantry state the property [`EXTENSIONS`] when they connect. If both state it,
//! acknowledgements are delayed a little and are appended to the next message, and the request for a time stamp is as
//! long as its reply. To every other peer, they speak eProsima's dialect of DDS-XRCE.
//!
//! A client that has entropy adds a random number to the property, its boot nonce. By this number, the agent
//! distinguishes a login after a reset from a copy of an earlier CREATE_CLIENT.

mod agent;
mod client;
mod clock;
mod data;
mod greeting;
mod link;

pub use agent::{AgentEvent, AgentSession};
pub use client::{ClientConfig, ClientEvent, ClientSession, Disconnected};
pub use clock::{AgentClock, Exchange};
pub use data::{DATA_HEADER_BYTES, DataSlot, WriteError};
pub use greeting::{Peer, farewell, info, welcome};
pub use link::{Incoming, Link, LinkCounts, Loss};

use crate::wire::Property;

/// The property by which a client offers Gantry's extensions and an agent confirms them. In a client's property, four
/// bytes follow the value: the boot nonce in little-endian order, or 0 if the client has no nonce.
pub const EXTENSIONS: &[Property<'static>; 1] = &[Property { name: b"gantry", value: b"1" }];

/// The padding that makes a TIMESTAMP as long as its reply, which has two time stamps more.
const TIMESTAMP_PADDING_BYTES: usize = 16;
