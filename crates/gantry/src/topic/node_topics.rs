//! The methods of a node that make publishers and subscriptions.

use super::{
    generic_publisher::GenericPublisher,
    generic_subscription::GenericSubscription,
    publisher::Publisher,
    subscription::{Sample, Subscription},
};
use crate::{
    callback::CallbackHandle,
    error::Result,
    log,
    node::{CallbackGroup, Node, check_native_topic},
    time::remaining,
};
use gantry_cdr::Message;
use gantry_shm::{PublisherOptions, Qos, Role, TypeDescription};
use std::time::{Duration, Instant};

impl Node {
    /// Creates a publisher of `T` on `topic` (`/absolute`, `relative` to the namespace, or `~/private`). The QoS may be
    /// just a depth: `10` means the default profile with the last 10 samples.
    ///
    /// # Errors
    /// ROS 2 does not allow the name; the depth is out of range; shared memory has no room.
    pub fn create_publisher<T: Message>(&self, topic: &str, qos: impl Into<Qos>) -> Result<Publisher<T>> {
        self.create_publisher_with_options(topic, qos, PublisherOptions::default())
    }

    /// Creates a publisher as [`Node::create_publisher`] does, with options.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`]; the memory limit is below two messages.
    pub fn create_publisher_with_options<T: Message>(
        &self,
        topic: &str,
        qos: impl Into<Qos>,
        options: PublisherOptions,
    ) -> Result<Publisher<T>> {
        let generic = self.create_generic_publisher_with_options(topic, type_description::<T>(), qos, options)?;
        Ok(Publisher::new(generic))
    }

