//! The right to change parameters, which one thread has at a time, and the news of a change.

use super::{
    super::{callbacks::Callbacks, value::Parameter},
    ParameterStore, refused,
};
use crate::{error::Result, wait::lock};
use std::sync::MutexGuard;

/// The parameters of a change, as an event tells of them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) new: Vec<Parameter>,
    pub(crate) changed: Vec<Parameter>,
    pub(crate) deleted: Vec<Parameter>,
}

/// The right to change parameters.
pub(super) struct Change<'a> {
    pub(super) callbacks: MutexGuard<'a, Callbacks>,
    store: &'a ParameterStore,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        *lock(&self.store.changer) = None;
    }
}

impl ParameterStore {
    /// Waits until no other thread changes parameters. A callback of a change would wait for itself, and gets an error.
    pub(super) fn change(&self, name: &str) -> Result<Change<'_>> {
        let this = std::thread::current().id();
        if *lock(&self.changer) == Some(this) {
            return Err(refused(name, "callbacks of parameter changes cannot change parameters themselves"));
        }
        let change = Change { callbacks: lock(&self.callbacks), store: self };
        *lock(&self.changer) = Some(this);
        Ok(change)
    }
}

impl Change<'_> {
    /// Asks the callbacks whether the values are allowed.
    pub(super) fn ask(&mut self, parameters: &[Parameter]) -> Result<()> {
        let name = parameters.first().map_or("", |first| &first.name);
        let mut callbacks = self.callbacks.on_set.iter_mut();
        callbacks.try_for_each(|callback| callback(parameters)).map_err(|why| refused(name, why))
    }

    /// Tells callbacks and listener of the change that was made.
    pub(super) fn tell(&mut self, parameters: &[Parameter], changes: Changes) {
        self.callbacks.post_set.iter_mut().for_each(|callback| callback(parameters));
        self.publish(changes);
    }

    pub(super) fn publish(&mut self, changes: Changes) {
        if let Some(listener) = self.store.listener.get() {
            listener(changes);
        }
    }
}
