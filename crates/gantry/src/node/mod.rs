//! A node: a name in a domain, from which publishers and subscriptions are made. Control path.

pub(crate) mod names;
mod node_callbacks;
mod presence;
mod remap;

pub use names::expand_topic_name;
pub(crate) use presence::Presence;

use crate::{
    callback::{CallbackGroup, CallbackGroupType, Callbacks},
    error::{Error, MAX_DOMAIN_ID, Result},
};
use gantry_shm::Participant;
use remap::{NameKind, Remapped};
use std::sync::Arc;

const DOMAIN_VARIABLE: &str = "ROS_DOMAIN_ID";

/// A named member of a domain; clones are the same node. The others see it until the last clone and all that was made of it are dropped,
/// or its process dies. Nodes of one process share its part in the domain; a name may be given to several.
///
/// # Real-time
/// Not for real-time threads: what is made of it takes locks, allocates and makes system calls to be made.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    participant: Arc<Participant>,
    names: Remapped,
    presence: Arc<Presence>,
    callbacks: Arc<Callbacks>,
    default_group: CallbackGroup,
}

/// How a node is to be made.
///
/// # Real-time
/// Not for real-time threads: it takes locks and makes system calls.
#[derive(Clone, Debug)]
pub struct NodeBuilder {
    name: String,
    namespace: String,
    domain_id: Option<u32>,
    /// Rules, and arguments in which there may be more.
    remappings: Vec<String>,
    arguments: Vec<String>,
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
        let (remappings, arguments) = (Vec::new(), Vec::new());
        NodeBuilder { name: name.to_owned(), namespace: "/".to_owned(), domain_id: None, remappings, arguments }
    }

    /// Its name, after remapping.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.names.node
    }

    /// Its namespace, after remapping, beginning with a slash.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.0.names.namespace
    }

    /// Its name, with the namespace.
    #[must_use]
    pub fn fully_qualified_name(&self) -> String {
        self.0.names.fully_qualified_name()
    }

    /// Its domain.
    #[must_use]
    pub fn domain_id(&self) -> u32 {
        self.0.participant.domain_id()
    }

    /// The full name of a topic as this node uses it: expanded ([`expand_topic_name`](crate::expand_topic_name)), then remapped
    /// ([`NodeBuilder::remap`]).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow.
    pub fn resolve_topic_name(&self, topic: &str) -> Result<String> {
        self.0.names.resolve(NameKind::Topic, topic)
    }

    /// The same of a service.
    ///
    /// # Errors
    /// A name that ROS 2 does not allow.
    pub fn resolve_service_name(&self, service: &str) -> Result<String> {
        self.0.names.resolve(NameKind::Service, service)
    }

    pub(crate) fn participant(&self) -> &Arc<Participant> {
        &self.0.participant
    }

    /// What an executor runs.
    pub(crate) fn callbacks(&self) -> &Arc<Callbacks> {
        &self.0.callbacks
    }

    pub(crate) fn default_group(&self) -> &CallbackGroup {
        &self.0.default_group
    }

    pub(crate) fn presence(&self) -> &Arc<Presence> {
        &self.0.presence
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

    /// Uses another name for a topic or service: `from` and `to` are what a remapping rule of ROS 2 has on its two sides, as
    /// `("chatter", "news")`, `("__ns", "/left")`, `("rosservice:///map", "/old_map")`. Of several rules, the first that fits a name
    /// is applied; those given so come before those of [`NodeBuilder::ros_arguments`].
    #[must_use]
    pub fn remap(mut self, from: &str, to: &str) -> Self {
        self.remappings.push(format!("{from}:={to}"));
        self
    }

    /// Heeds the remapping rules among the program's arguments: `--ros-args -r from:=to`, also `node:from:=to`, `__node:=name` and
    /// `__ns:=/namespace`.
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// let node = gantry::Node::builder("talker").ros_arguments(std::env::args()).build()?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn ros_arguments(self, arguments: impl IntoIterator<Item = String>) -> Self {
        NodeBuilder { arguments: arguments.into_iter().collect(), ..self }
    }

    /// Joins the domain, under `/dev/shm` or where `GANTRY_SHM_DIR` says.
    ///
    /// # Errors
    /// A name or domain that ROS 2 does not allow; a rule or argument that is not understood; the shared memory cannot be set up or
    /// trusted.
    pub fn build(self) -> Result<Node> {
        let rules = [self.remappings, remap::rules_of(&self.arguments)?].concat();
        let names = Remapped::new(&self.name, &self.namespace, &rules)?;
        let domain_id = match self.domain_id {
            Some(id) if id <= MAX_DOMAIN_ID => id,
            Some(id) => return Err(Error::InvalidDomain { origin: "the domain", value: id.to_string() }),
            None => domain_of_environment()?,
        };
        let participant = Participant::join(domain_id)?;
        let presence = Arc::new(Presence::new(&participant, &names.fully_qualified_name())?);
        let callbacks = Arc::<Callbacks>::default();
        let default_group = CallbackGroup::new(callbacks.clone(), CallbackGroupType::MutuallyExclusive);
        tracing::debug!(node = names.fully_qualified_name(), domain_id, "joins");
        Ok(Node(Arc::new(Inner { participant, names, presence, callbacks, default_group })))
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
