//! A collector: it waits for many subscriptions and finds those with news, in time proportional to their number.
//!
//! It stays announced on the topics of its subscriptions, so the cost of going to sleep does not depend on their number
//! (`protocol::collect`). If all waiter lines are taken it shares the last one: it announces itself for each short sleep, and
//! reports all topics after it.

use crate::{
    domain::{Domain, board::TopicIndex, participant::Participant},
    error::Result,
    protocol::{
        collect,
        layout::WAITER_AWAKE,
        sleep::{self, SHARED_WAITER, WaiterIndex},
        sync::Ordering::Relaxed,
    },
    subscribe::subscription::Subscription,
    wait::{bell::Bell, waiter::Waiter},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Longest sleep on the shared line: no bell rings for news between its last look and the sleep.
const SHARED_SLICE: Duration = Duration::from_millis(10);

/// A wait set that learns which topics have news from one bit per topic. It belongs to one thread at a time.
///
/// Several topics may share one of [`Collector::BITS`], so a reported subscription may have nothing. [`Collector::collect`] is on
/// the data path; [`Collector::wait`] sleeps by one futex call.
pub struct Collector {
    domain: Arc<Domain>,
    waiter: Waiter,
    index: WaiterIndex,
    /// Topics of the attached subscriptions, and the number of subscriptions.
    topics: Vec<(TopicIndex, usize)>,
    /// On the shared line: it waited since all topics were reported.
    has_waited: bool,
}

/// An attached subscription, for [`Collector::detach`].
#[derive(Debug)]
pub struct Attachment(TopicIndex);

impl Collector {
    /// Number of topics that can be told apart.
    pub const BITS: usize = collect::READY_BITS;

    /// A collector without subscriptions.
    ///
    /// # Errors
    /// The process forked.
    pub fn new(participant: &Arc<Participant>) -> Result<Collector> {
        let domain = participant.domain.clone();
        domain.epoch.check()?;
        let mut waiter = Waiter::new(domain.clone());
        let index = waiter.index();
        if index != SHARED_WAITER {
            domain.board.waiter(index).state.store(WAITER_AWAKE, Relaxed);
        }
        Ok(Collector { domain, waiter, index, topics: Vec::new(), has_waited: true })
    }

    /// The bell that wakes it, from any thread of this process.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell::new(&self.domain, self.index)
    }

    /// Attaches a subscription. Its present samples are not reported: the caller looks at it once.
    ///
    /// # Errors
    /// The subscription is of another domain; the process forked.
    pub fn attach(&mut self, subscription: &Subscription) -> Result<Attachment> {
        subscription.check_waiter(&self.domain)?;
        let topic = subscription.topic;
        match self.topics.iter_mut().find(|(attached, _)| *attached == topic) {
            Some((_, count)) => *count += 1,
            None => {
                self.topics.push((topic, 1));
                if self.index != SHARED_WAITER {
                    // (3) The caller looks after this, or is woken.
                    sleep::enter([&self.domain.board.line(topic).sleepers].into_iter(), self.index);
                }
            }
        }
        Ok(Attachment(topic))
    }

    /// Detaches a subscription.
    pub fn detach(&mut self, Attachment(topic): Attachment) {
        let Some(index) = self.topics.iter().position(|(attached, _)| *attached == topic) else { return };
        self.topics[index].1 -= 1;
        if self.topics[index].1 == 0 {
            self.topics.swap_remove(index);
            if self.domain.epoch.is_current() {
                sleep::leave(&self.domain.board.line(topic).sleepers, self.index);
            }
        }
    }

    /// Calls `found` with the bits of the topics that had news since the last call. The caller takes from each until it has none.
    /// A forked child, which does not have the board, finds none.
    pub fn collect(&mut self, mut found: impl FnMut(usize)) {
        if !self.domain.epoch.is_current() {
            return;
        }
        if self.index == SHARED_WAITER {
            // Once: a caller that collects until there is nothing more must come to an end.
            if std::mem::take(&mut self.has_waited) {
                self.topics.iter().for_each(|(topic, _)| found(topic.ready_bit().0));
            }
            return;
        }
        for (word, mut bits) in collect::collect(self.domain.board.waiter(self.index)).into_iter().enumerate() {
            while bits != 0 {
                found(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Waits until there is something to collect, `look` returns `true`, the bell was rung, or `deadline` is over (`None`: no
    /// limit); it may also return early. A bounded spin (none where only one CPU is usable), then one futex. `look` finds the
    /// news for which the bell is rung.
    ///
    /// # Errors
    /// The process forked.
    pub fn wait(&mut self, deadline: Option<Instant>, mut look: impl FnMut() -> bool) -> Result<()> {
        self.domain.epoch.check()?;
        let Collector { domain, waiter, index, topics, has_waited } = self;
        if *index == SHARED_WAITER {
            *has_waited = true;
            let sleepers = topics.iter().map(|(topic, _)| &domain.board.line(*topic).sleepers);
            let soon = Instant::now() + SHARED_SLICE;
            waiter.sleep_once(Some(deadline.map_or(soon, |deadline| deadline.min(soon))), sleepers, look);
            return Ok(());
        }
        let line = domain.board.waiter(*index);
        waiter.collect_once(deadline, || collect::has_ready(line) || look());
        Ok(())
    }
}

impl Attachment {
    /// Its topic's bit, less than [`Collector::BITS`].
    #[must_use]
    pub fn bit(&self) -> usize {
        self.0.ready_bit().0
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({:?}, {} topics)", self.waiter, self.topics.len())
    }
}
