//! Contexts: what the nodes of one `rmw_init` share.

use super::{guard_condition::GuardCondition, listener::Listener};
use crate::{
    failure::{Failure, Result},
    lock::lock,
};
use gantry::{GraphChanges, Waitable};
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
    },
    task::Wake,
};

/// One between `rmw_init` and `rmw_context_fini`.
pub struct Context {
    pub domain_id: u32,
    /// Of its nodes, as "/" or "/front/camera".
    pub enclave: String,
    is_shut_down: AtomicBool,
    nodes: AtomicUsize,
    graph: Arc<GraphNews>,
    /// Made for the first callback of new messages.
    listener: Mutex<Option<Arc<Listener>>>,
}

/// Triggers the guard conditions of the nodes when the graph changes.
#[derive(Default)]
struct GraphNews {
    /// Made for the first node.
    changes: Mutex<Option<GraphChanges>>,
    guard_conditions: Mutex<Vec<Weak<GuardCondition>>>,
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

    /// After this, nothing new can be made. What exists works until it is destroyed.
    pub fn shut_down(&self) {
        self.is_shut_down.store(true, Relaxed); // a flag of its own
    }

    pub fn is_shut_down(&self) -> bool {
        self.is_shut_down.load(Relaxed)
    }

    /// The number of nodes that are not destroyed.
    pub fn nodes(&self) -> usize {
        self.nodes.load(Relaxed)
    }

    /// Has the guard condition of a node that was made triggered by changes of the graph.
    pub fn add_node(&self, node: &gantry::Node, guard_condition: &Arc<GuardCondition>) -> Result<()> {
        lock(&self.graph.guard_conditions).push(Arc::downgrade(guard_condition));
        if lock(&self.graph.changes).is_none() {
            // Not under the lock: the waker may be called at once, and takes it.
            let mut changes = node.graph_changes()?;
            changes.set_waker(Some(self.graph.clone().into()));
            *lock(&self.graph.changes) = Some(changes);
            self.graph.take_news();
        }
        self.nodes.fetch_add(1, Relaxed);
        Ok(())
    }

    /// The counterpart of [`Context::add_node`]. With the last node, the process leaves the domain.
    pub fn remove_node(&self, guard_condition: &Arc<GuardCondition>) {
        let of_node = Arc::as_ptr(guard_condition);
        lock(&self.graph.guard_conditions).retain(|other| !std::ptr::eq(other.as_ptr(), of_node));
        if self.nodes.fetch_sub(1, Relaxed) == 1 {
            let changes = lock(&self.graph.changes).take();
            drop(changes); // not under the lock, which its waker takes
        }
    }

    /// The listener, which starts now if there is none.
    pub fn listener(&self) -> Result<Arc<Listener>> {
        let mut listener = lock(&self.listener);
        match &*listener {
            Some(listener) => Ok(listener.clone()),
            None => Ok(listener.insert(Arc::new(Listener::start(self.domain_id)?)).clone()),
        }
    }
}

impl GraphNews {
    /// Takes the news, so that the next ones wake again; returns whether there were any.
    fn take_news(&self) -> bool {
        let mut changes = lock(&self.changes);
        // It fails in a forked child only, which has no such thread.
        changes.as_mut().is_some_and(|changes| matches!(changes.take(), Ok(Some(()))))
    }
}

impl Wake for GraphNews {
    fn wake(self: Arc<GraphNews>) {
        self.take_news();
        let guard_conditions: Vec<_> = lock(&self.guard_conditions).iter().filter_map(Weak::upgrade).collect();
        guard_conditions.iter().for_each(|guard_condition| guard_condition.flag.set());
    }
}
