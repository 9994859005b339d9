//! The options that all commands have, and a command's hidden node.

use crate::{
    error::{Context, Result},
    output::Output,
};
use clap::Args;
use gantry::{Node, with_signals_blocked};
use std::thread::{self, JoinHandle};

/// The domain and the output.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct CommonOptions {
    /// The domain, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, global = true, value_name = "ID")]
    pub domain_id: Option<u32>,
    /// Print JSON, one value per line
    #[arg(long, global = true)]
    json: bool,
}

impl CommonOptions {
    /// The form of the output.
    #[must_use]
    pub fn output(&self) -> Output {
        Output { json: self.json }
    }
}

/// Makes the command's own node. Its name is `_gantry_`, the command and the pid, so `ros2 node list` does not show it.
/// From then on, Ctrl-C ends waits, and the command ends normally.
///
/// # Errors
/// The domain cannot be joined.
pub fn hidden_node(command: &str, domain_id: Option<u32>) -> Result<Node> {
    gantry::init_with_arguments([])?;
    let builder = Node::builder(&format!("_gantry_{command}_{}", std::process::id())).use_global_arguments(false);
    let builder = match domain_id {
        Some(id) => builder.domain_id(id),
        None => builder,
    };
    Ok(builder.build()?)
}

/// Whether the topic's name is not a valid ROS 2 name. A node's methods would change or refuse such a name, so it must
/// be used unchanged.
#[must_use]
pub fn is_native(node: &Node, topic: &str) -> bool {
    node.resolve_topic_name(topic).map_or(true, |full| full != topic)
}

/// Starts a thread on which no signal handler runs.
///
/// # Errors
/// An error of the operating system.
pub fn spawn<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    let thread = thread::Builder::new().name(name.to_owned());
    with_signals_blocked(|| thread.spawn(run)).context(|| "no thread can be started".to_owned())
}
