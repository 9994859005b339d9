//! A lane: the queue of one local publisher's samples that wait for the network. A full lane drops its oldest samples.
//!
//! The waiting samples are pinned in the publisher's memory. A slow link would otherwise pin all memory of the
//! publisher, so a lane holds at most the publisher's depth and a limited number of bytes. A dropped sample is counted.

use crate::{counts::Counts, lock::lock};
use gantry::GenericSample;
use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// The largest number of bytes that wait in a lane. A single sample may be larger.
const MAX_BYTES: usize = 64 << 20;
/// The time over which a rate limit is averaged. Bursts may exceed the rate, because a program may log several messages
/// at once.
const BURST: Duration = Duration::from_millis(500);

/// The properties of a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneOptions {
    /// The largest number of samples that wait.
    pub depth: usize,
    /// True if a full lane makes its publisher wait (RELIABLE and KEEP_ALL) instead of dropping the oldest sample.
    pub is_gating: bool,
    /// The mean time between two samples that the policy's rate permits. Within half a second, shorter times are
    /// allowed.
    pub min_period: Duration,
    /// The priority, from 1 (most urgent) to 7. Each priority has its own threads.
    pub priority: u8,
}

/// The queue of one publisher's samples that wait for the network.
pub struct Lane {
    options: LaneOptions,
    counts: Arc<Counts>,
    send: Box<Output>,
    waiting: Mutex<Waiting>,
    is_scheduled: AtomicBool,
}

/// Sends a sample to the network, and blocks as long as the network blocks. Returns `false` if the network refused the
/// sample.
type Output = dyn Fn(GenericSample) -> bool + Send + Sync;

#[derive(Default)]
struct Waiting {
    samples: VecDeque<GenericSample>,
    bytes: usize,
    /// The sequence number of the newest sample that was added.
    newest: u64,
    /// The earliest time for the next sample, by the rate of the policy.
    due: Option<Instant>,
}

impl Lane {
    /// Creates a lane. `send` sends a sample to the network.
    pub fn new(
        options: LaneOptions,
        counts: Arc<Counts>,
        send: impl Fn(GenericSample) -> bool + Send + Sync + 'static,
    ) -> Lane {
        let (waiting, is_scheduled) = (Mutex::default(), AtomicBool::new(false));
        Lane { options, counts, send: Box::new(send), waiting, is_scheduled }
    }

