//! The name and namespace of a node.

/// The name and namespace of a node.
#[derive(Clone, Debug)]
pub struct NodeName {
    /// The name of the node without its namespace.
    pub name: String,
    /// The namespace of the node, such as `/` or `/robot`.
    pub namespace: String,
}

impl NodeName {
    /// Expands the name of a topic or service of the node to its full name.
    ///
    /// # Errors
    /// The reason, as a sentence with the rule of ROS 2 that the name breaks.
    pub fn expand(&self, topic: &str) -> Result<String, String> {
        gantry::expand_topic_name(topic, &self.name, &self.namespace).map_err(|error| error.to_string())
    }
}
