//! The runs of callbacks: their start, their end, and the handling of their outcomes.

use super::{ReadyQueue, registered_callback::RegisteredCallback};
use crate::{
    callback::{Callback, EventKey, RunOutcome},
    executor::slow_run::{SlowRun, SlowRunWarning, is_in_slow_run, slow_ns},
    time::monotonic_ns,
};
use std::{mem::take, sync::Arc};

/// The pause before a callback whose source failed is tried again.
const RETRY_AFTER_NS: u64 = 100_000_000;

/// A callback whose run was started; [`ReadyQueue::finish`] takes this value at the end of the run.
#[must_use = "a run that is not finished keeps its callback from running again"]
pub(crate) struct Running {
    pub(crate) callback: Arc<Callback>,
    pub(crate) work: Work,
}

/// The kind of a run.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Takes a value, and calls the callback with it.
    Take,
    /// Calls the callback with a kept value. If values of the callback may be dropped (`is_lossy`),
    /// [`ReadyQueue::report`] was already called when the value was queued.
    Queued { key: EventKey, is_lossy: bool },
}

impl Running {
    pub(crate) fn run(&self) -> RunOutcome {
        match self.work {
            Work::Take => self.callback.run(),
            Work::Queued { key, .. } => self.callback.run_queued(key),
        }
    }
}

impl ReadyQueue {
    /// Runs a callback on the thread that gathers, and records the outcome with [`ReadyQueue::report`] (after a panic,
    /// at the next gathering). Returns whether the callback ran.
    pub(crate) fn run(&mut self, index: usize, run: impl FnOnce(&Callback) -> RunOutcome) -> bool {
        self.current = Some(index);
        let outcome = self.run_reported(index, run);
        self.current = None;
        self.report(index, outcome);
        matches!(outcome, RunOutcome::More | RunOutcome::Last)
    }

    /// Runs a callback as [`ReadyQueue::run`] does, but without [`ReadyQueue::report`], which was already called when
    /// the callback's value was queued.
    pub(crate) fn run_reported(&mut self, index: usize, run: impl FnOnce(&Callback) -> RunOutcome) -> RunOutcome {
        let callback = &self.callbacks[index].callback;
        let outcome = run(callback);
        self.note_run(index, outcome);
        outcome
    }

    /// Stores a slow run for the warning at the next gathering.
    fn note_run(&mut self, index: usize, outcome: RunOutcome) {
        if let Some(ran_ns) = slow_ns(&self.callbacks[index].callback, outcome) {
            let others = self.callbacks.iter().enumerate().filter(|(other, of)| of.is_running && *other != index);
            let slow = others.filter(|(_, other)| is_in_slow_run(&other.callback)).count() + 1;
            self.slow_run = Some(SlowRun { index, ran_ns, held_up_all: slow >= self.signal.threads() });
        }
    }

    /// The warning about a slow run, if another callback had to wait for it.
    pub(super) fn warning_of(&self, slow: &SlowRun) -> Option<SlowRunWarning> {
        if self.is_changed {
            return None;
        }
        let RegisteredCallback { callback, lane, .. } = &self.callbacks[slow.index];
        let waited = |(index, other): (usize, &RegisteredCallback)| {
            let is_held_up = slow.held_up_all || other.lane == *lane;
            is_held_up && index != slow.index && other.is_pending && !other.is_running
        };
        self.callbacks.iter().enumerate().any(waited).then(|| slow.warning(callback)).flatten()
    }

    /// Starts a run of a callback. Other threads may gather during the run.
    pub(crate) fn start(&mut self, index: usize, work: Work) -> Running {
        self.callbacks[index].is_running = true;
        Running { callback: self.callbacks[index].callback.clone(), work }
    }

    /// Puts all kept values back, so that the next takes return them. For a running callback, this happens at the end
    /// of its run.
    pub(crate) fn return_queued(&mut self) {
        for registered in &mut self.callbacks {
            registered.has_orphans = registered.is_running;
            if !registered.is_running {
                registered.callback.lock().return_queued();
            }
        }
    }

    /// Ends a run.
    pub(crate) fn finish(&mut self, Running { callback, work }: Running, outcome: RunOutcome) {
        let Some(index) = self.index_of(&callback) else { return };
        self.note_run(index, outcome);
        let registered = &mut self.callbacks[index];
        registered.is_running = false;
        if registered.is_leaving {
            self.members.touch(); // the next gathering releases the callback before it can start again
        }
        let (has_news, has_orphans) = (take(&mut registered.has_news), take(&mut registered.has_orphans));
        if has_orphans {
            callback.lock().return_queued();
        }
        let is_over = matches!(outcome, RunOutcome::Last | RunOutcome::Nothing);
        if !matches!(work, Work::Queued { is_lossy: true, .. }) || has_orphans {
            self.report(index, if has_orphans || is_over && has_news { RunOutcome::More } else { outcome });
        } else if has_news {
            registered.set_pending(&mut self.ready, index, false);
        }
    }

    /// Records the outcome of a run.
    pub(crate) fn report(&mut self, index: usize, outcome: RunOutcome) {
        match outcome {
            RunOutcome::More | RunOutcome::Skipped => self.ready[self.callbacks[index].level].push(index),
            RunOutcome::Last | RunOutcome::Nothing if self.unmute(index) => self.report(index, RunOutcome::More),
            RunOutcome::Last | RunOutcome::Nothing => {
                self.callbacks[index].is_pending = false;
                if self.callbacks[index].is_timed {
                    self.update_due(index);
                }
            }
            RunOutcome::Failed => self.set_due(index, Some(monotonic_ns() + RETRY_AFTER_NS)),
        }
    }

    /// Allows news of a callback to be reported again. Returns `true` if the reports were switched off, so that the
    /// caller must check the callback.
    fn unmute(&mut self, index: usize) -> bool {
        match (&mut self.collector, &mut self.callbacks[index].attachment) {
            (Some(collector), Some(attachment)) => collector.unmute(attachment),
            _ => false,
        }
    }
}