    /// Creates a subscription to `T` on `topic` (`/absolute`, `relative` to the namespace, or `~/private`). The QoS
    /// may be a depth, as in [`Node::create_publisher`].
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`]; a publisher's memory cannot be mapped.
    pub fn create_subscription<T: Message>(&self, topic: &str, qos: impl Into<Qos>) -> Result<Subscription<T>> {
        Ok(Subscription::new(self.create_generic_subscription(topic, type_description::<T>(), qos)?))
    }

    /// Creates a publisher of bytes on `topic`. Its type is `message_type`, and [`GenericPublisher`] describes the
    /// format of the bytes.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`]; the type description has more than 1 MiB.
    pub fn create_generic_publisher(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericPublisher> {
        self.create_generic_publisher_with_options(topic, message_type, qos, PublisherOptions::default())
    }

    /// Creates a publisher as [`Node::create_generic_publisher`] does, with options.
    ///
    /// # Errors
    /// The errors of [`Node::create_generic_publisher`]; the memory limit is below two messages.
    pub fn create_generic_publisher_with_options(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: impl Into<Qos>,
        options: PublisherOptions,
    ) -> Result<GenericPublisher> {
        let qos = qos.into();
        self.publisher_on(&self.topic_name(topic, &qos)?, message_type, qos, options)
    }

    /// Creates a subscription to bytes on `topic`, with the type `message_type`.
    ///
    /// # Errors
    /// The errors of [`Node::create_subscription`]; the type description has more than 1 MiB.
    pub fn create_generic_subscription(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericSubscription> {
        let qos = qos.into();
        self.subscription_on(&self.topic_name(topic, &qos)?, message_type, qos)?.look_at_other_domains()
    }

    /// The full name of a topic. With `avoid_ros_namespace_conventions`, the given name stays unchanged.
    fn topic_name(&self, topic: &str, qos: &Qos) -> Result<String> {
        match qos.avoid_ros_namespace_conventions {
            true => check_native_topic(topic).map(|()| topic.to_owned()),
            false => self.resolve_topic_name(topic),
        }
    }

    /// Creates a publisher on a topic whose full name is known.
    pub(crate) fn publisher_on(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
        options: PublisherOptions,
    ) -> Result<GenericPublisher> {
        let (node, participant) = (self.fully_qualified_name(), self.participant().clone());
        let mut engine = gantry_shm::Publisher::new(participant, &node, topic, message_type, qos, options)?;
        log::debug(&node, format_args!("publishes {topic}"));
        engine.take_first_mismatches().iter().for_each(|why| log::warn(&node, why));
        Ok(GenericPublisher::new(engine, self.presence().clone()))
    }

    /// Creates a subscription to a topic whose full name is known.
    pub(crate) fn subscription_on(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<GenericSubscription> {
        let (node, participant) = (self.fully_qualified_name(), self.participant().clone());
        let engine = gantry_shm::Subscription::new(participant, &node, topic, message_type, qos)?;
        log::debug(&node, format_args!("subscribes to {topic}"));
        engine.on_mismatch(move |why| log::warn(&node, why));
        Ok(GenericSubscription::new(engine, self.presence().clone()))
    }

    /// Waits for one message on `topic`, with a temporary subscription that requests `qos` (rclcpp's
    /// `wait_for_message`). Returns `None` after `timeout` or a shutdown. The sample does not change while it is held.
    ///
    /// # Errors
    /// The errors of [`Node::create_subscription`], [`Subscription::wait`] and [`Subscription::take`].
    pub fn wait_for_message<T: Message>(
        &self,
        topic: &str,
        qos: impl Into<Qos>,
        timeout: Duration,
    ) -> Result<Option<Sample<T>>> {
        let mut subscription = self.create_subscription::<T>(topic, qos)?;
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if let Some(sample) = subscription.take()? {
                return Ok(Some(sample));
            }
            // A sample may end the wait and expire before the take, so the wait is repeated.
            if !subscription.wait(remaining(deadline))? {
                return Ok(None);
            }
        }
    }

    /// Returns the types that are published on `topic` now, for a tool that knows only the topic's name. Each type
    /// occurs once. The list is empty without publishers, and has several types if publishers disagree.
    ///
    /// # Errors
    /// ROS 2 does not allow the name; the domain cannot be read.
    pub fn topic_types(&self, topic: &str) -> Result<Vec<TypeDescription>> {
        self.types_of(topic, |role| role == Role::Publisher)
    }

    /// Returns the types of the topic's publishers and subscriptions. A program that makes a publisher for existing
    /// subscriptions needs it; otherwise use [`Node::topic_types`].
    ///
    /// # Errors
    /// The errors of [`Node::topic_types`].
    pub fn endpoint_types(&self, topic: &str) -> Result<Vec<TypeDescription>> {
        self.types_of(topic, |role| role != Role::Node)
    }

    fn types_of(&self, topic: &str, is_asked: impl Fn(Role) -> bool) -> Result<Vec<TypeDescription>> {
        let endpoints = self.participant().endpoints_of(&self.resolve_topic_name(topic)?)?;
        let endpoints = endpoints.into_iter().map(|entry| entry.description);
        let asked = endpoints.filter(|endpoint| is_asked(endpoint.role));
        let mut types: Vec<TypeDescription> = Vec::new();
        for found in asked.map(|endpoint| endpoint.message_type.clone()) {
            match types.iter_mut().find(|known| known.matches(&found)) {
                Some(known) => {
                    known.payload_bytes = known.payload_bytes.max(found.payload_bytes);
                    // A type from another host has no definition.
                    if known.definition.is_empty() {
                        known.definition = found.definition;
                    }
                }
                None => types.push(found),
            }
        }
        types.sort_unstable();
        Ok(types)
    }

    /// Creates a subscription with a callback. This node's executor calls the callback with each message.
    ///
    /// # Errors
    /// The errors of [`Node::create_subscription`].
    pub fn create_subscription_with_callback<T>(
        &self,
        topic: &str,
        qos: impl Into<Qos>,
        mut callback: impl FnMut(Sample<T>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        T: Message,
        Sample<T>: Send,
    {
        let subscription = self.create_subscription::<T>(topic, qos)?;
        Ok(self.add_callback(subscription, move |_, sample| callback(sample)))
    }
}

impl CallbackGroup {
    /// Creates a subscription as [`Node::create_subscription_with_callback`] does, with the callback in this group.
    ///
    /// # Errors
    /// As that method.
    pub fn create_subscription_with_callback<T>(
        &self,
        topic: &str,
        qos: impl Into<Qos>,
        mut callback: impl FnMut(Sample<T>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        T: Message,
        Sample<T>: Send,
    {
        let subscription = self.node().create_subscription::<T>(topic, qos)?;
        Ok(self.add_callback(subscription, move |_, sample| callback(sample)))
    }
}

/// The description of the message type `T` for the engine.
pub(crate) fn type_description<T: Message>() -> TypeDescription {
    const {
        assert!(gantry_cdr::BODY_ALIGN <= gantry_shm::PAYLOAD_ALIGN, "a body begins where a payload does");
        let (written, said) = (gantry_cdr::ENCAPSULATION, gantry_shm::ENCAPSULATION);
        assert!(u32::from_ne_bytes(written) == u32::from_ne_bytes(said), "slots say what bodies are");
    };
    describe(T::TYPE_NAME, T::TYPE_HASH, T::DEFINITION, T::MAX_BYTES)
}

/// Makes a description. The function has no type parameter, so it is compiled only once.
fn describe(name: &str, hash: [u8; 32], definition: &str, payload_bytes: usize) -> TypeDescription {
    TypeDescription { name: name.to_owned(), hash, definition: definition.into(), payload_bytes }
}
