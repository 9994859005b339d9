//! A collector: it waits for many subscriptions and finds the subscriptions with news, in a time proportional to the
//! number of subscriptions with news.
//!
//! The collector stays among the sleepers of its topics, so the cost of going to sleep does not depend on their number
//! (`protocol::collect`). If all waiter lines of the board are in use, the collector shares the last waiter line: it
//! joins the sleepers only for each short sleep, and reports all topics after the sleep.

use crate::{
    domain::{Domain, board::TopicIndex, participant::Participant},
    error::Result,
    protocol::{
        collect,
        layout::WAITER_AWAKE,
        sleep::{self, SHARED_WAITER},
        sync::Ordering::Relaxed,
    },
    subscribe::subscription::Subscription,
    wait::{
        bell::Bell,
        sleeper::{PreparedSleep, Sleeper},
        waiter::OwnedLine,
    },
};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// A wait set that finds the topics with news by one bit per topic. It belongs to one thread at a time; several threads
/// share one under a lock, and sleep without the lock ([`Collector::prepare_sleep`]).
///
/// Several topics may share one of the [`Collector::BITS`] bits, so a reported subscription may have no news.
/// [`Collector::collect`] is on the data path; [`Collector::wait`] sleeps by one futex call.
pub struct Collector {
    domain: Arc<Domain>,
    line: Arc<OwnedLine>,
    sleeper: Sleeper,
    topics: BTreeMap<TopicIndex, Attached>,
    /// Whether the collector has waited since it last reported all its topics. Used only on the shared waiter line,
    /// which has no bit for each topic.
    has_waited: bool,
}

/// The numbers of attached subscriptions of one topic.
#[derive(Default)]
struct Attached {
    count: usize,
    /// The number of the topic's attached subscriptions that are muted.
    muted: usize,
}

/// An attached subscription, for [`Collector::detach`].
#[derive(Debug)]
pub struct Attachment {
    topic: TopicIndex,
    is_muted: bool,
}

impl Collector {
    /// The number of topics that a collector distinguishes; further topics share bits.
    pub const BITS: usize = collect::READY_BITS;

    /// Creates a collector without subscriptions.
    ///
    /// # Errors
    /// The process forked.
    pub fn new(participant: &Arc<Participant>) -> Result<Collector> {
        let domain = participant.domain.clone();
        domain.epoch.check()?;
        let line = Arc::new(OwnedLine::take(domain.clone()));
        if line.index != SHARED_WAITER {
            line.words().state.store(WAITER_AWAKE, Relaxed);
        }
        Ok(Collector { domain, line, sleeper: Sleeper::new(), topics: BTreeMap::new(), has_waited: true })
    }

