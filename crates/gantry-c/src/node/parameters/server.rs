//! The thread that runs a node's parameter services. They answer even if the program's own threads never wait.

use crate::border::failure::{Failure, Result};
use gantry::{Executor, ExecutorHandle, Node, SingleThreadedExecutor, with_signals_blocked};
use std::{
    mem::forget,
    process,
    thread::{self, JoinHandle},
};

/// The running thread.
pub struct ParameterServer {
    executor: ExecutorHandle,
    thread: Option<JoinHandle<()>>,
    /// The process that started the thread. A forked child has no such thread.
    process_id: u32,
}

impl ParameterServer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(node: &Node) -> Result<ParameterServer> {
        let mut executor = SingleThreadedExecutor::new();
        executor.add_node(node)?;
        let handle = executor.handle();
        let thread = thread::Builder::new().name("gantry-params".to_owned());
        // The result is ignored: a spin fails only in a forked child, which has no such thread.
        let spin = move || drop(executor.spin());
        let thread = with_signals_blocked(|| thread.spawn(spin))
            .map_err(|why| Failure::error(format_args!("the thread of the parameter services cannot start: {why}")))?;
        Ok(ParameterServer { executor: handle, thread: Some(thread), process_id: process::id() })
    }
}

impl Drop for ParameterServer {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if process::id() != self.process_id {
            return forget(thread);
        }
        self.executor.cancel();
        // A callback may destroy the node on this thread, which cannot join itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}
