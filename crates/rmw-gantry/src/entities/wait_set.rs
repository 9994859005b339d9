//! Wait sets for `rmw_wait`: a `Collector` for messages, and flags for guard conditions and events. Both stay attached
//! to their conditions from one wait to the next.
//!
//! Invariants:
//! - A source without `maybe_ready` has nothing to take, except if the collector has news for it.
//! - Each flag in `flags` is detached before it leaves the list, at the latest at the drop of the wait set.

use super::{
    event::Event,
    guard_condition::GuardCondition,
    source::AnySource,
    wake_up::{Flag, WakeUp},
};
use gantry::{Attachment, Collector};
use rmw_abi::failure::{Failure, Result};
use std::{
    sync::{Arc, Mutex, TryLockError},
    time::{Duration, Instant},
};

/// The longest sleep of a wait set if another wait set has attached one of its flags: the flag wakes only the wait set
/// that attached it last.
const SHARED_SLICE: Duration = Duration::from_millis(1);

/// A wait set for messages, guard conditions and events. Only one thread may use it at a time.
pub struct WaitSet(Mutex<Waiting>);

struct Waiting {
    collector: Collector,
    /// The sources of the last wait, in the order of that wait.
    sources: Vec<Waited>,
    wake_up: Box<WakeUp>,
    /// The flags of the last wait, in the order of that wait.
    flags: Vec<Arc<Flag>>,
}

struct Waited {
    id: u64,
    attachment: Option<Attachment>,
    maybe_ready: bool,
}

