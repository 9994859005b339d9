//! The hidden node of a command, and the options by which commands select topics of a bag.

use crate::{
    error::{Context, Result},
    selection::Selection,
};
use clap::Args;
use gantry::{Node, with_signals_blocked};
use std::thread::{self, JoinHandle};

/// Makes the node, which `ros2 node list` does not show. From then on, Ctrl-C ends waits in order.
///
/// # Errors
/// The domain cannot be joined.
pub fn hidden_node(domain_id: Option<u32>) -> Result<Node> {
    gantry::init_with_arguments([])?;
    let builder = Node::builder(&format!("_gantry_bag_{}", std::process::id())).use_global_arguments(false);
    let builder = match domain_id {
        Some(id) => builder.domain_id(id),
        None => builder,
    };
    Ok(builder.build()?)
}

/// Whether the node's methods would change this name, or refuse it: then it is used as it is.
#[must_use]
pub fn is_native(node: &Node, topic: &str) -> bool {
    node.resolve_topic_name(topic).map_or(true, |full| full != topic)
}

/// Starts a thread that runs no handler of signals.
///
/// # Errors
/// The system's.
pub fn spawn<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    let thread = thread::Builder::new().name(name.to_owned());
    with_signals_blocked(|| thread.spawn(run)).context(|| "no thread can be started".to_owned())
}

/// The options that select topics of a bag.
#[derive(Clone, Debug, Default, Args)]
pub struct TopicOptions {
    /// Only these topics
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    topics: Vec<String>,
    /// Only topics whose full name has a match of this regular expression, besides the topics of --topics
    #[arg(short = 'e', long, value_name = "REGEX")]
    regex: Option<String>,
    /// No topics whose full name has a match of this regular expression; may be repeated
    #[arg(short = 'x', long, value_name = "REGEX", visible_alias = "exclude-regex")]
    exclude: Vec<String>,
}

impl TopicOptions {
    /// The selection; all topics if no option names some.
    ///
    /// # Errors
    /// An expression that is none.
    pub fn selection(&self) -> Result<Selection> {
        let is_all = self.topics.is_empty() && self.regex.is_none();
        let names = self.topics.iter().cloned().collect();
        Ok(Selection::new(names, self.regex.as_deref(), &self.exclude)?.all(is_all))
    }
}
