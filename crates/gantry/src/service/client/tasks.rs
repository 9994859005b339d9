//! The tasks that wait for news of one shared client.

use crate::wait::lock;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

/// The waiting tasks, which are woken together.
#[derive(Default)]
pub(super) struct Tasks(Mutex<List>);

#[derive(Default)]
struct List {
    wakers: BTreeMap<u64, Waker>,
    last_id: u64,
    /// The number of [`Deferral`] guards; while it is not 0, no task is woken.
    deferrals: usize,
    /// Whether the tasks must be woken when the last deferral ends.
    is_due: bool,
}

/// The registration of one future's task. Dropping the registration removes the task's waker.
pub(super) struct Task {
    tasks: Arc<Tasks>,
    id: u64,
}

/// A guard that postpones wake-ups. The drop of the last guard wakes the tasks if a wake-up was postponed.
pub(super) struct Deferral<'a>(&'a Tasks);

impl Task {
    pub(super) fn new(tasks: &Arc<Tasks>) -> Task {
        let mut list = lock(&tasks.0);
        list.last_id += 1;
        Task { tasks: tasks.clone(), id: list.last_id }
    }

    /// Registers the task for one wake-up. Returns a waker that wakes all registered tasks.
    pub(super) fn wait(&self, task: &Waker) -> Waker {
        let old = lock(&self.tasks.0).wakers.insert(self.id, task.clone());
        drop(old); // after the unlock: it may own a task of this client
        Waker::from(self.tasks.clone())
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let waker = lock(&self.tasks.0).wakers.remove(&self.id);
        drop(waker); // after the unlock, as in `wait`
    }
}

impl<'a> Deferral<'a> {
    pub(super) fn new(tasks: &'a Tasks) -> Deferral<'a> {
        lock(&tasks.0).deferrals += 1;
        Deferral(tasks)
    }
}

impl Drop for Deferral<'_> {
    fn drop(&mut self) {
        let mut list = lock(&self.0.0);
        list.deferrals -= 1;
        let is_due = std::mem::take(&mut list.is_due);
        let due = if is_due { std::mem::take(&mut list.wakers) } else { BTreeMap::new() };
        drop(list);
        due.into_values().for_each(Waker::wake);
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        let mut list = lock(&self.0);
        if list.deferrals > 0 {
            list.is_due = true;
            return;
        }
        let due = std::mem::take(&mut list.wakers);
        drop(list);
        due.into_values().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn a_task_that_is_woken_during_a_deferral_is_woken_once_after_it() {
        let (tasks, count) = (Arc::<Tasks>::default(), Arc::<Count>::default());
        let task = Task::new(&tasks);
        let waker = task.wait(&Waker::from(count.clone()));
        let deferral = Deferral::new(&tasks);
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(count.0.load(Relaxed), 0);
        drop(deferral);
        waker.wake_by_ref();
        assert_eq!(count.0.load(Relaxed), 1);
    }
}
