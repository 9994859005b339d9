//! A thread of the bridge that takes samples, requests or responses from local endpoints (its sources).

use gantry::{Collector, Listener, ListenerSource, Node};
use std::thread::JoinHandle;

/// A thread that takes messages from local endpoints (sources), and the numbers of these sources.
pub struct Sources {
    listener: Listener<Box<dyn ListenerSource>>,
    thread: Option<JoinHandle<()>>,
    next_number: u64,
}

impl Sources {
    /// Starts the thread, with this name.
    ///
    /// # Errors
    /// The thread cannot be started, or the domain cannot be read.
    pub fn start(node: &Node, name: &str) -> Result<Sources, Box<dyn std::error::Error + Send + Sync>> {
        let (listener, thread) = Listener::start(Collector::new(node)?, name)?;
        Ok(Sources { listener, thread: Some(thread), next_number: 0 })
    }

    /// Adds a source. Returns its number, which [`Sources::remove`] needs.
    pub fn add(&mut self, source: Box<dyn ListenerSource>) -> u64 {
        self.next_number += 1;
        self.listener.add(self.next_number, source);
        self.next_number
    }

    /// Removes a source.
    pub fn remove(&self, number: u64) {
        self.listener.remove(number);
    }

    /// Ends the thread, and waits until it has ended: it may still use the network.
    pub fn end(&mut self) {
        self.listener.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sources({} were added)", self.next_number)
    }
}
