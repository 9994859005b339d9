//! ROS 2-style publish and subscribe without copying the messages.
//!
//! A message is built once, in place, in shared memory; every subscription, in the same process or in another one, reads
//! that same memory. No daemon, no configuration: programs of one user meet by domain and topic.
//!
//! ```
//! use gantry::{Message, Node, Qos, zerocopy::*};
//! use std::time::Duration;
//!
//! #[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
//! #[repr(C)]
//! struct Range { range_m: f64 }
//! impl Message for Range {
//!     const TYPE_NAME: &'static str = "my_robot/msg/Range";
//!     const DEFINITION: &'static str = "float64 range_m";
//! }
//!
//! # fn main() -> gantry::Result<()> {
//! let node = Node::new("example")?;
//! let mut publisher = node.create_publisher::<Range>("range_doc_example", Qos::default())?;
//! let mut subscription = node.create_subscription::<Range>("range_doc_example", Qos::default())?;
//!
//! let mut loan = publisher.loan()?; // shared memory
//! loan.range_m = 1.5; // written in place
//! publisher.publish(loan)?;
//!
//! if subscription.wait(Duration::from_secs(1))? {
//!     while let Some(sample) = subscription.take()? {
//!         assert_eq!(sample.range_m, 1.5); // read in place
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! A subscription meets the publishers that are there when it is made; later ones when it next takes, waits or counts (not
//! by itself, in this version). A publisher learns of subscriptions at its next call.
//!
//! Underneath lies a generic API, which moves bytes with a description of their type that is known at run time only:
//! [`Node::create_generic_publisher`], [`Node::create_generic_subscription`], [`Node::topic_types`]. The bytes are ROS 2's own
//! (CDR), so a bag or a bridge needs [`ENCAPSULATION`] before them and no conversion.
//!
//! ```
//! # fn main() -> gantry::Result<()> {
//! # let node = gantry::Node::new("generic_example")?;
//! # let range = gantry::TypeDescription {
//! #     name: "my_robot/msg/Range".into(), hash: [0; 32], definition: "float64 range_m".into(), payload_bytes: 8 };
//! # let mut talker = node.create_generic_publisher("generic_doc_example", range, gantry::Qos::default())?;
//! // Only the topic's name is known: `ros2 topic echo`.
//! for message_type in node.topic_types("generic_doc_example")? {
//!     println!("{}\n{}", message_type.name, message_type.definition);
//!     let mut subscription = node.create_generic_subscription("generic_doc_example", message_type, gantry::Qos::default())?;
//!     # talker.publish_copy(&1.5f64.to_le_bytes())?;
//!     # assert!(subscription.wait(std::time::Duration::from_secs(1))?);
//!     while let Some(sample) = subscription.take()? {
//!         println!("{}: {:02x?}", sample.message_info().sequence, sample.bytes()); // in place
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Environment: `ROS_DOMAIN_ID` chooses the domain, `GANTRY_SHM_DIR` where the shared memory lies (default `/dev/shm`).

#![forbid(unsafe_code)]

mod clock;
mod error;
mod generic_publisher;
mod generic_subscription;
mod message;
mod names;
mod node;
mod publisher;
mod subscription;

pub use error::{Error, Result};
pub use gantry_shm::{
    Durability, ENCAPSULATION, Error as MemoryError, Gid, History, Liveliness, PublisherOptions, Qos, Reliability,
    SampleInfo, TypeDescription,
};
pub use generic_publisher::{GenericLoan, GenericPublisher, Unpublished};
pub use generic_subscription::{GenericSample, GenericSubscription};
pub use message::Message;
pub use names::expand_topic_name;
pub use node::{MAX_DOMAIN_ID, Node, NodeBuilder};
pub use publisher::{Loan, Publisher};
pub use subscription::{Sample, Subscription};
pub use zerocopy;

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
