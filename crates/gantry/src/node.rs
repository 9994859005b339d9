//! A node: a name in a domain, from which publishers and subscriptions are made. Control path.

use crate::{
    callback_group::{CallbackGroup, CallbackGroupType, CallbackHandle, Callbacks},
    clock::Clock,
    error::{Error, Result},
    generic_publisher::GenericPublisher,
    generic_subscription::GenericSubscription,
    names,
    publisher::Publisher,
    subscription::{Sample, Subscription},
    timer::{Tick, Timer},
    waitable::Take,
};
use gantry_cdr::Message;
use gantry_shm::{Participant, PublisherOptions, Qos, TypeDescription};
use std::{sync::Arc, time::Duration};

/// Largest domain: ROS 2's on Linux.
pub const MAX_DOMAIN_ID: u32 = 232;
const DOMAIN_VARIABLE: &str = "ROS_DOMAIN_ID";

/// A named member of a domain; clones are the same node. Nodes of one process share its part in the domain.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    participant: Arc<Participant>,
    name: String,
    namespace: String,
    callbacks: Arc<Callbacks>,
    default_group: CallbackGroup,
}

/// How a node is to be made.
#[derive(Clone, Debug)]
pub struct NodeBuilder {
    name: String,
    namespace: String,
    domain_id: Option<u32>,
}

impl Node {
    /// A node in the root namespace and in the domain of `ROS_DOMAIN_ID` (0 if unset).
    ///
    /// # Errors
    /// As [`NodeBuilder::build`].
    pub fn new(name: &str) -> Result<Node> {
        Node::builder(name).build()
    }

    /// A node with a namespace or a domain of its own choice.
    #[must_use]
    pub fn builder(name: &str) -> NodeBuilder {
        NodeBuilder { name: name.to_owned(), namespace: "/".to_owned(), domain_id: None }
    }

    /// Its name, with the namespace.
    #[must_use]
    pub fn fully_qualified_name(&self) -> String {
        format!("{}/{}", self.0.namespace.trim_end_matches('/'), self.0.name)
    }

    /// Its domain.
    #[must_use]
    pub fn domain_id(&self) -> u32 {
        self.participant().domain_id()
    }

    /// A publisher of `T` on `topic` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow, a depth out of range, no room in shared memory.
    pub fn create_publisher<T: Message>(&self, topic: &str, qos: Qos) -> Result<Publisher<T>> {
        self.create_publisher_with_options(topic, qos, PublisherOptions::default())
    }

    /// As [`Node::create_publisher`], with limits of one's own.
    ///
    /// # Errors
    /// As [`Node::create_publisher`]; a memory limit in which not even two messages fit.
    pub fn create_publisher_with_options<T: Message>(
        &self,
        topic: &str,
        qos: Qos,
        options: PublisherOptions,
    ) -> Result<Publisher<T>> {
        let generic = self.create_generic_publisher_with_options(topic, type_description::<T>(), qos, options)?;
        Ok(Publisher::new(generic))
    }

    /// A subscription to `T` on `topic` (`/absolute`, `relative` to the namespace, or `~/private`).
    ///
    /// # Errors
    /// As [`Node::create_publisher`]; a publisher's memory that cannot be mapped.
    pub fn create_subscription<T: Message>(&self, topic: &str, qos: Qos) -> Result<Subscription<T>> {
        Ok(Subscription::new(self.create_generic_subscription(topic, type_description::<T>(), qos)?))
    }

    /// A subscription whose messages an executor that has this node gives to `callback`, one at a time.
    ///
    /// # Errors
    /// As [`Node::create_subscription`].
    pub fn create_subscription_with_callback<T>(
        &self,
        topic: &str,
        qos: Qos,
        mut callback: impl FnMut(Sample<T>) + Send + 'static,
    ) -> Result<CallbackHandle>
    where
        T: Message,
        Sample<T>: Send,
    {
        let subscription = self.create_subscription::<T>(topic, qos)?;
        Ok(self.add_callback(subscription, move |_, sample| callback(sample)))
    }

