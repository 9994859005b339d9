//! The graph of one node: the topics and services on which it has endpoints.

use super::names_and_types::{NamesAndTypes, by_name, service, topic};
use crate::{
    error::{Error, Result},
    node::{Node, request_topic},
};
use gantry_shm::{EndpointDescription, Role};

impl Node {
    /// The topics that a node publishes, with their types, but without the topics of services. `node` is the full name,
    /// such as `/left/eye`. Nodes with the same name count as one node.
    ///
    /// # Errors
    /// There is no node with this name; the domain cannot be read; the process forked.
    pub fn publisher_names_and_types_by_node(&self, node: &str) -> Result<NamesAndTypes> {
        self.names_and_types_by_node(node, Role::Publisher, topic)
    }

    /// The topics to which a node subscribes, with the argument and the result of
    /// [`Node::publisher_names_and_types_by_node`].
    ///
    /// # Errors
    /// The errors of [`Node::publisher_names_and_types_by_node`].
    pub fn subscriber_names_and_types_by_node(&self, node: &str) -> Result<NamesAndTypes> {
        self.names_and_types_by_node(node, Role::Subscription, topic)
    }

    /// The services that a node serves, with their types.
    ///
    /// # Errors
    /// The errors of [`Node::publisher_names_and_types_by_node`].
    pub fn service_names_and_types_by_node(&self, node: &str) -> Result<NamesAndTypes> {
        self.names_and_types_by_node(node, Role::Subscription, service)
    }

    /// The services of which a node has clients, with their types.
    ///
    /// # Errors
    /// The errors of [`Node::publisher_names_and_types_by_node`].
    pub fn client_names_and_types_by_node(&self, node: &str) -> Result<NamesAndTypes> {
        self.names_and_types_by_node(node, Role::Publisher, service)
    }

    fn names_and_types_by_node(
        &self,
        node: &str,
        role: Role,
        shown: impl Fn(&EndpointDescription) -> Option<(String, String)>,
    ) -> Result<NamesAndTypes> {
        let entries: Vec<_> = self.participant().graph()?.into_iter().map(|entry| entry.description).collect();
        if entries.iter().all(|entry| entry.node != node) {
            return Err(Error::UnknownNode { node: node.to_owned(), domain_id: self.domain_id() });
        }
        let own = entries.into_iter().filter(|entry| entry.node == node && entry.role == role);
        Ok(by_name(own.filter_map(|entry| shown(&entry))))
    }

    /// The number of clients of a service. This node's namespace and remapping rules apply to the name.
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn count_clients(&self, service: &str) -> Result<usize> {
        self.count_of_service(service, Role::Publisher)
    }

    /// The number of servers of a service. This node's namespace and remapping rules apply to the name.
    ///
    /// # Errors
    /// The errors of [`Node::publishers_info_by_topic`].
    pub fn count_services(&self, service: &str) -> Result<usize> {
        self.count_of_service(service, Role::Subscription)
    }

    /// Counts the endpoints of a service's request topic: clients publish requests, servers subscribe to them.
    fn count_of_service(&self, service: &str, role: Role) -> Result<usize> {
        let requests = self.participant().endpoints_of(&request_topic(&self.resolve_service_name(service)?))?;
        Ok(requests.into_iter().filter(|endpoint| endpoint.description.role == role).count())
    }
}
