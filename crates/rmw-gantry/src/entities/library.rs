//! Objects of `gantry` behind a lock, because ROS 2 may use an entity on any thread.
//!
//! An object ends with its entity, or earlier with the entity's node. The second case is needed because rclpy 7.1 never
//! destroys the service `get_type_description` of a node: this service would keep the node in the graph.

use crate::lock::lock;
use rmw_abi::failure::{Failure, Result};
use std::sync::Mutex;

/// A publisher, a subscription, a service or a client of `gantry`.
pub struct Library<T>(Mutex<Option<T>>);

/// An object that a node closes at its own destruction.
pub trait Close: Send + Sync {
    fn close(&self);
}

impl<T> Library<T> {
    pub fn new(object: T) -> Library<T> {
        Library(Mutex::new(Some(object)))
    }

    /// Calls `call` with the object, under the lock.
    ///
    /// # Errors
    /// An error of `call`, or the node was destroyed.
    pub fn with<R>(&self, call: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let destroyed =
            || Err(Failure::error("the node of this entity is destroyed; destroy the entity before its node"));
        self.with_open(call).unwrap_or_else(destroyed)
    }

    /// Calls `call` with the object, under the lock. Returns `None` if the node was destroyed.
    pub fn with_open<R>(&self, call: impl FnOnce(&mut T) -> R) -> Option<R> {
        lock(&self.0).as_mut().map(call)
    }
}

impl<T: Send> Close for Library<T> {
    fn close(&self) {
        let object = lock(&self.0).take();
        drop(object); // without the lock
    }
}
