//! The names of a node.

/// The names of a node.
#[derive(Clone, Debug)]
pub struct NodeName {
    /// Its own name.
    pub name: String,
    /// Its namespace, as `/` or `/robot`.
    pub namespace: String,
}

impl NodeName {
    /// The full name of a topic or a service of the node.
    ///
    /// # Errors
    /// A sentence with the rule of ROS 2 that it breaks.
    pub fn expand(&self, topic: &str) -> Result<String, String> {
        gantry::expand_topic_name(topic, &self.name, &self.namespace).map_err(|error| error.to_string())
    }
}
