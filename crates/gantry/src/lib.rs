//! ROS 2-style publish and subscribe without copying the messages. (Skeleton: signatures are final, bodies follow.)
#![forbid(unsafe_code)]
#![allow(missing_docs, unused, clippy::all)]
use std::{marker::PhantomData, time::Duration, ops::{Deref, DerefMut}};
pub use gantry_shm::{Durability, History, Liveliness, Qos, Reliability};
pub use zerocopy;

/// A fixed-size message whose bytes in memory are its bytes on the wire.
pub trait Message: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::KnownLayout + zerocopy::Immutable + Send + 'static {
    /// ROS 2 type name, as `sensor_msgs/msg/Image`.
    const TYPE_NAME: &'static str;
    /// The definition that two ends must agree on (text).
    const DEFINITION: &'static str;
}

/// Errors are sentences with the values in them and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String); // becomes the engine's error enum; Display is all you may rely on

pub struct Node;
pub struct NodeBuilder;
impl Node {
    /// A node in the domain of `ROS_DOMAIN_ID` (0 if unset), namespace `/`.
    pub fn new(name: &str) -> Result<Node, Error> { todo!() }
    pub fn builder(name: &str) -> NodeBuilder { todo!() }
    pub fn create_publisher<T: Message>(&self, topic: &str, qos: Qos) -> Result<Publisher<T>, Error> { todo!() }
    pub fn create_subscription<T: Message>(&self, topic: &str, qos: Qos) -> Result<Subscription<T>, Error> { todo!() }
}
impl NodeBuilder {
    pub fn namespace(self, namespace: &str) -> Self { todo!() }
    pub fn domain_id(self, domain_id: u32) -> Self { todo!() }
    pub fn build(self) -> Result<Node, Error> { todo!() }
}
pub struct Publisher<T>(PhantomData<T>);
impl<T: Message> Publisher<T> {
    /// A slot of shared memory, holding whatever it last held. Does not borrow the publisher: several may be out at once.
    pub fn loan(&mut self) -> Result<Loan<T>, Error> { todo!() }
    /// Publishes in place; returns the sequence number (1, 2, …).
    pub fn publish(&mut self, loan: Loan<T>) -> Result<u64, Error> { todo!() }
    /// Copies `message` into a slot and publishes it.
    pub fn publish_copy(&mut self, message: &T) -> Result<u64, Error> { todo!() }
    /// Matched subscriptions right now (control path).
    pub fn subscription_count(&mut self) -> Result<usize, Error> { todo!() }
    /// Waits until at least `count` subscriptions are matched; false on time-out.
    pub fn wait_for_subscriptions(&mut self, count: usize, timeout: Duration) -> Result<bool, Error> { todo!() }
    /// The topic's full name.
    pub fn topic(&self) -> &str { todo!() }
}
pub struct Loan<T>(PhantomData<T>);
impl<T: Message> Deref for Loan<T> { type Target = T; fn deref(&self) -> &T { todo!() } }
impl<T: Message> DerefMut for Loan<T> { fn deref_mut(&mut self) -> &mut T { todo!() } }
pub struct Subscription<T>(PhantomData<T>);
impl<T: Message> Subscription<T> {
    /// The next sample, in place; None when there is nothing new.
    pub fn take(&mut self) -> Result<Option<Sample<T>>, Error> { todo!() }
    /// Waits until there is something to take, at most `timeout`; true if there is. Bounded adaptive spin, then a futex.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, Error> { todo!() }
    /// Matched publishers right now (control path).
    pub fn publisher_count(&mut self) -> Result<usize, Error> { todo!() }
    /// Samples that a KEEP_LAST history overwrote before they were taken, since creation.
    pub fn overwritten(&self) -> u64 { todo!() }
    /// Why publishers of this topic are not matched, one sentence each (other type, incompatible QoS).
    pub fn mismatches(&self) -> Vec<String> { todo!() }
    pub fn topic(&self) -> &str { todo!() }
}
/// A sample that owns its loan: keep it, send it to another thread, drop it in any order.
pub struct Sample<T>(PhantomData<T>);
impl<T: Message> Deref for Sample<T> { type Target = T; fn deref(&self) -> &T { todo!() } }
impl<T: Message> Sample<T> { pub fn info(&self) -> SampleInfo { todo!() } }
#[derive(Clone, Copy, Debug)]
pub struct SampleInfo {
    /// The publisher's count of this sample: 1, 2, …
    pub sequence: u64,
    /// When it was published, CLOCK_MONOTONIC.
    pub source_time_ns: u64,
    /// Which publisher it came from.
    pub publisher_gid: [u8; 16],
}
