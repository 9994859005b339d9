//! ROS 2-style publish and subscribe without copying the messages.
//!
//! A message is built once, in place, in shared memory; every subscription, in the same process or in another one, reads
//! that same memory. No daemon, no configuration: programs of one user meet by domain and topic.
//!
//! ```
//! use gantry::{Node, Qos};
//! use gantry_msgs::{sensor_msgs::{Image, ImageShape}, std_msgs::HeaderShape};
//! use std::time::Duration;
//!
//! # fn main() -> gantry::Result<()> {
//! let node = Node::new("camera")?;
//! let mut publisher = node.create_publisher::<Image>("image_doc_example", Qos::default())?;
//! let mut subscription = node.create_subscription::<Image>("image_doc_example", Qos::default())?;
//!
//! let header = HeaderShape { frame_id: "camera" };
//! let mut image = publisher.loan_with(ImageShape { header, encoding: "rgb8", data: 640 * 480 * 3 })?; // shared memory
//! image.set_width(640);
//! image.set_height(480);
//! image.data_mut().fill(0x7f); // written in place
//! publisher.publish(image)?;
//!
//! if subscription.wait(Duration::from_secs(1))? {
//!     while let Some(image) = subscription.take()? {
//!         assert_eq!((image.header().frame_id(), image.encoding()), ("camera", "rgb8"));
//!         assert_eq!(image.data()[0], 0x7f); // read in place
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Messages come from `.msg` files: ROS 2's own are in `gantry-msgs`, one's own take one line in a `build.rs` (`gantry-idl`).
//! [`Publisher::publish_copy`] and [`Subscription::take_copy`] take and give owned structs: the copy path.
//!
//! A subscription meets the publishers that are there when it is made; later ones when it next takes, waits or counts (not
//! by itself, in this version). A publisher learns of subscriptions at its next call.
//!
//! Services are on the same path: [`Node::create_service`], [`Node::create_client`]. Requests and responses of any size are built
//! and read in place.
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
//! # Real-time
//! The *data path* is to loan, write and publish, to take, read and release. It allocates nothing, takes no lock, waits for nobody and
//! ends after a bounded number of steps, in the number of subscriptions when memory is reclaimed; it makes one system call for each
//! reader that sleeps, and none if the publisher is asynchronous ([`PublishMode::Async`]). What each item excepts, it says under
//! "Real-time". Everything else is the *control path*, which may do all of that; what is not said to be real-time is not. A loop that
//! relies on it makes its endpoints before, waits until they are matched ([`Publisher::wait_for_subscriptions`]), runs through some
//! messages so that memory is there, and keeps that memory ([`PublisherOptions::keep_unused_memory`]): the example `control_loop`.
//!
//! A publisher belongs to one thread at a time (`&mut self`), so that nothing is hidden behind it; [`Publisher::try_clone`] makes one for
//! another thread.
//!
//! Environment: `ROS_DOMAIN_ID` chooses the domain, `GANTRY_SHM_DIR` where the shared memory lies (default `/dev/shm`).

#![forbid(unsafe_code)]

mod callback;
mod error;
mod executor;
mod graph;
mod node;
mod service;
mod time;
mod topic;
mod wait;

pub use callback::{CallbackGroup, CallbackGroupType, CallbackHandle};
pub use error::{Error, MAX_DOMAIN_ID, Result};
pub use executor::{
    Canceler, EventsExecutor, Executor, MultiThreadedExecutor, Overflow, SingleThreadedExecutor, WaitSet,
};
pub use gantry_cdr::{self, ENCAPSULATION, Message, PlainMessage, Service as ServiceType};
pub use gantry_shm::{
    ConnectionState, Durability, Error as EngineError, Gid, History, Liveliness, PublishMode, PublisherEvent,
    PublisherOptions, Qos, QosPolicy, Reliability, RequestId, SampleInfo, SubscriptionEvent, TypeDescription,
};
pub use graph::{Connection, EndpointType, GraphEntity, GraphEvent, GraphEvents, TopicEndpointInfo};
pub use node::{Node, NodeBuilder, expand_topic_name};
pub use service::{Client, Request, Response, Service};
pub use time::{Clock, Tick, Timer};
pub use topic::{
    Events, GenericLoan, GenericPublisher, GenericSample, GenericSubscription, Loan, PublishError, Publisher,
    PublisherEvents, Sample, Subscription, SubscriptionEvents,
};
pub use wait::{TakeFuture, TakeSource, Waitable};

/// Compiles the programs of the READMEs and of the guide.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../README.md")]
    struct CrateReadme;
    #[doc = include_str!("../../../docs/guide/getting-started.md")]
    struct GettingStarted;
    #[doc = include_str!("../../../docs/guide/publish-subscribe.md")]
    struct PublishSubscribe;
    #[doc = include_str!("../../../docs/guide/qos.md")]
    struct Qos;
    #[doc = include_str!("../../../docs/guide/executors.md")]
    struct Executors;
    #[doc = include_str!("../../../docs/guide/services.md")]
    struct Services;
    #[doc = include_str!("../../../docs/guide/messages.md")]
    struct Messages;
    #[doc = include_str!("../../../docs/guide/troubleshooting.md")]
    struct Troubleshooting;
}
