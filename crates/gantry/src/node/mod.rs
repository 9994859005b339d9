//! Nodes: named members of a domain. The modules of topics, services and parameters add further methods to [`Node`].
//! This module is on the control path.

mod arguments;
mod callback_group;
mod init;
mod names;
mod node_callbacks;
mod other_hosts;
mod presence;
mod private_domain;
mod remap;
mod rmw_nodes;

pub use arguments::remove_ros_arguments;
pub use callback_group::CallbackGroup;
pub use init::{init, init_with_arguments};
pub use names::{ServiceTopic, expand_topic_name, service_topic};
pub(crate) use names::{check_native_topic, client_reply_topic, reply_topic, request_topic};
pub use other_hosts::{BRIDGE_NODE, other_hosts_variable};
pub(crate) use presence::Presence;
pub(crate) use private_domain::is_private;
pub use private_domain::private_domain_id;
pub(crate) use rmw_nodes::{RmwNodes, node_and_process};

use crate::{
    callback::{CallbackGroupType, Callbacks, Group},
    error::{Error, MAX_DOMAIN_ID, Result},
    log,
    parameter::{ParameterOptions, ParameterStore},
    time::Clock,
};
use arguments::RosArguments;
use gantry_shm::{NodeDetails, Participant};
use remap::{NameKind, Remapped};
use std::sync::{Arc, Weak};

const DOMAIN_VARIABLE: &str = "ROS_DOMAIN_ID";

/// A node: a named member of a domain. Clones are handles to the same node. Other processes see the node until its last
/// clone and everything made from it are dropped, or until its process dies. The nodes of one process share a
/// participant. Several nodes may have the same name.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

/// A weak handle of a node, for callbacks: the node keeps its callbacks, so a callback that owns a clone of its node
/// would keep the node alive for ever.
///
/// ```
/// # use std::time::Duration;
/// # fn main() -> gantry::Result<()> {
/// let node = gantry::Node::new("monitor")?;
/// let weak = node.downgrade();
/// node.create_timer_with_callback(Duration::from_secs(1), move |_| {
///     let Some(node) = weak.upgrade() else { return };
///     println!("{:?}", node.node_names());
/// })?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct WeakNode(Weak<Inner>);

struct Inner {
    names: Remapped,
    presence: Arc<Presence>,
    callbacks: Arc<Callbacks>,
    default_group: Arc<Group>,
    parameters: Arc<ParameterStore>,
    clock: Clock,
}

/// The options from which a node is built.
#[derive(Clone, Debug)]
pub struct NodeBuilder {
    name: String,
    namespace: String,
    domain_id: Option<u32>,
    /// Remapping rules; `arguments` may contain further rules.
    remappings: Vec<String>,
    arguments: Vec<String>,
    uses_global_arguments: bool,
    details: NodeDetails,
    pub(crate) parameters: ParameterOptions,
}

impl Node {
    /// Makes a node in the root namespace and in the domain of `ROS_DOMAIN_ID` (0 if unset).
    ///
    /// # Errors
    /// The errors of [`NodeBuilder::build`].
    pub fn new(name: &str) -> Result<Node> {
        Node::builder(name).build()
    }

    /// Makes a builder for a node, for example with a namespace, a domain or remapping rules.
    #[must_use]
    pub fn builder(name: &str) -> NodeBuilder {
        let (remappings, arguments) = (Vec::new(), Vec::new());
        let (name, namespace, parameters) = (name.to_owned(), "/".to_owned(), ParameterOptions::default());
        let (domain_id, uses_global_arguments, details) = (None, true, NodeDetails::default());
        NodeBuilder { name, namespace, domain_id, remappings, arguments, uses_global_arguments, details, parameters }
    }

    /// A handle that does not keep the node alive: see [`WeakNode`].
    #[must_use]
    pub fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.0))
    }

    /// The node's name, after remapping.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.names.node
    }

    /// The node's namespace, after remapping; it begins with a slash.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.0.names.namespace
    }

    /// The node's namespace and name.
    #[must_use]
    pub fn fully_qualified_name(&self) -> String {
        self.0.names.fully_qualified_name()
    }

    /// The node's clock (ROS time): the time of day, or the time of the topic `/clock` if the parameter `use_sim_time`
    /// is true.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The node's domain.
    #[must_use]
    pub fn domain_id(&self) -> u32 {
        self.participant().domain_id()
    }

    /// The full name of a topic for this node: expanded ([`expand_topic_name`](crate::expand_topic_name)), then
    /// remapped ([`NodeBuilder::remap`]).
    ///
    /// # Errors
    /// A name that ROS 2 does not allow.
    pub fn resolve_topic_name(&self, topic: &str) -> Result<String> {
        self.0.names.resolve(NameKind::Topic, topic)
    }

    /// The full name of a service for this node: expanded and remapped, as by [`Node::resolve_topic_name`].
    ///
    /// # Errors
    /// A name that ROS 2 does not allow.
    pub fn resolve_service_name(&self, service: &str) -> Result<String> {
        self.0.names.resolve(NameKind::Service, service)
    }

    pub(crate) fn participant(&self) -> &Arc<Participant> {
        self.0.presence.participant()
    }

    /// The list of the node's callbacks.
    pub(crate) fn callbacks(&self) -> &Arc<Callbacks> {
        &self.0.callbacks
    }

    pub(crate) fn default_group(&self) -> &Arc<Group> {
        &self.0.default_group
    }

    pub(crate) fn presence(&self) -> &Arc<Presence> {
        &self.0.presence
    }

    pub(crate) fn parameters(&self) -> &Arc<ParameterStore> {
        &self.0.parameters
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({}, domain {})", self.fully_qualified_name(), self.domain_id())
    }
}

