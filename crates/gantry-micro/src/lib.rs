#![doc = include_str!("../README.md")]
//!
//! # Invariants
//! - Nothing allocates. The caller provides all memory, whose size is known at compile time.
//! - Nothing blocks: [`Client::spin_once`] reads the bytes that have arrived and writes the bytes that the line
//!   accepts without blocking. A publish for which there is no room fails.
//! - No loss is silent: each one is an error, an [`Event`] or a count.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

mod error;
mod event;
mod publisher;
mod qos;
mod service;
mod service_client;
mod session;
mod subscription;
pub mod transport;

pub use error::{CreateError, PublishError};
pub use event::Event;
pub use gantry_cdr;
pub use gantry_xrce::{
    session::{AgentClock, Disconnected, LinkCounts, Loss},
    time::Instant,
    wire::{ClientKey, RequestId, ResultStatus, SampleIdentity, StatusValue, Time},
};
pub use publisher::Publisher;
pub use qos::{Durability, Qos, Reliability};
pub use service::Service;
pub use service_client::ServiceClient;
pub use session::{Client, EntityCounts, EntityState, Memory, Node, SampleBytes};
pub use subscription::Subscription;
pub use transport::Transport;

// The limits for a microcontroller: the size in bytes of each entity with a slot for one message, not counting the
// message itself.
#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(size_of::<Publisher<'static, ()>>() <= 64);
    assert!(size_of::<Subscription<'static, (), 1, 0>>() <= 80);
    assert!(size_of::<Service<'static, (), 1, 0>>() <= 80);
    assert!(size_of::<ServiceClient<'static, (), 1, 0>>() <= 80);
};
