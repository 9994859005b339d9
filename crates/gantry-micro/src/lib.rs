#![doc = include_str!("../README.md")]
//!
//! # Invariants
//! - Nothing allocates. The caller provides all memory, and its size is known at compile time.
//! - Nothing blocks: [`Client::spin_once`] reads the bytes that have arrived, and writes the bytes that the line
//!   accepts without blocking. If there is no room for a message, the publish fails.
//! - Each loss is reported by an error, an [`Event`] or a counter.

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

// Limits for the sizes in bytes of the entities on a microcontroller. Entities with a queue have one slot here, without
// the bytes of a message.
#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(size_of::<Publisher<'static, ()>>() <= 64);
    assert!(size_of::<Subscription<'static, (), 1, 0>>() <= 80);
    assert!(size_of::<Service<'static, (), 1, 0>>() <= 80);
    assert!(size_of::<ServiceClient<'static, (), 1, 0>>() <= 80);
};