/// The conditions of one wait. The `bool` beside a condition is true after the wait if the condition is ready.
#[derive(Default)]
pub struct Conditions<'a> {
    pub sources: Vec<(&'a dyn AnySource, bool)>,
    pub guard_conditions: Vec<(&'a GuardCondition, bool)>,
    pub events: Vec<(&'a Event, bool)>,
}

impl WaitSet {
    pub fn new(domain_id: u32) -> Result<WaitSet> {
        let collector = Collector::join(domain_id)?;
        let wake_up = Box::new(WakeUp::new(collector.bell()));
        Ok(WaitSet(Mutex::new(Waiting { collector, sources: Vec::new(), wake_up, flags: Vec::new() })))
    }

    /// Waits until one of the conditions is ready. Returns `false` if the deadline passes first; `None` means no
    /// deadline. The wait also resets the guard conditions that are ready.
    pub fn wait(&self, conditions: &mut Conditions<'_>, deadline: Option<Instant>) -> Result<bool> {
        let mut waiting = match self.0.try_lock() {
            Ok(waiting) => waiting,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::error("another thread waits with this wait set: each thread needs its own"));
            }
        };
        waiting.attach_sources(conditions)?;
        waiting.attach_flags(conditions)?;
        loop {
            waiting.wake_up.reset();
            waiting.collect();
            if waiting.look_at_sources(conditions)? | conditions.look_at_flags() {
                conditions.take_guard_conditions();
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            waiting.sleep(deadline)?;
        }
    }
}

impl Waiting {
    /// Sleeps until a message, a guard condition or an event may be ready, or the deadline passes.
    fn sleep(&mut self, deadline: Option<Instant>) -> Result<()> {
        let Waiting { collector, wake_up, flags, .. } = self;
        let is_shared = flags.iter().any(|flag| !flag.is_attached(wake_up));
        let slice = is_shared.then(|| Instant::now() + SHARED_SLICE);
        let deadline = deadline.into_iter().chain(slice).min();
        Ok(collector.wait(deadline, || wake_up.has_news())?)
    }

    /// Attaches the sources of this wait, and detaches sources that only the last wait had. Does nothing if both waits
    /// have the same sources.
    fn attach_sources(&mut self, conditions: &Conditions<'_>) -> Result<()> {
        let is_same = self.sources.len() == conditions.sources.len()
            && self.sources.iter().zip(&conditions.sources).all(|(waited, (source, _))| waited.id == source.id());
        if is_same {
            return Ok(());
        }
        let wanted: Vec<u64> = conditions.sources.iter().map(|(source, _)| source.id()).collect();
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
                None => match source.attach(&mut self.collector) {
                    Ok(attachment) => Waited { id: source.id(), attachment, maybe_ready: true },
                    Err(error) => {
                        let left = kept.into_iter().filter_map(|waited| waited.attachment);
                        left.for_each(|attachment| self.collector.detach(attachment));
                        return Err(error.into());
                    }
                },
            };
            self.sources.push(waited);
        }
        // Detaches the sources that only the last wait had. A source that the last wait had twice keeps one entry.
        let left = kept.into_iter().filter_map(|waited| waited.attachment);
        left.for_each(|attachment| self.collector.detach(attachment));
        Ok(())
    }

    /// Attaches the flags of this wait, and detaches the flags that only the last wait had.
    fn attach_flags(&mut self, conditions: &Conditions<'_>) -> Result<()> {
        let Waiting { wake_up, flags, .. } = self;
        let is_same = flags.len() == conditions.flags().count()
            && flags.iter().zip(conditions.flags()).all(|(old, new)| Arc::ptr_eq(old, new));
        if !is_same {
            let wanted: Vec<_> = conditions.flags().cloned().collect();
            for flag in flags.iter().filter(|flag| !wanted.iter().any(|wanted| Arc::ptr_eq(wanted, flag))) {
                flag.detach(wake_up);
            }
            *flags = wanted;
        }
        for flag in &*flags {
            // SAFETY: the flag is in `flags`, so it is detached before the boxed `wake_up` is dropped.
            unsafe { flag.attach(wake_up) };
        }
        if !is_same {
            // `prepare` comes after the attachment, so that the flag of a change between the two wakes this wait set.
            conditions.guard_conditions.iter().try_for_each(|(guard_condition, _)| guard_condition.prepare())?;
        }
        Ok(())
    }

    /// Finds the sources that may have become ready.
    fn collect(&mut self) {
        let Waiting { collector, sources, .. } = self;
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

impl Drop for Waiting {
    fn drop(&mut self) {
        self.flags.iter().for_each(|flag| flag.detach(&self.wake_up));
    }
}

impl Conditions<'_> {
    fn flags(&self) -> impl Iterator<Item = &Arc<Flag>> {
        let of_events = self.events.iter().map(|(event, _)| &event.flag);
        self.guard_conditions.iter().map(|(guard_condition, _)| &guard_condition.flag).chain(of_events)
    }

    fn look_at_flags(&mut self) -> bool {
        self.events.iter_mut().for_each(|(event, is_ready)| *is_ready = event.flag.is_set());
        self.flags().any(|flag| flag.is_set())
    }

    /// Resets the ready guard conditions, so that one trigger ends one wait.
    fn take_guard_conditions(&mut self) {
        self.guard_conditions
            .iter_mut()
            .for_each(|(guard_condition, is_ready)| *is_ready = guard_condition.flag.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::{filtered_subscription::FilteredSubscription, source::Source};
    use gantry::{Node, Qos, TypeDescription};

    /// An attachment that stayed would make each message of the topic wake the wait set, also in later waits.
    #[test]
    fn a_source_that_was_in_a_wait_twice_leaves_nothing() {
        const DOMAIN_ID: u32 = 98;
        let node = Node::builder("twice").domain_id(DOMAIN_ID).build().unwrap();
        let bytes = || TypeDescription { name: "bytes".to_owned(), payload_bytes: 8, ..TypeDescription::default() };
        let subscription = node.create_generic_subscription("/twice", bytes(), 10).unwrap();
        let mut publisher = node.create_generic_publisher("/twice", bytes(), 10).unwrap();
        let source = Source::new(FilteredSubscription::new(subscription, &Qos::default(), false));
        assert_eq!(source.library.with(|library| Ok(library.library.publisher_count()?)).ok(), Some(1));
        let wait_set = WaitSet::new(DOMAIN_ID).ok().unwrap();
        let mut found_after = |counts: &[usize]| {
            for count in counts {
                let sources = vec![(&source as &dyn AnySource, false); *count];
                let mut conditions = Conditions { sources, ..Conditions::default() };
                assert_eq!(wait_set.wait(&mut conditions, Some(Instant::now())).ok(), Some(false), "{count}");
            }
            publisher.publish_copy(&[0; 8]).unwrap();
            let mut found = 0;
            wait_set.0.lock().unwrap().collector.collect(|_| found += 1);
            source.library.with(|library| Ok(library.take()?)).ok().unwrap().unwrap();
            found
        };
        assert_eq!(found_after(&[1]), 1);
        assert_eq!(found_after(&[2]), 1);
        assert_eq!(found_after(&[2, 1]), 1);
        assert_eq!(found_after(&[2, 1, 0]), 0);
        assert_eq!(found_after(&[2, 0]), 0);
    }
}