impl WeakNode {
    /// The node; `None` if its last clone was dropped and no executor keeps it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }
}

impl std::fmt::Debug for WeakNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.upgrade() {
            Some(node) => write!(f, "Weak{node:?}"),
            None => f.write_str("WeakNode(dropped)"),
        }
    }
}

impl NodeBuilder {
    /// Puts the node in a namespace.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Self {
        NodeBuilder { namespace: namespace.to_owned(), ..self }
    }

    /// Sets the node's domain instead of `ROS_DOMAIN_ID`: 0 to 232, or a [private](crate::private_domain_id) domain.
    #[must_use]
    pub fn domain_id(self, domain_id: u32) -> Self {
        NodeBuilder { domain_id: Some(domain_id), ..self }
    }

    /// Adds a ROS 2 remapping rule `from:=to`, such as `("chatter", "news")`, `("__ns", "/left")`,
    /// `("rosservice:///map", "/old_map")`. The first rule that matches a name is applied. These rules come before the
    /// rules of [`NodeBuilder::ros_arguments`].
    #[must_use]
    pub fn remap(mut self, from: &str, to: &str) -> Self {
        self.remappings.push(format!("{from}:={to}"));
        self
    }

    /// Applies the ROS arguments among `arguments` to this node: the arguments after `--ros-args`, such as `-r
    /// from:=to`, `-r node:from:=to`, `-r __node:=name`, `-r __ns:=/namespace` and `-p parameter:=value`. They take
    /// precedence over the program's ROS arguments ([`init`](crate::init)), which nodes use without a call of this
    /// method.
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// let arguments = ["--ros-args", "-r", "__ns:=/left"].map(str::to_owned);
    /// let node = gantry::Node::builder("talker").ros_arguments(arguments).build()?;
    /// assert_eq!(node.fully_qualified_name(), "/left/talker");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn ros_arguments(self, arguments: impl IntoIterator<Item = String>) -> Self {
        NodeBuilder { arguments: arguments.into_iter().collect(), ..self }
    }

    /// Sets whether the node uses the program's ROS arguments ([`init`](crate::init)); the default is `true`.
    #[must_use]
    pub fn use_global_arguments(self, on: bool) -> Self {
        NodeBuilder { uses_global_arguments: on, ..self }
    }

    /// Sets the name of the `rmw` implementation that makes the node, such as `rmw_gantry`. [`Node::explain`] prints
    /// the name beside the node. By default, the node has no such name.
    #[must_use]
    pub fn rmw_implementation(mut self, name: &str) -> Self {
        self.details.rmw_implementation = name.to_owned();
        self
    }

    /// Sets the enclave that [`Node::node_names_and_enclaves`] shows, such as `/front/camera`; it has no other
    /// effect. The default is `/`.
    #[must_use]
    pub fn enclave(mut self, enclave: &str) -> Self {
        self.details.enclave = enclave.to_owned();
        self
    }

    /// Makes the node without its parameter services.
    pub(crate) fn join(self) -> Result<Node> {
        let own = RosArguments::parse(&self.arguments)?;
        init::heed(&own);
        let global = if self.uses_global_arguments { init::global_arguments() } else { Arc::default() };
        let rules = [&self.remappings[..], &own.remappings, &global.remappings].concat();
        let names = Remapped::new(&self.name, &self.namespace, &rules)?;
        let domain_id = match self.domain_id {
            Some(id) if id <= MAX_DOMAIN_ID || is_private(id) => id,
            Some(id) => return Err(Error::InvalidDomain { origin: "the domain", value: id.to_string() }),
            None => default_domain_id()?,
        };
        let mut overrides = global.parameters.for_node(&names.fully_qualified_name());
        overrides.extend(own.parameters.for_node(&names.fully_qualified_name()));
        let parameters = Arc::new(ParameterStore::new(overrides, self.parameters));
        let presence = Presence::new(Participant::join(domain_id)?, &names.fully_qualified_name(), self.details)?;
        let callbacks = Arc::new(Callbacks::new(names.fully_qualified_name()));
        let default_group = Arc::new(Group::new(CallbackGroupType::MutuallyExclusive));
        log::debug(&names.fully_qualified_name(), format_args!("joins domain {domain_id}"));
        let (presence, clock) = (Arc::new(presence), Clock::new_ros());
        Ok(Node(Arc::new(Inner { names, presence, callbacks, default_group, parameters, clock })))
    }
}

/// The domain of `ROS_DOMAIN_ID`; 0 if the variable is unset. Nodes use this domain if their builder sets no other
/// domain.
///
/// # Errors
/// The value of `ROS_DOMAIN_ID` is not a domain id.
pub fn default_domain_id() -> Result<u32> {
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
