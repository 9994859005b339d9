//! Callbacks of changes: before a change is checked, while it may be refused, and after it was made.

use super::value::Parameter;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// A callback of parameter changes that was added to a node. Dropping the handle does not remove the callback.
#[derive(Clone, Debug)]
pub struct ParameterCallbackHandle(Arc<AtomicBool>);

impl ParameterCallbackHandle {
    /// Removes the callback: it runs at no later change.
    pub fn remove(self) {
        self.0.store(true, Relaxed);
    }
}

pub(super) type PreSet = dyn FnMut(&mut Vec<Parameter>) + Send;
pub(super) type OnSet = dyn FnMut(&[Parameter]) -> Result<(), String> + Send;
pub(super) type PostSet = dyn FnMut(&[Parameter]) + Send;

/// Callbacks of one kind, in the order in which they were added.
pub(super) struct List<F: ?Sized>(Vec<(Arc<AtomicBool>, Box<F>)>);

/// The callbacks of a node.
#[derive(Default)]
pub(super) struct Callbacks {
    pub(super) pre_set: List<PreSet>,
    pub(super) on_set: List<OnSet>,
    pub(super) post_set: List<PostSet>,
}

impl<F: ?Sized> Default for List<F> {
    fn default() -> List<F> {
        List(Vec::new())
    }
}

impl<F: ?Sized> List<F> {
    pub(super) fn add(&mut self, callback: Box<F>) -> ParameterCallbackHandle {
        let removed = Arc::new(AtomicBool::new(false));
        self.0.push((removed.clone(), callback));
        ParameterCallbackHandle(removed)
    }

    /// The callbacks that were not removed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<F>> {
        self.0.retain(|(removed, _)| !removed.load(Relaxed));
        self.0.iter_mut().map(|(_, callback)| callback)
    }
}