    /// A timer on the steady clock that goes off every `period`; [`Timer`] has others.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer(&self, period: Duration) -> Result<Timer> {
        Timer::new(&Clock::steady(), period)
    }

    /// A timer at each of whose ticks an executor that has this node calls `callback`; what is returned cancels and resets it.
    ///
    /// # Errors
    /// A period of 0.
    pub fn create_timer_with_callback(
        &self,
        period: Duration,
        mut callback: impl FnMut(Tick) + Send + 'static,
    ) -> Result<Timer> {
        let timer = self.create_timer(period)?;
        self.add_callback(timer.clone(), move |_, tick| callback(tick));
        Ok(timer)
    }

    /// A group for callbacks of this node.
    #[must_use]
    pub fn create_callback_group(&self, kind: CallbackGroupType) -> CallbackGroup {
        CallbackGroup::new(self.callbacks().clone(), kind)
    }

    /// Gives `waitable` to this node's executor, in the node's default group, which is mutually exclusive; see
    /// [`CallbackGroup::add_callback`].
    pub fn add_callback<W>(
        &self,
        waitable: W,
        callback: impl FnMut(&mut W, W::Taken) + Send + 'static,
    ) -> CallbackHandle
    where
        W: Take + 'static,
        W::Taken: Send,
    {
        self.0.default_group.add_callback(waitable, callback)
    }

    /// A publisher of bytes on `topic`, whose type is `message_type`: a [`GenericPublisher`] says what the bytes must be.
    ///
    /// # Errors
    /// As [`Node::create_publisher`]; a description of more than 1 MiB.
    pub fn create_generic_publisher(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<GenericPublisher> {
        self.create_generic_publisher_with_options(topic, message_type, qos, PublisherOptions::default())
    }

    /// As [`Node::create_generic_publisher`], with limits of one's own.
    ///
    /// # Errors
    /// As [`Node::create_generic_publisher`]; a memory limit in which not even two messages fit.
    pub fn create_generic_publisher_with_options(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
        options: PublisherOptions,
    ) -> Result<GenericPublisher> {
        let (topic, node) = (self.topic_name(topic)?, self.fully_qualified_name());
        let participant = self.participant().clone();
        let engine = gantry_shm::Publisher::new(participant, &node, &topic, message_type, qos, options)?;
        Ok(GenericPublisher::new(engine))
    }

    /// A subscription to bytes on `topic`, whose type is `message_type`.
    ///
    /// # Errors
    /// As [`Node::create_subscription`]; a description of more than 1 MiB.
    pub fn create_generic_subscription(
        &self,
        topic: &str,
        message_type: TypeDescription,
        qos: Qos,
    ) -> Result<GenericSubscription> {
        let (topic, node) = (self.topic_name(topic)?, self.fully_qualified_name());
        let engine = gantry_shm::Subscription::new(self.participant().clone(), &node, &topic, message_type, qos)?;
        Ok(GenericSubscription::new(engine))
    }

    /// The types that are published on `topic` now, each once, for a tool that knows only the topic's name; none if it has no
    /// publishers, more than one if they do not agree. Control path.
    ///
    /// # Errors
    /// A name that ROS 2 does not allow; the domain cannot be read.
    pub fn topic_types(&self, topic: &str) -> Result<Vec<TypeDescription>> {
        let publishers = self.participant().publishers(&self.topic_name(topic)?)?;
        let mut types: Vec<_> = publishers.into_iter().map(|publisher| publisher.message_type).collect();
        types.sort_unstable();
        types.dedup();
        Ok(types)
    }

    fn topic_name(&self, topic: &str) -> Result<String> {
        names::expand_topic_name(topic, &self.0.name, &self.0.namespace)
    }

    /// This process's part in the domain.
    pub(crate) fn participant(&self) -> &Arc<Participant> {
        &self.0.participant
    }

    /// What an executor runs.
    pub(crate) fn callbacks(&self) -> &Arc<Callbacks> {
        &self.0.callbacks
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({}, domain {})", self.fully_qualified_name(), self.domain_id())
    }
}

impl NodeBuilder {
    /// Puts the node in a namespace.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Self {
        NodeBuilder { namespace: namespace.to_owned(), ..self }
    }

    /// Puts the node in a domain, whatever `ROS_DOMAIN_ID` says.
    #[must_use]
    pub fn domain_id(self, domain_id: u32) -> Self {
        NodeBuilder { domain_id: Some(domain_id), ..self }
    }

    /// Joins the domain, under `/dev/shm` or where `GANTRY_SHM_DIR` says.
    ///
    /// # Errors
    /// A name or domain that ROS 2 does not allow; the shared memory cannot be set up or trusted.
    pub fn build(self) -> Result<Node> {
        names::check_node(&self.name)?;
        let namespace = names::full_namespace(&self.namespace)?;
        let domain_id = match self.domain_id {
            Some(id) if id <= MAX_DOMAIN_ID => id,
            Some(id) => return Err(Error::InvalidDomain { origin: "the domain", value: id.to_string() }),
            None => domain_of_environment()?,
        };
        let participant = Participant::join(domain_id)?;
        let callbacks = Arc::<Callbacks>::default();
        let default_group = CallbackGroup::new(callbacks.clone(), CallbackGroupType::MutuallyExclusive);
        Ok(Node(Arc::new(Inner { participant, name: self.name, namespace, callbacks, default_group })))
    }
}

fn domain_of_environment() -> Result<u32> {
    let value = std::env::var_os(DOMAIN_VARIABLE).unwrap_or_default();
    let value = value.to_string_lossy();
    match value.trim() {
        "" => Ok(0),
        text => text
            .parse()
            .ok()
            .filter(|id| *id <= MAX_DOMAIN_ID)
            .ok_or_else(|| Error::InvalidDomain { origin: DOMAIN_VARIABLE, value: text.to_owned() }),
    }
}

/// What the engine is told about `T`.
fn type_description<T: Message>() -> TypeDescription {
    const {
        assert!(gantry_cdr::BODY_ALIGN <= gantry_shm::PAYLOAD_ALIGN, "a body begins where a payload does");
        let (written, said) = (gantry_cdr::ENCAPSULATION, gantry_shm::ENCAPSULATION);
        assert!(u32::from_ne_bytes(written) == u32::from_ne_bytes(said), "slots say what bodies are");
    };
    TypeDescription {
        name: T::TYPE_NAME.to_owned(),
        hash: T::TYPE_HASH,
        definition: T::DEFINITION.to_owned(),
        payload_bytes: T::MAX_BYTES,
    }
}
