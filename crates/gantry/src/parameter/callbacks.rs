//! Callbacks of parameter changes, of three kinds: `pre_set` runs before a change is checked, `on_set` runs after the
//! check, and both may refuse the change; `post_set` runs after the change was made.

use super::value::Parameter;
use crate::wait::{lock, try_lock};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering::SeqCst, fence},
};

/// A handle to a callback of parameter changes. Dropping the handle does not remove the callback.
#[derive(Clone)]
pub struct ParameterCallbackHandle(Arc<dyn Remove>);

impl ParameterCallbackHandle {
    /// Removes the callback and drops it. If the callback runs now, it is dropped at the end of the run, otherwise
    /// before this method returns.
    pub fn remove(self) {
        self.0.remove();
    }
}

impl std::fmt::Debug for ParameterCallbackHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParameterCallbackHandle(removed: {})", self.0.is_removed())
    }
}

pub(super) type PreSet = dyn FnMut(&mut Vec<Parameter>) -> Result<(), String> + Send;
pub(super) type OnSet = dyn FnMut(&[Parameter]) -> Result<(), String> + Send;
pub(super) type PostSet = dyn FnMut(&[Parameter]) + Send;

/// A callback that its handle can remove.
struct Slot<F: ?Sized> {
    /// The callback; the lock is held while the callback runs.
    callback: Mutex<Option<Box<F>>>,
    is_removed: AtomicBool,
}

/// A guard that ends a run of a callback, also after a panic.
struct RunEnd<'a, F: ?Sized>(&'a Slot<F>);

/// The methods of a slot that do not depend on the kind of its callback.
trait Remove: Send + Sync {
    fn remove(&self);
    fn is_removed(&self) -> bool;
}

/// Callbacks of one kind, in the order in which they were added.
pub(super) struct List<F: ?Sized>(Vec<Arc<Slot<F>>>);

/// The callbacks of a node.
#[derive(Default)]
pub(super) struct Callbacks {
    pub(super) pre_set: List<PreSet>,
    pub(super) on_set: List<OnSet>,
    pub(super) post_set: List<PostSet>,
}

impl<F: ?Sized> Slot<F> {
    fn run<R>(&self, run: impl FnOnce(&mut F) -> R) -> Option<R> {
        let _end = RunEnd(self); // dropped after `callback`, when the lock is free
        let mut callback = lock(&self.callback);
        callback.as_deref_mut().map(run)
    }

    /// Drops the callback if it was removed and does not run. If it runs, the thread that runs it calls this method at
    /// the end of the run.
    fn drop_removed(&self) {
        fence(SeqCst); // if a removal finds the callback locked, the end of that run sees the flag
        if self.is_removed.load(SeqCst)
            && let Some(mut callback) = try_lock(&self.callback)
        {
            let removed = callback.take();
            drop(callback);
            drop(removed); // dropped after the unlock: the drop may run user code
        }
    }
}

impl<F: ?Sized> Drop for RunEnd<'_, F> {
    fn drop(&mut self) {
        self.0.drop_removed();
    }
}

impl<F: ?Sized + Send> Remove for Slot<F> {
    fn remove(&self) {
        self.is_removed.store(true, SeqCst);
        self.drop_removed();
    }

    fn is_removed(&self) -> bool {
        self.is_removed.load(SeqCst)
    }
}

impl<F: ?Sized> Default for List<F> {
    fn default() -> List<F> {
        List(Vec::new())
    }
}

impl<F: ?Sized + Send + 'static> List<F> {
    pub(super) fn add(&mut self, callback: Box<F>) -> ParameterCallbackHandle {
        self.0.retain(|slot| !slot.is_removed());
        let slot = Arc::new(Slot { callback: Mutex::new(Some(callback)), is_removed: AtomicBool::new(false) });
        self.0.push(slot.clone());
        ParameterCallbackHandle(slot)
    }

    /// Runs the callbacks that were not removed.
    pub(super) fn run<R>(&self, mut run: impl FnMut(&mut F) -> R) -> impl Iterator<Item = R> {
        self.0.iter().filter(|slot| !slot.is_removed()).filter_map(move |slot| slot.run(&mut run))
    }
}
