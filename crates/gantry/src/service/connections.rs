//! The pairs of clients and servers of a service, and the reason if a pair is not connected. This module is on the
//! control path.

use super::service_type::{ServiceTypeDescription, service_type_name, type_mismatch};
use crate::{
    error::Result,
    node::{Node, RmwNodes, client_reply_topic, node_and_process, reply_topic, request_topic},
};
use gantry_shm::{ConnectionState, EndpointPair, GraphEntry, Role};
use std::fmt;

/// A client and a server of one service, and the state of their connection. `Display` prints it as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceConnection {
    /// Full name of the service.
    pub service_name: String,
    /// The full name of the client's node, and the client's process.
    pub client: (String, String),
    /// The full name of the server's node, and the server's process.
    pub server: (String, String),
    /// The ROS 2 `rmw` implementations that made the client's node and the server's node; `None` for a node that uses
    /// Gantry directly.
    pub rmw_implementations: [Option<String>; 2],
    /// The state: connected in both directions (zero-copy), or the reason why the two are not connected.
    pub state: ConnectionState,
}

impl Node {
    /// Lists each pair of a client and a server of a service, with the state of their connection. This node's namespace
    /// and remapping rules apply to the name.
    ///
    /// ```
    /// # use gantry_msgs::std_srvs::srv::{SetBool, Trigger};
    /// # fn main() -> gantry::Result<()> {
    /// # let node = gantry::Node::builder("listener").domain_id(89).build()?;
    /// let _server = node.create_service::<Trigger>("explained")?;
    /// let _client = node.create_client::<SetBool>("explained")?;
    /// for connection in node.explain_service("explained")? {
    ///     println!("{connection}");
    ///     # let said = "not connected: /explained is served by /listener as std_srvs/srv/Trigger; /listener asks as std_srvs/srv/SetBool";
    ///     # assert!(connection.to_string().ends_with(said), "{connection}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// ROS 2 does not allow the name; the errors of [`Node::node_names`].
    pub fn explain_service(&self, service: &str) -> Result<Vec<ServiceConnection>> {
        let service = self.resolve_service_name(service)?;
        let pairs = self.participant().connections(&request_topic(&service))?.into_iter();
        let nodes = RmwNodes::read(self.participant())?;
        pairs.map(|pair| self.service_connection(&service, pair, &nodes)).collect()
    }

    /// Returns the types of a service's servers, for a program that knows only the service's name. Each type occurs
    /// once. The list is empty without servers, and has several types if servers disagree. This node's namespace and
    /// remapping rules apply to the name.
    ///
    /// # Errors
    /// ROS 2 does not allow the name; the errors of [`Node::node_names`].
    pub fn service_types(&self, service: &str) -> Result<Vec<ServiceTypeDescription>> {
        let service = self.resolve_service_name(service)?;
        let requests = self.participant().endpoints_of(&request_topic(&service))?;
        let replies = self.participant().endpoints_of(&reply_topic(&service))?;
        let servers = requests.into_iter().filter(|entry| entry.description.role == Role::Subscription);
        let service_type = |server: GraphEntry| {
            let request = server.description.message_type.clone();
            let name = service_type_name(&request.name).to_owned();
            let is_its = |reply: &&GraphEntry| {
                is_of_server(reply, &server) && service_type_name(&reply.description.message_type.name) == name
            };
            let response = replies.iter().find(is_its)?.description.message_type.clone();
            Some(ServiceTypeDescription { name, request, response })
        };
        let mut types: Vec<_> = servers.filter_map(service_type).collect();
        types.sort_unstable();
        types.dedup();
        Ok(types)
    }

    fn service_connection(&self, service: &str, pair: EndpointPair, nodes: &RmwNodes) -> Result<ServiceConnection> {
        let EndpointPair { publisher: client, subscription: server, state, .. } = pair;
        let asks = format!("{} asks", client.description.node);
        let mismatch = |served: &GraphEntry, asked: &GraphEntry| {
            let [served, asked] = [served, asked].map(|entry| &entry.description.message_type);
            let why = type_mismatch(service, (&server.description.node, served), (&asks, asked));
            why.map(ConnectionState::IncompatibleType)
        };
        let state = match state {
            ConnectionState::ZeroCopy => {
                let replies = self.participant().connections(&client_reply_topic(service, client.description.gid))?;
                let reply = replies.into_iter().find(|reply| is_of_server(&reply.publisher, &server));
                reply.map_or_else(
                    || ConnectionState::Unmapped(not_answerable(&server)),
                    |reply| mismatch(&reply.publisher, &reply.subscription).unwrap_or(reply.state),
                )
            }
            state => mismatch(&server, &client).unwrap_or(state),
        };
        let end = |entry: GraphEntry| (entry.description.node.clone(), entry.process);
        let rmw_implementations = [&client, &server].map(|entry| nodes.implementation(&entry.description));
        let (client, server) = (end(client), end(server));
        Ok(ServiceConnection { service_name: service.to_owned(), client, server, rmw_implementations, state })
    }
}

/// Whether an endpoint belongs to the node and the process of a server.
fn is_of_server(endpoint: &GraphEntry, server: &GraphEntry) -> bool {
    endpoint.description.node == server.description.node && endpoint.process == server.process
}

fn not_answerable(server: &GraphEntry) -> String {
    format!(
        "{} has no memory yet for the responses to this client: the process will create the memory soon, is stopped, \
         or has no room in shared memory (its log has the error)",
        server.process
    )
}

impl fmt::Display for ServiceConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServiceConnection { client, server, rmw_implementations: [of_client, of_server], state, .. } = self;
        let end =
            |(node, process): &(String, String), rmw: &Option<String>| node_and_process(node, rmw.as_deref(), process);
        write!(f, "{} to {}: {state}", end(client, of_client), end(server, of_server))
    }
}
