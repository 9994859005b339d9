//! Contexts: one between `rmw_init` and `rmw_context_fini`.

use super::{guard_condition::GuardCondition, listener::Listener};
use crate::failure::Result;
use gantry::{GraphChanges, Waitable};
use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::*},
    },
    task::Wake,
};

/// What the nodes of one `rmw_init` share.
pub struct Context {
    pub domain_id: u32,
    /// Of its nodes, as "/" or "/front/camera".
    pub enclave: String,
    is_shut_down: AtomicBool,
    graph: Arc<GraphNews>,
    /// Made for the first callback of new messages.
    listener: OnceLock<Listener>,
}

/// Triggers the guard conditions of the nodes when the graph changes.
#[derive(Default)]
struct GraphNews {
    /// Made with the first node.
    changes: Mutex<Option<GraphChanges>>,
    guard_conditions: Mutex<Vec<Weak<GuardCondition>>>,
}
