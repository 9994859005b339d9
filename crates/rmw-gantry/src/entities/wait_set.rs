//! Wait sets: `rmw_wait` over a collector that stays attached to its sources from one wait to the next.
//!
//! Invariant: a source that is not `maybe_ready` has nothing to take, unless the collector has its bit.

use super::{
    events::Event,
    guard_condition::GuardCondition,
    source::AnySource,
    wake_up::{Attached, WakeUp},
};
use crate::failure::{Failure, Result};
use gantry::{Attachment, Collector};
use std::{
    sync::{Mutex, TryLockError},
    time::{Duration, Instant},
};

/// The longest sleep if another wait set has the rings of one of the guard conditions or events.
const SHARED_SLICE: Duration = Duration::from_millis(1);

/// Waits for sources, guard conditions and events; used by one thread at a time.
pub struct WaitSet {
    waiting: Mutex<Waiting>,
    wake_up: WakeUp,
}

struct Waiting {
    collector: Collector,
    /// The sources of the last wait, in its order.
    sources: Vec<Waited>,
}

struct Waited {
    id: u64,
    attachment: Option<Attachment>,
    maybe_ready: bool,
}

/// What a wait waits for; afterwards, whether each is ready.
#[derive(Default)]
pub struct Conditions<'a> {
    pub sources: Vec<(&'a dyn AnySource, bool)>,
    pub guard_conditions: Vec<(&'a GuardCondition, bool)>,
    pub events: Vec<(&'a Event, bool)>,
}

impl WaitSet {
    pub fn new(domain_id: u32) -> Result<WaitSet> {
        let collector = Collector::join(domain_id)?;
        let wake_up = WakeUp::new(collector.bell());
        Ok(WaitSet { waiting: Mutex::new(Waiting { collector, sources: Vec::new() }), wake_up })
    }

    /// Waits until one of the conditions is ready; `false` at the deadline (`None`: no limit). Guard conditions that are ready are
    /// taken.
    pub fn wait(&self, conditions: &mut Conditions<'_>, deadline: Option<Instant>) -> Result<bool> {
        let mut waiting = match self.waiting.try_lock() {
            Ok(waiting) => waiting,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::error("another thread waits with this wait set: each thread needs its own"));
            }
        };
        waiting.attach_sources(conditions)?;
        loop {
            waiting.collect();
            if waiting.look_at_sources(conditions)? | conditions.look_at_flags() {
                conditions.take_guard_conditions();
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            self.sleep(&mut waiting.collector, conditions, deadline)?;
        }
    }

    /// Sleeps until there may be news.
    fn sleep(&self, collector: &mut Collector, conditions: &Conditions<'_>, deadline: Option<Instant>) -> Result<()> {
        self.wake_up.reset();
        let mut attached = AttachedGuard { attached: Vec::with_capacity(conditions.flags().count()) };
        let mut is_shared = false;
        for flag in conditions.flags() {
            // SAFETY: the guard below detaches it before this function returns, and `self` stays as long.
            if unsafe { flag.attach(&self.wake_up) } {
                attached.attached.push(flag);
            } else {
                is_shared = true;
            }
        }
        if conditions.has_flag() {
            return Ok(());
        }
        let slice = is_shared.then(|| Instant::now() + SHARED_SLICE);
        let deadline = deadline.into_iter().chain(slice).min();
        Ok(collector.wait(deadline, || self.wake_up.has_news())?)
    }
}

/// Detaches the wake-up when it is dropped.
struct AttachedGuard<'a> {
    attached: Vec<&'a Attached>,
}

impl Drop for AttachedGuard<'_> {
    fn drop(&mut self) {
        self.attached.iter().for_each(|attached| attached.detach());
    }
}

impl Waiting {
    /// Attaches the sources of this wait, and detaches those of the last one, unless they are the same.
    fn attach_sources(&mut self, conditions: &Conditions<'_>) -> Result<()> {
        let ids =
            |sources: &[(&dyn AnySource, bool)]| sources.iter().map(|(source, _)| source.id()).collect::<Vec<_>>();
        let is_same = self.sources.len() == conditions.sources.len()
            && self.sources.iter().zip(&conditions.sources).all(|(waited, (source, _))| waited.id == source.id());
        if is_same {
            return Ok(());
        }
        let wanted = ids(&conditions.sources);
        let mut kept = Vec::with_capacity(wanted.len());
        for waited in std::mem::take(&mut self.sources) {
            if wanted.contains(&waited.id) {
                kept.push(waited);
            } else if let Some(attachment) = waited.attachment {
                self.collector.detach(attachment);
            }
        }
        for (source, _) in &conditions.sources {
            let old = kept.iter().position(|waited| waited.id == source.id());
            let waited = match old {
                Some(index) => kept.swap_remove(index),
                None => Waited { id: source.id(), attachment: source.attach(&mut self.collector)?, maybe_ready: true },
            };
            self.sources.push(waited);
        }
        Ok(())
    }

    /// Finds the sources that may have become ready.
    fn collect(&mut self) {
        let Waiting { collector, sources } = self;
        collector.collect(|bit| {
            for waited in sources.iter_mut() {
                waited.maybe_ready |= waited.attachment.as_ref().is_none_or(|attachment| attachment.bit() == bit);
            }
        });
    }

    fn look_at_sources(&mut self, conditions: &mut Conditions<'_>) -> Result<bool> {
        let mut is_any_ready = false;
        for (waited, (source, is_ready)) in self.sources.iter_mut().zip(&mut conditions.sources) {
            if waited.maybe_ready {
                *is_ready = source.is_ready()?;
                waited.maybe_ready = *is_ready;
                is_any_ready |= *is_ready;
            }
        }
        Ok(is_any_ready)
    }
}

impl Conditions<'_> {
    fn flags(&self) -> impl Iterator<Item = &Attached> {
        let of_events = self.events.iter().map(|(event, _)| &event.attached);
        self.guard_conditions.iter().map(|(guard_condition, _)| &guard_condition.attached).chain(of_events)
    }

    fn has_flag(&self) -> bool {
        self.guard_conditions.iter().any(|(guard_condition, _)| guard_condition.is_triggered())
            || self.events.iter().any(|(event, _)| event.has_news())
    }

    fn look_at_flags(&mut self) -> bool {
        self.events.iter_mut().for_each(|(event, is_ready)| *is_ready = event.has_news());
        self.events.iter().any(|(_, is_ready)| *is_ready)
            | self.guard_conditions.iter().any(|(guard_condition, _)| guard_condition.is_triggered())
    }

    /// A guard condition is one news for one wait.
    fn take_guard_conditions(&mut self) {
        self.guard_conditions.iter_mut().for_each(|(guard_condition, is_ready)| *is_ready = guard_condition.take());
    }
}
