//! The listener: the thread that calls the `on_new_message` callbacks of subscriptions, services and clients.
//!
//! No thread of this process announces samples, so a thread has to wait for them. The first callback of a context
//! starts the listener.

use gantry::{Collector, ListenerSource};
use rmw_abi::failure::{Failure, Result};
use std::thread::{self, JoinHandle};

/// The handle of the listener's thread. The thread ends when the handle is dropped.
pub struct Listener {
    listener: gantry::Listener<Box<dyn ListenerSource>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts the thread.
    pub fn start(domain_id: u32) -> Result<Listener> {
        let (listener, thread) = gantry::Listener::start(Collector::join(domain_id)?, "rmw-listener")
            .map_err(|error| Failure::error(format_args!("no thread for the callbacks could be started: {error}")))?;
        Ok(Listener { listener, thread: Some(thread) })
    }

    /// Adds a source, whose callback is called for new messages from now on; `id` is the id of the source.
    pub fn add(&self, id: u64, source: impl ListenerSource) {
        self.listener.add(id, Box::new(source));
    }

    /// Ends the calls of a source's callback. The listener may still call the source until its callback is removed.
    pub fn remove(&self, source: u64) {
        self.listener.remove(source);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listener.end();
        if let Some(thread) = self.thread.take() {
            // A panic of a callback cannot be handled here. The last callback may have dropped this listener on the
            // listener's own thread.
            let _ = (thread.thread().id() != thread::current().id()).then(|| thread.join());
        }
    }
}
