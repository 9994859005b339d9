//! The listener: the thread that calls the `on_new_message` callbacks of subscriptions, services and clients.
//!
//! A publisher in another process cannot call a callback here, so a thread of this process waits for messages. The
//! first callback that the program sets in a context starts this thread.

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

    /// Adds an endpoint with a callback (a source). The listener calls its callback for new messages from now on. `id`
    /// is the id of the source.
    pub fn add(&self, id: u64, source: impl ListenerSource) {
        self.listener.add(id, Box::new(source));
    }

    /// Removes a source from the listener. The listener's thread may still call `on_news` of the source for a moment,
    /// until the callback is removed.
    pub fn remove(&self, source: u64) {
        self.listener.remove(source);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listener.end();
        if let Some(thread) = self.thread.take() {
            // A panic of a callback cannot be handled here. The listener's own thread must not join itself; it runs
            // this code if the last callback drops the listener.
            let _ = (thread.thread().id() != thread::current().id()).then(|| thread.join());
        }
    }
}
