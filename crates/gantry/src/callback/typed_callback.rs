//! A callback with its types: a closure, the source of its values, and the values that are kept for later runs.
//!
//! The compiler generates this code for each message type, so this file has only the code that depends on the type.

use super::{
    any_callback::{AnyCallback, EventKey, KeptEvent, RunOutcome},
    kept_order::KeptOrder,
    run_state::RunState,
};
use crate::{
    error::Result,
    time::monotonic_ns,
    wait::{TakeSource, Waitable},
};
use std::any::Any;

pub(super) struct TypedCallback<W: TakeSource, F> {
    waitable: W,
    callback: F,
    kept: KeptOrder,
    /// The kept values, indexed by their places in `kept`; `None` marks a free place.
    values: Vec<Option<W::Taken>>,
}

impl<W: TakeSource, F> TypedCallback<W, F> {
    pub(super) fn new(waitable: W, callback: F) -> TypedCallback<W, F> {
        TypedCallback { waitable, callback, kept: KeptOrder::default(), values: Vec::new() }
    }

    /// Takes the next value, first the values that were put back. `is_ready` is called before the take for two reasons.
    /// It connects to new publishers, which `take_next` does not. And it is cheaper than a take if the news belongs to
    /// another topic that shares the topic's bit in the collector.
    fn take(&mut self) -> Result<Option<W::Taken>> {
        while let Some(place) = self.kept.pop_returned() {
            if let Some(taken) = self.value(place).filter(|taken| self.waitable.is_current(taken)) {
                return Ok(Some(taken));
            }
        }
        if !self.waitable.is_ready()? {
            return Ok(None);
        }
        self.waitable.take_next()
    }

    fn value(&mut self, place: usize) -> Option<W::Taken> {
        self.values.get_mut(place).and_then(Option::take)
    }

    fn take_queued(&mut self, key: EventKey) -> Option<W::Taken> {
        let place = self.kept.remove(key)?;
        self.value(place)
    }
}

impl<W: TakeSource, F: FnMut(&mut W, W::Taken)> TypedCallback<W, F> {
    /// Calls the closure, then checks for further values. If this check fails, the outcome is [`RunOutcome::More`], so
    /// that the next take returns the error.
    fn call(&mut self, taken: W::Taken, runs: &RunState) -> RunOutcome {
        let Some(run) = runs.begin() else { return RunOutcome::Nothing };
        (self.callback)(&mut self.waitable, taken);
        drop(run);
        let is_over = !self.kept.has_returned() && self.waitable.is_ready().is_ok_and(|is_ready| !is_ready);
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
        !self.kept.is_empty() || self.waitable.is_ready().unwrap_or(false)
    }

    fn run(&mut self, runs: &RunState) -> Result<RunOutcome> {
        let Some(taken) = self.take()? else { return Ok(RunOutcome::Nothing) };
        Ok(self.call(taken, runs))
    }

    fn enqueue(&mut self, number: u64) -> Result<Option<KeptEvent>> {
        let Some(taken) = self.take()? else { return Ok(None) };
        let time_ns = self.waitable.time_ns(&taken).unwrap_or_else(monotonic_ns);
        let (key, size_bytes) = ((time_ns, number), self.waitable.size_bytes(&taken));
        let place = self.kept.insert(key);
        match self.values.get_mut(place) {
            Some(value) => *value = Some(taken),
            None => self.values.push(Some(taken)), // a new place is the next index of the list
        }
        Ok(Some(KeptEvent { key, size_bytes }))
    }

    fn run_queued(&mut self, key: EventKey, runs: &RunState) -> RunOutcome {
        let current = self.take_queued(key).filter(|taken| self.waitable.is_current(taken));
        current.map_or(RunOutcome::Skipped, |taken| self.call(taken, runs))
    }

    fn discard(&mut self, key: EventKey) {
        self.take_queued(key);
    }

    fn return_queued(&mut self) {
        self.kept.return_queued();
    }
}
