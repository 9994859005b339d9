//! A closure and the source that it takes from, with the values that an executor keeps for it.
//!
//! Invariant: the kept values are in the order of their keys.

use super::{
    any_callback::{AnyCallback, EventKey, KeptEvent, RunOutcome, TakeOrder},
    run_state::RunState,
};
use crate::{
    error::Result,
    time::monotonic_ns,
    wait::{TakeSource, Waitable},
};
use std::{any::Any, collections::VecDeque};

pub(super) struct TypedCallback<W: TakeSource, F> {
    waitable: W,
    callback: F,
    /// Values that the executor keeps until it runs them.
    queue: VecDeque<(EventKey, W::Taken)>,
    /// Values that an executor kept and did not run: they are taken first.
    returned: VecDeque<W::Taken>,
}

impl<W: TakeSource, F> TypedCallback<W, F> {
    pub(super) fn new(waitable: W, callback: F) -> TypedCallback<W, F> {
        TypedCallback { waitable, callback, queue: VecDeque::new(), returned: VecDeque::new() }
    }

    /// The next value. `is_ready` joins new publishers, which `take_next` does not wait for and no bell announces; it
    /// is also cheap where several topics share a bit of the collector.
    fn take(&mut self, order: TakeOrder) -> Result<Option<W::Taken>> {
        let mut returned = std::iter::from_fn(|| self.returned.pop_front());
        if let Some(taken) = returned.find(|taken| self.waitable.is_current(taken)) {
            return Ok(Some(taken));
        }
        if !self.waitable.is_ready()? {
            return Ok(None);
        }
        match order {
            TakeOrder::Turns => self.waitable.take_next(),
            TakeOrder::Time => self.waitable.take_oldest(),
        }
    }

    /// Takes the kept value out of the queue. It is nearly always the first, or the last.
    fn take_queued(&mut self, key: EventKey) -> Option<W::Taken> {
        let index = if self.queue.front().is_some_and(|(first, _)| *first == key) {
            0
        } else {
            self.queue.binary_search_by_key(&key, |(key, _)| *key).ok()?
        };
        self.queue.remove(index).map(|(_, taken)| taken)
    }

    /// The outcome of a run. An error counts as more: the next take returns it.
    fn after_run(&mut self) -> RunOutcome {
        let is_over = self.returned.is_empty() && self.waitable.is_ready().is_ok_and(|is_ready| !is_ready);
        if is_over { RunOutcome::Last } else { RunOutcome::More }
    }
}

impl<W, F> AnyCallback for TypedCallback<W, F>
where
    W: TakeSource + 'static,
    W::Taken: Send,
    F: FnMut(&mut W, W::Taken) + Send,
{
    fn waitable(&mut self) -> &mut dyn Waitable {
        &mut self.waitable
    }

    fn source(&mut self) -> &mut dyn Any {
        &mut self.waitable
    }

    fn has_work(&mut self) -> bool {
        !self.queue.is_empty() || !self.returned.is_empty() || self.waitable.is_ready().unwrap_or(false)
    }

    fn run(&mut self, order: TakeOrder, runs: &RunState) -> Result<RunOutcome> {
        let Some(taken) = self.take(order)? else { return Ok(RunOutcome::Nothing) };
        let Some(run) = runs.begin() else { return Ok(RunOutcome::Nothing) };
        (self.callback)(&mut self.waitable, taken);
        drop(run);
        Ok(self.after_run())
    }

    fn enqueue(&mut self, number: u64) -> Result<Option<KeptEvent>> {
        let Some(taken) = self.take(TakeOrder::Time)? else { return Ok(None) };
        let time_ns = self.waitable.time_ns(&taken).unwrap_or_else(monotonic_ns);
        let (key, size_bytes) = ((time_ns, number), self.waitable.size_bytes(&taken));
        // A publisher that is matched later may bring an older value.
        let index = self.queue.iter().rposition(|(other, _)| *other < key).map_or(0, |index| index + 1);
        self.queue.insert(index, (key, taken));
        Ok(Some(KeptEvent { key, size_bytes }))
    }

    fn run_queued(&mut self, key: EventKey, runs: &RunState) -> RunOutcome {
        let current = self.take_queued(key).filter(|taken| self.waitable.is_current(taken));
        let Some(taken) = current else { return RunOutcome::Skipped };
        let Some(run) = runs.begin() else { return RunOutcome::Nothing };
        (self.callback)(&mut self.waitable, taken);
        drop(run);
        self.after_run()
    }

    fn discard(&mut self, key: EventKey) {
        self.take_queued(key);
    }

    fn return_queued(&mut self) {
        let queued = std::mem::take(&mut self.queue).into_iter().map(|(_, taken)| taken);
        let returned = queued.chain(std::mem::take(&mut self.returned)).collect();
        self.returned = returned;
    }
}
