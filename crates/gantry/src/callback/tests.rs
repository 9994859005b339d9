//! Tests in which a callback is removed at the moment when its run ends.

use super::*;
use crate::{
    error::Result,
    wait::{TakeSource, WaitSource, Waitable},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{OnceLock, atomic::AtomicBool, mpsc::channel},
    thread,
};

/// A source that always has a value.
struct Always;

impl WaitSource for Always {}

impl Waitable for Always {
    fn is_ready(&mut self) -> Result<bool> {
        Ok(true)
    }
}

impl TakeSource for Always {
    type Taken = ();

    fn take_next(&mut self) -> Result<Option<()>> {
        Ok(Some(()))
    }
}

#[test]
fn a_removal_at_the_end_of_a_run_drops_the_closure() {
    let (callbacks, group) = (Arc::<Callbacks>::default(), Arc::new(Group::new(CallbackGroupType::Reentrant)));
    let ((start, starts), (end, ends)) = (channel::<Arc<Callback>>(), channel());
    thread::spawn(move || {
        for callback in starts {
            while callback.run() == RunOutcome::More {}
            end.send(callback).unwrap();
        }
    });
    for _ in 0..4000 {
        let (mark, has_run) = (Arc::new(()), Arc::new(AtomicBool::new(false)));
        let (owned, runs) = (mark.clone(), has_run.clone());
        let handle = callbacks.add(&group, Always, move |_, ()| {
            let _ = &owned;
            runs.store(true, Relaxed);
        });
        start.send(callbacks.node_callbacks().pop().unwrap()).unwrap();
        while !has_run.load(Relaxed) {
            std::hint::spin_loop();
        }
        handle.remove();
        let _callback = ends.recv().unwrap();
        assert_eq!(Arc::strong_count(&mark), 1, "the callback is still there, without its closure");
    }
}

#[test]
fn a_callback_that_removes_itself_and_panics_is_dropped() {
    let (callbacks, group) = (Arc::<Callbacks>::default(), Arc::new(Group::new(CallbackGroupType::Reentrant)));
    let (mark, own_handle) = (Arc::new(()), Arc::<OnceLock<CallbackHandle>>::default());
    let (owned, itself) = (mark.clone(), own_handle.clone());
    let handle = callbacks.add(&group, Always, move |_, ()| {
        let _ = &owned;
        itself.get().unwrap().clone().remove();
        resume_unwind(Box::new("a panic that is not printed"));
    });
    own_handle.set(handle).unwrap();
    let callback = callbacks.node_callbacks().pop().unwrap();
    catch_unwind(AssertUnwindSafe(|| callback.run())).unwrap_err();
    assert_eq!(Arc::strong_count(&mark), 1, "the callback is still there, without its closure");
}