    /// True if the lane is full, and its publisher has to wait until the network has accepted samples.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.options.is_gating && lock(&self.waiting).samples.len() >= self.options.depth
    }

    /// Adds a sample. Drops it if another subscription of the bridge has added it before. Returns true if the caller
    /// has to schedule the lane with the `Sender`.
    pub(super) fn offer(&self, sample: GenericSample) -> bool {
        let info = sample.message_info();
        let mut waiting = lock(&self.waiting);
        if info.sequence <= waiting.newest {
            return false;
        }
        waiting.newest = info.sequence;
        if !self.options.min_period.is_zero() {
            let now = Instant::now();
            let due = waiting.due.map_or(now, |due| due.max(now));
            if due > now + BURST {
                self.counts.limit();
                return false;
            }
            waiting.due = Some(due + self.options.min_period);
        }
        waiting.bytes += info.length_bytes;
        waiting.samples.push_back(sample);
        while !self.options.is_gating
            && (waiting.samples.len() > self.options.depth || waiting.bytes > MAX_BYTES && waiting.samples.len() > 1)
        {
            waiting.pop();
            self.counts.overwrite();
        }
        !self.is_scheduled.swap(true, SeqCst)
    }

    /// Sends the oldest waiting sample. Returns `false` if no sample waits: the lane then counts as not scheduled.
    pub(super) fn send_one(&self) -> bool {
        let sample = {
            let mut waiting = lock(&self.waiting);
            let sample = waiting.pop();
            if sample.is_none() {
                self.is_scheduled.store(false, SeqCst); // under the lock, as the store in `offer`
            }
            sample
        };
        let Some(sample) = sample else { return false };
        let bytes = sample.message_info().length_bytes;
        match (self.send)(sample) {
            true => self.counts.carry(bytes),
            false => self.counts.fail(),
        }
        true
    }

    /// Sends the oldest waiting sample if it has at most `max_bytes`. Returns `false` if no sample waits then: the lane
    /// then counts as not scheduled. Further samples are for the sender, which serves the lanes of a priority in turn.
    pub(super) fn send_small(&self, max_bytes: usize) -> bool {
        let is_large = |sample: &GenericSample| sample.message_info().length_bytes > max_bytes;
        if lock(&self.waiting).samples.front().is_some_and(is_large) {
            return true;
        }
        if !self.send_one() {
            return false;
        }
        let waiting = lock(&self.waiting);
        if waiting.samples.is_empty() {
            self.is_scheduled.store(false, SeqCst); // under the lock, as the store in `offer`
        }
        !waiting.samples.is_empty()
    }

    pub(super) fn priority(&self) -> u8 {
        self.options.priority
    }

    pub(super) fn is_gating(&self) -> bool {
        self.options.is_gating
    }

    /// The number of samples that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.waiting).samples.len()
    }

    /// The counters of the lane.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<GenericSample> {
        let sample = self.samples.pop_front()?;
        self.bytes -= sample.message_info().length_bytes;
        Some(sample)
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lane({:?}, {} waiting)", self.options, self.waiting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry::{PublisherOptions, Qos, SourceTime, TypeDescription};
    use gantry_shm::{Participant, Publisher, Subscription};

    /// Returns samples of one publisher, each with one byte.
    fn samples(count: u64) -> Vec<GenericSample> {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().keep_last(100);
        let of_type = || TypeDescription { payload_bytes: 1, ..TypeDescription::default() };
        let mut subscription = Subscription::new(participant.clone(), "/node", "/topic", of_type(), qos).unwrap();
        let options = PublisherOptions::default();
        let mut publisher = Publisher::new(participant, "/node", "/topic", of_type(), qos, options).unwrap();
        for _ in 0..count {
            let loan = publisher.loan(1).unwrap();
            publisher.publish(loan, SourceTime::now()).unwrap();
        }
        std::iter::from_fn(|| subscription.take().unwrap()).map(GenericSample::from).collect()
    }

    fn lane(is_gating: bool, min_period: Duration) -> (Lane, Arc<Mutex<Vec<u64>>>) {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let of_lane = sent.clone();
        let send = move |sample: GenericSample| {
            lock(&of_lane).push(sample.message_info().sequence);
            true
        };
        let options = LaneOptions { depth: 3, is_gating, min_period, priority: 5 };
        (Lane::new(options, Arc::default(), send), sent)
    }

    #[test]
    fn the_newest_samples_wait_and_each_other_one_is_counted() {
        let (lane, sent) = lane(false, Duration::ZERO);
        let scheduled = samples(10).into_iter().map(|sample| lane.offer(sample)).filter(|is_first| *is_first).count();
        assert_eq!((scheduled, lane.waiting(), lane.counts().values().overwritten), (1, 3, 7));
        while lane.send_one() {}
        assert_eq!((&*lock(&sent), lane.counts().values().carried), (&vec![8, 9, 10], 3));
    }

    #[test]
    fn a_sample_that_came_already_is_passed_over() {
        let (lane, sent) = lane(false, Duration::ZERO);
        let mut samples = samples(2);
        samples.reverse();
        samples.into_iter().for_each(|sample| _ = lane.offer(sample));
        while lane.send_one() {}
        assert_eq!(*lock(&sent), [2]);
    }

    #[test]
    fn a_full_lane_that_gates_is_closed_and_loses_nothing() {
        let (lane, sent) = lane(true, Duration::ZERO);
        for sample in samples(4) {
            assert_eq!(lane.is_closed(), sample.message_info().sequence > 3);
            lane.offer(sample);
        }
        assert!(lane.send_one() && lane.is_closed() && lane.send_one() && !lane.is_closed());
        assert_eq!((&*lock(&sent), lane.counts().values().overwritten), (&vec![1, 2], 0));
    }

    #[test]
    fn a_small_sample_is_sent_and_a_larger_one_waits() {
        let (lane, sent) = lane(false, Duration::ZERO);
        for sample in samples(2) {
            lane.offer(sample);
        }
        assert!(lane.send_small(0) && lane.waiting() == 2, "each sample has one byte");
        assert!(lane.send_small(1) && lane.waiting() == 1, "the sender sends further samples");
        assert!(!lane.send_small(1) && lane.waiting() == 0);
        assert_eq!(*lock(&sent), [1, 2]);
        assert!(samples(3).into_iter().any(|sample| lane.offer(sample)), "the lane may be scheduled again");
    }

    #[test]
    fn samples_above_the_rate_are_counted() {
        let (lane, _sent) = lane(false, Duration::from_secs(1000));
        samples(5).into_iter().for_each(|sample| _ = lane.offer(sample));
        assert_eq!((lane.waiting(), lane.counts().values().rate_limited), (1, 4));
    }
}
