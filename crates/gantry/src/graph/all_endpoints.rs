//! The whole graph of a domain, in which services are plain topics: the endpoints have the topic names that the
//! engine uses.

use super::TopicEndpointInfo;
use crate::{
    error::Result,
    node::{Node, RmwNodes},
};

impl Node {
    /// Every publisher and subscription of the domain, including the endpoints of services: the requests to `/add` go
    /// over the topic `rq/addRequest`, its replies to a client over `rr/addReply#` and the client's gid. The list has
    /// no order.
    ///
    /// # Errors
    /// As [`Node::node_names`].
    pub fn all_endpoints_info(&self) -> Result<Vec<TopicEndpointInfo>> {
        let entries = self.participant().graph()?;
        let nodes = RmwNodes::among(&entries);
        Ok(entries.into_iter().filter_map(|entry| TopicEndpointInfo::new(entry, &nodes)).collect())
    }
}
