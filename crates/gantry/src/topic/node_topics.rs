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
    /// Creates a publisher of `T` on `topic` (`/absolute`, `relative` to the namespace, or `~/private`). The QoS may
    /// be a depth: `10` is the default profile with the last 10 samples.
    ///
    /// # Errors
    /// A name that ROS 2 does not allow, a depth out of range, no room in shared memory.
    pub fn create_publisher<T: Message>(&self, topic: &str, qos: impl Into<Qos>) -> Result<Publisher<T>> {
        self.create_publisher_with_options(topic, qos, PublisherOptions::default())
    }

    /// As [`Node::create_publisher`], with options.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`]; a memory limit below two messages.
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
    /// The errors of [`Node::create_publisher`]; a publisher's memory that cannot be mapped.
    pub fn create_subscription<T: Message>(&self, topic: &str, qos: impl Into<Qos>) -> Result<Subscription<T>> {
        Ok(Subscription::new(self.create_generic_subscription(topic, type_description::<T>(), qos)?))
    }

    /// Creates a publisher of bytes on `topic`, whose type is `message_type`; [`GenericPublisher`] states the format
    /// of the bytes.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`]; a description of more than 1 MiB.
    pub fn create_generic_publisher(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericPublisher> {
        self.create_generic_publisher_with_options(topic, message_type, qos, PublisherOptions::default())
    }

    /// As [`Node::create_generic_publisher`], with options.
    ///
    /// # Errors
    /// The errors of [`Node::create_generic_publisher`]; a memory limit below two messages.
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

    /// Creates a subscription to bytes on `topic`, whose type is `message_type`.
    ///
    /// # Errors
    /// The errors of [`Node::create_subscription`]; a description of more than 1 MiB.
    pub fn create_generic_subscription(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: impl Into<Qos>,
    ) -> Result<GenericSubscription> {
        let qos = qos.into();
        self.subscription_on(&self.topic_name(topic, &qos)?, message_type, qos)?.look_at_other_domains()
    }

    /// The full name of a topic; with `avoid_ros_namespace_conventions`, the given name is used unchanged.
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

    /// Waits for one message on `topic`, with a subscription of its own that requests `qos`; `None` after `timeout`
    /// or a shutdown (rclcpp's `wait_for_message`). The sample does not change for as long as it is held.
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
            // A wait may end because of a sample that expires before the take, so the wait is repeated.
            if !subscription.wait(remaining(deadline))? {
                return Ok(None);
            }
        }
    }

    /// The types that are published on `topic` now, for a tool that knows only the topic's name. Each type occurs
    /// once: the list is empty without publishers, and has several types if publishers disagree.
    ///
    /// # Errors
    /// A name that ROS 2 does not allow; the domain cannot be read.
    pub fn topic_types(&self, topic: &str) -> Result<Vec<TypeDescription>> {
        self.types_of(topic, |role| role == Role::Publisher)
    }

    /// As [`Node::topic_types`], including the types of the subscriptions, for a program that makes a
    /// publisher for these.
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
                    // A type that came over a network has no definition.
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

    /// Creates a subscription with a callback, which this node's executor calls with each message.
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
    /// As [`Node::create_subscription_with_callback`], in this group.
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

/// A function without a type parameter, so that it is compiled only once.
fn describe(name: &str, hash: [u8; 32], definition: &str, payload_bytes: usize) -> TypeDescription {
    TypeDescription { name: name.to_owned(), hash, definition: definition.into(), payload_bytes }
}
