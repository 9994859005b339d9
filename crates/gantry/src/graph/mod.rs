//! The graph: the nodes, topics, services and endpoints of a domain.
//!
//! The methods have the names of rclcpp and rclpy. Each call reads the files of the domain's processes (the engine's
//! `graph`), so its result is never outdated. A service consists of topics for requests and replies, which these
//! methods show as one service. This module is on the control path.

mod all_endpoints;
mod by_node;
mod endpoint_info;
mod graph_events;
mod names_and_types;

pub use endpoint_info::{Connection, EndpointType, TopicEndpointInfo};
pub use graph_events::{GraphChanges, GraphEntity, GraphEvent, GraphEvents};

use crate::{
    error::Result,
    node::{Node, RmwNodes},
};
use gantry_shm::{EndpointDescription, Qos, Role};
use names_and_types::{NamesAndTypes, by_name, service, topic};
use std::time::Duration;

impl Node {
    /// The full names of all nodes of the domain, sorted. A name occurs once for each node that has it.
    ///
    /// # Errors
    /// The domain cannot be read; the process forked.
    pub fn node_names(&self) -> Result<Vec<String>> {
        let nodes = self.participant().endpoints_of("")?.into_iter().map(|entry| entry.description);
        let mut names: Vec<_> =
            nodes.filter(|entry| entry.role == Role::Node).map(|entry| entry.node.clone()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The full names of all nodes of the domain with their enclaves, sorted. A name occurs once for each node that has
    /// it. The enclave is `/` by default ([`NodeBuilder::enclave`](crate::NodeBuilder::enclave)).
    ///
    /// # Errors
    /// The errors of [`Node::node_names`].
    pub fn node_names_and_enclaves(&self) -> Result<Vec<(String, String)>> {
        let nodes = self.participant().endpoints_of("")?.into_iter();
        let named = nodes.filter_map(|entry| {
            let enclave = entry.description.node_details()?.enclave;
            Some((entry.description.node.clone(), if enclave.is_empty() { "/".to_owned() } else { enclave }))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        Ok(named)
    }

    /// The topics that have publishers or subscriptions, each with the types of its endpoints. Topics of services are
    /// left out.
    ///
    /// # Errors
    /// The errors of [`Node::node_names`].
    pub fn topic_names_and_types(&self) -> Result<NamesAndTypes> {
        self.names_and_types(topic)
    }

    /// The services that have servers or clients, each with the types of these endpoints.
    ///
    /// # Errors
    /// The errors of [`Node::node_names`].
    pub fn service_names_and_types(&self) -> Result<NamesAndTypes> {
        self.names_and_types(service)
    }

    fn names_and_types(
        &self,
        shown: impl Fn(&EndpointDescription) -> Option<(String, String)>,
    ) -> Result<NamesAndTypes> {
        let entries = self.participant().graph()?.into_iter().map(|entry| entry.description);
        let endpoints = entries.filter(|entry| entry.role != Role::Node);
        Ok(by_name(endpoints.filter_map(|endpoint| shown(&endpoint))))
    }

    /// The publishers of a topic. This node's namespace and remapping rules apply to the name.
    ///
    /// # Errors
    /// The name is not allowed; the errors of [`Node::node_names`].
    pub fn publishers_info_by_topic(&self, topic: &str) -> Result<Vec<TopicEndpointInfo>> {
        self.endpoints_info(topic, EndpointType::Publisher)
    }

    /// The subscriptions to a topic. This node's namespace and remapping rules apply to the name.
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn subscriptions_info_by_topic(&self, topic: &str) -> Result<Vec<TopicEndpointInfo>> {
        self.endpoints_info(topic, EndpointType::Subscription)
    }

    /// Returns `qos` with the best reliability, durability, liveliness, deadline and lease that all current publishers
    /// of the topic offer. A subscription with this QoS, such as a recorder's, matches each of them
    /// ([`Qos::best_offered_by`], ROS 2's BEST_AVAILABLE).
    ///
    /// Without a publisher, the result is the strictest QoS, which a later publisher may not offer: first wait for a
    /// publisher ([`Node::wait_for_graph_change`]).
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// # use gantry::Qos;
    /// # use gantry_msgs::std_msgs::msg::String as Text;
    /// # let node = gantry::Node::builder("best_example").domain_id(88).build()?;
    /// # let publisher = node.create_publisher::<Text>("map", Qos::default().transient_local())?;
    /// let qos = node.best_available_qos("map", Qos::default().keep_last(100))?;
    /// let subscription = node.create_subscription::<Text>("map", qos)?;
    /// # assert_eq!(qos, Qos::default().keep_last(100).transient_local());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn best_available_qos(&self, topic: &str, qos: impl Into<Qos>) -> Result<Qos> {
        let publishers = self.publishers_info_by_topic(topic)?;
        Ok(qos.into().best_offered_by(publishers.iter().map(|publisher| publisher.qos_profile)))
    }

    /// The number of publishers of a topic, matched or not.
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn count_publishers(&self, topic: &str) -> Result<usize> {
        self.count_endpoints(topic, Role::Publisher)
    }

    /// The number of subscriptions to a topic, matched or not.
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn count_subscribers(&self, topic: &str) -> Result<usize> {
        self.count_endpoints(topic, Role::Subscription)
    }

    fn count_endpoints(&self, topic: &str, role: Role) -> Result<usize> {
        Ok(self.participant().count_endpoints(&self.resolve_topic_name(topic)?, role)?)
    }

    fn endpoints_info(&self, topic: &str, endpoint_type: EndpointType) -> Result<Vec<TopicEndpointInfo>> {
        let endpoints = self.participant().endpoints_of(&self.resolve_topic_name(topic)?)?;
        let nodes = RmwNodes::read(self.participant())?;
        let endpoints = endpoints.into_iter().filter_map(|entry| TopicEndpointInfo::new(entry, &nodes));
        Ok(endpoints.filter(|endpoint| endpoint.endpoint_type == endpoint_type).collect())
    }

    /// The connections of a topic, which explain why messages arrive or do not arrive. Each pair of a publisher and a
    /// subscription has one entry. The entry states whether the two are connected (zero-copy, or inline for small
    /// messages) or why not, and the number of messages that they copied (`publish_copy`, `take_copy`).
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// # let node = gantry::Node::builder("explain_example").domain_id(88).build()?;
    /// # let publisher = node.create_publisher::<gantry_msgs::std_msgs::msg::String>("explained", gantry::Qos::default())?;
    /// # let subscription = node.create_subscription::<gantry_msgs::std_msgs::msg::String>("explained", gantry::Qos::default())?;
    /// for connection in node.explain("explained")? {
    ///     println!("{connection}"); // /talker in talker (pid 7) to /listener in listener (pid 8): zero-copy
    ///     # assert!(connection.to_string().ends_with(": zero-copy"), "{connection}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn explain(&self, topic: &str) -> Result<Vec<Connection>> {
        let pairs = self.participant().connections(&self.resolve_topic_name(topic)?)?.into_iter();
        let nodes = RmwNodes::read(self.participant())?;
        Ok(pairs.filter_map(|pair| Connection::new(pair, &nodes)).collect())
    }

    /// Waits until the graph has changed since the last call that returned `true` or since this node was made. Returns
    /// `false` after `timeout`. A loop of the following form misses no change between its reading of the graph and its
    /// wait:
    ///
    /// ```no_run
    /// # fn example(node: &gantry::Node) -> gantry::Result<()> {
    /// while node.count_subscribers("chatter")? == 0 {
    ///     node.wait_for_graph_change(std::time::Duration::from_secs(1))?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// Clones of a node share the state of this wait, so only one thread should wait; other threads use
    /// [`Node::graph_events`]. The death of a process is detected within about a second.
    ///
    /// # Errors
    /// The shared-memory state of the wait could not be set up; the process forked.
    pub fn wait_for_graph_change(&self, timeout: Duration) -> Result<bool> {
        self.presence().wait_for_change(timeout)
    }

    /// Makes a source that reports that the graph changed, but not the change itself. It is meant for a binding whose
    /// user then reads the graph, as with rcl's graph guard condition. Several changes since the last take are one
    /// event.
    ///
    /// # Errors
    /// The process forked.
    pub fn graph_changes(&self) -> Result<GraphChanges> {
        graph_events::graph_changes(self.participant())
    }

    /// The changes of the graph from now on. They can be taken directly, or be a source of a wait set or an executor.
    ///
    /// # Errors
    /// The errors of [`Node::node_names`].
    pub fn graph_events(&self) -> Result<GraphEvents> {
        GraphEvents::new(self.participant().clone())
    }
}