    /// The bell by which any thread of this process wakes the collector.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell::new(&self.domain, self.line.index)
    }

    /// Attaches a subscription. Samples that it could take before the call are not reported: the caller checks the
    /// subscription once after this call.
    ///
    /// # Errors
    /// The subscription belongs to another domain; the process forked.
    pub fn attach(&mut self, subscription: &Subscription) -> Result<Attachment> {
        subscription.check_waiter(&self.domain)?;
        let topic = subscription.topic;
        self.change(topic, |attached| attached.count += 1);
        Ok(Attachment { topic, is_muted: false })
    }

    /// Detaches a subscription, which may have been dropped before. The attachment must come from this collector.
    pub fn detach(&mut self, Attachment { topic, is_muted }: Attachment) {
        self.change(topic, |attached| {
            attached.count = attached.count.saturating_sub(1); // 0 for an attachment of another collector
            attached.muted = attached.muted.saturating_sub(usize::from(is_muted));
        });
    }

    /// Mutes a subscription: its news is not reported and wakes no thread. News of its topic is still reported if
    /// another subscription of the topic is not muted. Muting suits a caller that will check the subscription for
    /// samples anyway. Makes no system call.
    pub fn mute(&mut self, attachment: &mut Attachment) {
        if !std::mem::replace(&mut attachment.is_muted, true) {
            self.change(attachment.topic, |attached| attached.muted += 1);
        }
    }

    /// Unmutes a subscription; returns whether it was muted. News that came meanwhile is not reported: the caller
    /// checks the subscription after this call.
    pub fn unmute(&mut self, attachment: &mut Attachment) -> bool {
        let was_muted = std::mem::take(&mut attachment.is_muted);
        if was_muted {
            self.change(attachment.topic, |attached| attached.muted -= 1);
        }
        was_muted
    }

    /// Changes the counts of a topic's attached and muted subscriptions; the collector stays among the topic's
    /// sleepers while a subscription is not muted.
    fn change(&mut self, topic: TopicIndex, change: impl FnOnce(&mut Attached)) {
        let attached = self.topics.entry(topic).or_default();
        let was_among = attached.count > attached.muted;
        change(attached);
        let is_among = attached.count > attached.muted;
        if attached.count == 0 {
            self.topics.remove(&topic);
        }
        if was_among == is_among || !self.domain.epoch.is_current() {
            return;
        }
        let sleepers = &self.domain.board.line(topic).sleepers;
        if !is_among {
            sleep::leave(sleepers, self.line.index);
        } else if self.line.index != SHARED_WAITER {
            sleep::enter([sleepers].into_iter(), self.line.index); // (3): the caller looks for news next, or is woken
        }
    }

    /// Calls `found` with the bits of the topics that had news since the last call. The caller takes from each
    /// subscription until it has none. In a forked child, which has no board, `found` is not called.
    pub fn collect(&mut self, mut found: impl FnMut(usize)) {
        if !self.domain.epoch.is_current() {
            return;
        }
        if self.line.index == SHARED_WAITER {
            // All topics are reported only once after each wait, so that a caller that collects until nothing is
            // reported comes to an end.
            if std::mem::take(&mut self.has_waited) {
                self.topics.keys().for_each(|topic| found(topic.ready_bit().0));
            }
            return;
        }
        for (word, mut bits) in collect::collect(self.line.words()).into_iter().enumerate() {
            while bits != 0 {
                found(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Waits until there is something to collect, `look` returns `true`, the bell was rung, or `deadline` is over
    /// (`None`: no limit). The wait may also end early. It spins for a bounded time (not at all if only one CPU is
    /// usable), then sleeps on one futex. `look` is the caller's own check for the news that a thread announces by
    /// ringing [`Collector::bell`].
    ///
    /// # Errors
    /// The process forked.
    pub fn wait(&mut self, deadline: Option<Instant>, look: impl FnMut() -> bool) -> Result<()> {
        let sleep = self.prepare_sleep()?;
        self.sleeper.sleep(sleep, deadline, look);
        if self.line.index != SHARED_WAITER {
            self.line.words().state.store(WAITER_AWAKE, Relaxed);
        }
        Ok(())
    }

    /// Prepares the sleep of a thread that has called [`Collector::collect`] and found nothing to do. Several threads
    /// may share a collector under a lock: each thread prepares under the lock, releases it, and sleeps
    /// ([`Sleeper::sleep`]); a ring wakes one of them, which collects for all. Makes no system call.
    ///
    /// # Errors
    /// The process forked.
    pub fn prepare_sleep(&mut self) -> Result<PreparedSleep> {
        self.domain.epoch.check()?;
        let rings = self.line.words().bell.rings(); // before a thread with news can see that this thread sleeps
        if self.line.index == SHARED_WAITER {
            self.has_waited = true;
            sleep::enter(self.topics.keys().map(|topic| &self.domain.board.line(*topic).sleepers), SHARED_WAITER);
        }
        Ok(PreparedSleep { line: self.line.clone(), rings })
    }

    /// Leaves the next collecting to a thread that sleeps, or is about to sleep: the caller has collected, under the
    /// lock that the threads share, and continues with other work. If there is something to collect already, or
    /// `look` returns `true`, one system call wakes the sleeping thread; otherwise there is no system call.
    pub fn hand_over(&self, look: impl FnOnce() -> bool) {
        if self.line.index == SHARED_WAITER || !self.domain.epoch.is_current() {
            return; // a sleep on the shared line is short
        }
        collect::hand_over(self.line.words(), look);
    }

    /// Wakes one of the threads that sleep, or are about to sleep. The caller has the lock that these threads share.
    /// Makes one system call.
    pub fn wake_sleeper(&self) {
        if self.domain.epoch.is_current() {
            self.line.words().bell.ring_one();
        }
    }
}

impl Drop for Collector {
    /// Withdraws the collector's waiter line from the sleepers of its topics, so that the line can be freed without
    /// a search through all topics.
    fn drop(&mut self) {
        if self.domain.epoch.is_current() {
            let board = &self.domain.board;
            self.topics.keys().for_each(|topic| sleep::leave(&board.line(*topic).sleepers, self.line.index));
        }
    }
}

impl Attachment {
    /// The bit of the attachment's topic, less than [`Collector::BITS`].
    #[must_use]
    pub fn bit(&self) -> usize {
        self.topic.ready_bit().0
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({}, {:?}, {} topics)", self.domain.directory, self.line.index, self.topics.len())
    }
}
