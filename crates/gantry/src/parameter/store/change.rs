//! A change of a node's parameters, with the callbacks and the listener that it calls.

use super::{
    super::{callbacks::Callbacks, value::Parameter},
    Changes, ParameterStore, refused,
};
use crate::{error::Result, wait::lock};
use std::sync::MutexGuard;

/// The exclusive right to change the parameters of a store.
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
    /// Waits until no other thread changes parameters. A callback of a change that starts another change would
    /// deadlock, so it gets an error.
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
    /// Calls the callbacks that may refuse the values.
    pub(super) fn ask(&self, parameters: &[Parameter]) -> Result<()> {
        let name = parameters.first().map_or("", |first| &first.name);
        let refusal = self.callbacks.on_set.run(|callback| callback(parameters)).find_map(std::result::Result::err);
        refusal.map_or(Ok(()), |why| Err(refused(name, why)))
    }

    /// Calls the callbacks and the listener after the change was made.
    pub(super) fn tell(&self, parameters: &[Parameter], changes: Changes) {
        self.callbacks.post_set.run(|callback| callback(parameters)).for_each(drop);
        self.publish(changes);
    }

    pub(super) fn publish(&self, changes: Changes) {
        if let Some(listener) = self.store.listener.get() {
            listener(changes);
        }
    }
}
