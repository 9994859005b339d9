//! ROS 2-style publish and subscribe without copying messages.
//!
//! A message is built once, in place, in shared memory. Every subscription, in the same process or in another one,
//! reads that memory. There is no daemon and no configuration: the programs of one user find each other by domain and
//! topic.
//!
//! ```
//! use gantry::{Node, Qos};
//! use gantry_msgs::{sensor_msgs::msg::{Image, ImageShape}, std_msgs::msg::HeaderShape};
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
//! A program that runs until Ctrl-C calls [`init`] first. Ctrl-C then runs the shutdown functions and ends all spins
//! and waits, and the program's nodes use the arguments after `--ros-args`.
//!
//! The message types are generated from `.msg` files. ROS 2's types are in `gantry-msgs`; your own types need a
//! `build.rs` of three lines (`gantry-idl`). [`Publisher::publish_copy`] and [`Subscription::take_copy`] use owned
//! structs and copy the message.
//!
//! Endpoints of one process are matched as soon as both exist. The control thread of each process discovers the
//! endpoints of other processes. A subscription that is older than a publisher also gets this publisher's first
//! message, if the message is still in the publisher's history at the moment of discovery.
//!
//! Services work in the same way: [`Node::create_service`], [`Node::create_client`]. Requests and responses of any size
//! are built and read in place.
//!
//! The generic API publishes and takes the bytes of messages whose type is known only at run time:
//! [`Node::create_generic_publisher`], [`Node::create_generic_subscription`], [`Node::topic_types`]. The bytes are ROS
//! 2's wire format (CDR) without the encapsulation header: a bag recorder or a bridge prepends [`ENCAPSULATION`] and
//! converts nothing.
//!
//! ```
//! # fn main() -> gantry::Result<()> {
//! # let node = gantry::Node::new("generic_example")?;
//! # let range = gantry::TypeDescription {
//! #     name: "my_robot/msg/Range".into(), hash: [0; 32], definition: "float64 range_m".into(), payload_bytes: 8 };
//! # let mut talker = node.create_generic_publisher("generic_doc_example", range, gantry::Qos::default())?;
//! // As `ros2 topic echo`: only the topic's name is known.
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
//! The *data path* is to loan, write and publish, and to take, read and release. It allocates no memory, takes no lock
//! and does not block. The number of its steps is bounded; only reclaiming memory takes steps in proportion to the
//! number of subscriptions. Publishing makes one system call for each reader that sleeps, and none if the publisher is
//! asynchronous ([`PublishMode::Async`]). Each exception is documented under "Real-time" in the documentation of the
//! item.
//!
//! Everything else is the *control path*, which may allocate, block and make system calls. An item whose documentation
//! does not mention the data path is on the control path.
//!
//! A real-time loop makes its endpoints before it starts and waits until they are matched
//! ([`Publisher::wait_for_subscriptions`]). Then it publishes some messages, for which the publisher allocates memory
//! that it reuses later. See the example `control_loop`.
//!
//! A publisher belongs to one thread at a time (`&mut self`), so that publishing needs no lock;
//! [`Publisher::try_clone`] makes a publisher for another thread.
//!
//! Environment variables: `ROS_DOMAIN_ID` is the domain. `GANTRY_SHM_DIR` is the directory of the shared memory
//! (default `/dev/shm`). `GANTRY_LOG` is the level of the log lines on standard error in a program without a `tracing`
//! subscriber (`off`, `error`, `warn`, `info` or `debug`; default `warn`).

#![forbid(unsafe_code)]

mod callback;
mod context;
mod error;
mod events;
mod executor;
mod graph;
mod lock;
mod log;
mod node;
mod node_parameters;
mod parameter;
mod printable;
#[cfg(feature = "rosout")]
mod rosout;
mod service;
mod time;
mod topic;
mod wait;

pub use callback::{CallbackGroupType, CallbackHandle};
pub use context::{ok, on_shutdown, shutdown};
pub use error::{Error, MAX_DOMAIN_ID, Result};
pub use events::{Events, PublisherEvent, PublisherEvents, SubscriptionEvent, SubscriptionEvents};
pub use executor::{
    CallbackIsolatedExecutor, Collector, EventsExecutor, Executor, ExecutorHandle, Listener, ListenerSource,
    MultiThreadedExecutor, Overflow, SingleThreadedExecutor, WaitSet, spin, spin_all, spin_some, spin_until_complete,
};
pub use gantry_cdr::{self, ENCAPSULATION, Message, PlainMessage, Service as ServiceType};
pub use gantry_msgs::rcl_interfaces::msg::{
    FloatingPointRange, IntegerRange, ListParametersResult, ParameterDescriptor,
};
pub use gantry_shm::{
    Attachment, Bell, ConnectionState, Durability, Error as EngineError, Gid, History, Liveliness, PublishMode,
    PublisherOptions, Qos, QosPolicy, Reliability, RequestId, SampleInfo, SchedulingPolicy, SourceTime,
    TypeDescription, with_signals_blocked,
};
pub use graph::{Connection, EndpointType, GraphChanges, GraphEntity, GraphEvent, GraphEvents, TopicEndpointInfo};
pub use log::{LogLevel, Nth, is_logged, set_log_level, set_logger_level};
pub use node::{
    BRIDGE_NODE, CallbackGroup, Node, NodeBuilder, ServiceTopic, WeakNode, default_domain_id, expand_topic_name, init,
    init_with_arguments, other_hosts_variable, private_domain_id, remove_ros_arguments, service_topic,
};
pub use parameter::{
    Parameter, ParameterCallbackHandle, ParameterType, ParameterValue, ParameterVariant, parameters_from_yaml_file,
};
pub use printable::printable;
#[cfg(feature = "rosout")]
pub use rosout::RosoutLayer;
pub use service::{
    Client, GenericClient, GenericRequest, GenericResponse, GenericService, Request, Response, Service,
    ServiceConnection, ServiceTypeDescription, SharedClient,
};
pub use time::{Clock, Rate, Tick, Timer, now};
#[cfg(feature = "standard-types")]
pub use topic::standard_types;
pub use topic::{
    GenericLoan, GenericPublisher, GenericSample, GenericSubscription, Loan, MessageInfo, PublishError, Publisher,
    Sample, Subscription,
};
pub use wait::{GuardCondition, TakeFuture, TakeSource, Waitable};

/// Compiles the example programs of the READMEs and of the guide as doctests.
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
    #[doc = include_str!("../../../docs/guide/parameters.md")]
    struct Parameters;
    #[doc = include_str!("../../../docs/guide/messages.md")]
    struct Messages;
    #[doc = include_str!("../../../docs/guide/troubleshooting.md")]
    struct Troubleshooting;
}
