//! Contexts: each has the state that the nodes of one `rmw_init` share.

use super::{graph_news::GraphNews, listener::Listener};
use crate::lock::lock;
use rmw_abi::failure::{Failure, Result};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::*},
};

/// A context exists from `rmw_init` to `rmw_context_fini`.
pub struct Context {
    pub domain_id: u32,
    /// The enclave of the context's nodes, such as "/" or "/front/camera".
    pub enclave: String,
    is_shut_down: AtomicBool,
    /// The number of nodes of this context that exist now.
    pub nodes: AtomicUsize,
    pub graph: Arc<GraphNews>,
    /// The thread for `on_new_message` callbacks. The first callback that is set starts this thread.
    listener: Mutex<Option<Arc<Listener>>>,
}

impl Context {
    pub fn new(domain_id: u32, enclave: &str) -> Context {
        Context {
            domain_id,
            enclave: enclave.to_owned(),
            is_shut_down: AtomicBool::new(false),
            nodes: AtomicUsize::new(0),
            graph: Arc::default(),
            listener: Mutex::new(None),
        }
    }

    /// # Errors
    /// `rmw_shutdown` was called.
    pub fn check(&self) -> Result<()> {
        if self.is_shut_down() {
            return Err(Failure::error("the context is shut down; rmw_init makes a new one"));
        }
        Ok(())
    }

    /// Shuts the context down: no further object can be created in it. Existing objects work until they are destroyed.
    pub fn shut_down(&self) {
        self.is_shut_down.store(true, Relaxed); // Relaxed: the flag orders no other memory
    }

    pub fn is_shut_down(&self) -> bool {
        self.is_shut_down.load(Relaxed)
    }

    /// The listener, if a callback has started it.
    pub fn started_listener(&self) -> Option<Arc<Listener>> {
        lock(&self.listener).clone()
    }

    /// Returns the listener of the context, and starts it first if it does not run yet.
    pub fn listener(&self) -> Result<Arc<Listener>> {
        let mut listener = lock(&self.listener);
        match &*listener {
            Some(listener) => Ok(listener.clone()),
            None => Ok(listener.insert(Arc::new(Listener::start(self.domain_id)?)).clone()),
        }
    }
}
