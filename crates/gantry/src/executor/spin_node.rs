//! Functions that spin a single node in a temporary executor.

use super::{Executor, SingleThreadedExecutor};
use crate::{error::Result, node::Node};
use std::time::Duration;

/// Runs the callbacks of a node on this thread as [`Executor::spin`] does, in a temporary [`SingleThreadedExecutor`].
///
/// # Errors
/// The errors of [`Executor::add_node`] and [`Executor::spin`].
pub fn spin(node: &Node) -> Result<()> {
    executor_of(node)?.spin()
}

/// Runs the callbacks of a node that are ready now, as [`Executor::spin_some`] does without a limit. Each call makes an
/// executor, so a loop that spins often should keep an executor instead.
///
/// # Errors
/// The errors of [`Executor::add_node`] and [`Executor::spin`].
pub fn spin_some(node: &Node) -> Result<usize> {
    executor_of(node)?.spin_some(Duration::ZERO)
}

/// Runs the callbacks of a node until no callback has anything to do, as [`Executor::spin_all`] does. Each call makes
/// an executor.
///
/// # Errors
/// The errors of [`Executor::add_node`] and [`Executor::spin`].
pub fn spin_all(node: &Node, max_duration: Duration) -> Result<usize> {
    executor_of(node)?.spin_all(max_duration)
}

/// Runs the callbacks of a node until `future` is complete, as [`Executor::spin_until_complete`] does.
///
/// # Errors
/// The errors of [`Executor::add_node`] and [`Executor::spin`].
pub fn spin_until_complete<F>(node: &Node, future: F, timeout: Duration) -> Result<Option<F::Output>>
where
    F: Future,
{
    executor_of(node)?.spin_until_complete(future, timeout)
}

fn executor_of(node: &Node) -> Result<SingleThreadedExecutor> {
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(node)?;
    Ok(executor)
}
