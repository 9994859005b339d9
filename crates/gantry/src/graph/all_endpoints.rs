//! The whole graph of a domain, in which services appear as plain topics under the names that the engine uses.

use super::TopicEndpointInfo;
use crate::{
    error::Result,
    node::{Node, RmwNodes},
};

impl Node {
    /// Every publisher and subscription of the domain, including the endpoints of services: requests to `/add` use the
    /// topic `rq/addRequest`, and replies to a client use `rr/addReply#` followed by the client's gid. The list is not
    /// sorted.
    ///
    /// # Errors
    /// The errors of [`Node::node_names`].
    pub fn all_endpoints_info(&self) -> Result<Vec<TopicEndpointInfo>> {
        let entries = self.participant().graph()?;
        let nodes = RmwNodes::among(&entries);
        Ok(entries.into_iter().filter_map(|entry| TopicEndpointInfo::new(entry, &nodes)).collect())
    }
}
