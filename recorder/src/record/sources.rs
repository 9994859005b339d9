//! The sources of a recorder: subscriptions, each attached to the collector (a wait set).

use super::{discovery::Source, publishers::Publishers};
use gantry::{Attachment, Collector, GenericSample, Gid};
use gantry_command::say;
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// The number of consecutive errors of a source after which other sources have their turn.
const ERRORS: usize = 2;

/// The attached sources.
#[derive(Debug, Default)]
pub struct Sources(Vec<Attached>);

#[derive(Debug)]
struct Attached {
    source: Source,
    attachment: Option<Attachment>,
    /// Whether the source may have samples.
    is_pending: bool,
    /// The number of overwritten and expired samples that are already counted. Used while the topic has no other
    /// source.
    overwritten: u64,
}

impl Sources {
    /// Attaches a source to the collector. If this fails, a warning states the reason, and the source is not recorded.
    pub fn add(&mut self, mut source: Source, collector: &mut Collector) {
        match collector.attach(&mut source.subscription) {
            // A source is pending at first, because samples that were published before the attachment set no bit in the
            // collector.
            Ok(attachment) => self.0.push(Attached { source, attachment, is_pending: true, overwritten: 0 }),
            Err(error) => say(format_args!("{} is not recorded: {error}", source.topic.name)),
        }
    }

    /// Marks each source as pending whose bit the collector has set.
    pub fn collect(&mut self, collector: &mut Collector) {
        collector.collect(|bit| {
            let is_named = |attached: &&mut Attached| attached.attachment.as_ref().is_some_and(|own| own.bit() == bit);
            self.0.iter_mut().filter(is_named).for_each(|attached| attached.is_pending = true);
        });
    }

    /// Marks all sources as pending.
    pub fn mark_all(&mut self) {
        self.0.iter_mut().for_each(|attached| attached.is_pending = true);
    }

    /// Waits until each subscription is connected to all publishers that have matched it. Otherwise, samples of a
    /// publisher that has just matched could be missed, because a take does not wait for the thread that connects
    /// publishers.
    pub fn join_matched(&mut self) {
        // An error means that a publisher cannot be connected, so its samples cannot be taken anyway.
        self.0.iter_mut().for_each(|attached| _ = attached.source.subscription.publisher_count());
    }

    /// Whether a source may have samples.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.0.iter().any(|attached| attached.is_pending)
    }

    /// The numbers of the pending sources.
    #[must_use]
    pub fn pending(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|number| self.0[*number].is_pending).collect()
    }

    /// The source with the number `number`.
    #[must_use]
    pub fn get(&self, number: usize) -> &Source {
        &self.0[number].source
    }

    /// The next sample of a source; `None` if there is none now.
    pub fn take(&mut self, number: usize) -> Option<GenericSample> {
        let attached = &mut self.0[number];
        for _ in 0..ERRORS {
            match attached.source.subscription.take() {
                Ok(Some(sample)) => return Some(sample),
                Ok(None) => break,
                Err(error) => {
                    // From now on, the subscription ignores the publisher that caused this error.
                    let topic = &attached.source.topic;
                    topic.unwritten.fetch_add(1, Relaxed);
                    say(format_args!("{}: {error}", topic.name));
                }
            }
        }
        attached.is_pending = false;
        None
    }

    /// Whether a source has lost samples: they were overwritten or expired (lifespan) before they were taken.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.0
            .iter()
            .any(|attached| attached.source.subscription.overwritten() + attached.source.subscription.expired() > 0)
    }

    /// The number of samples of a publisher that a source has lost.
    #[must_use]
    pub fn overwritten(&self, number: usize, publisher: Gid) -> u64 {
        let mut by_publisher = self.0[number].source.subscription.overwritten_by_publisher();
        by_publisher.find(|(gid, _)| *gid == publisher).map_or(0, |(_, overwritten)| overwritten)
    }

    /// Counts the samples that were overwritten or expired before they were taken. If a topic has two sources, one may
    /// still deliver a sample that the other has lost. Missing samples of such a topic are therefore counted only when
    /// neither source has waiting samples, or at the end.
    pub fn count_overwritten(&mut self, publishers: &Publishers, is_end: bool) {
        for number in 0..self.0.len() {
            let topic = self.0[number].source.topic.clone();
            let is_its = |number: &usize| Arc::ptr_eq(&self.0[*number].source.topic, &topic);
            let sources: Vec<usize> = (0..self.0.len()).filter(is_its).collect();
            if sources.len() == 1 {
                let attached = &mut self.0[number];
                let subscription = &attached.source.subscription;
                let overwritten = subscription.overwritten() + subscription.expired();
                let new = overwritten - std::mem::replace(&mut attached.overwritten, overwritten);
                topic.overwritten.fetch_add(new, Relaxed);
            } else if sources[0] == number && (is_end || !sources.iter().any(|number| self.0[*number].is_pending)) {
                topic.overwritten.fetch_max(publishers.missing(&sources), Relaxed);
            }
        }
    }
}
