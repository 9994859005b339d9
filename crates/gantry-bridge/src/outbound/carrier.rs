//! A carrier: a subscription of the bridge to one topic, which passes each sample to the queue (lane) of its publisher.

use super::{
    lane::Lane,
    sender::{OnRoom, Sender},
};
use crate::{counts::Counts, lock::lock};
use gantry::{Attachment, Collector, GenericSample, GenericSubscription, Gid, ListenerSource};
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

/// The largest number of samples that wait until their publisher is in the graph.
const MAX_UNCLAIMED: usize = 1024;
/// The longest time for which such a sample waits. The publisher may be newer than the last reading of the graph.
const MAX_UNCLAIMED_TIME: Duration = Duration::from_secs(2);

/// The largest sample that the thread that took it sends itself. The network blocks longer for a larger sample, and the
/// thread should take further samples meanwhile.
const MAX_INLINE_BYTES: usize = 16 << 10;

/// A subscription of the bridge, and the lanes (queues for the network) of the publishers whose samples it takes.
pub struct Carrier {
    state: Mutex<State>,
    sender: Arc<Sender>,
    /// A function that is called for a sample whose publisher has no lane.
    on_unclaimed: Box<dyn Fn() + Send + Sync>,
    /// The GID of any entity of the bridge. Samples of the bridge's own publishers are recognised by it and dropped.
    own: Gid,
}

struct State {
    subscription: GenericSubscription,
    /// The lane of each publisher; `None` if this carrier drops the publisher's samples.
    lanes: HashMap<Gid, Option<Arc<Lane>>>,
    unclaimed: VecDeque<(Instant, GenericSample)>,
    counts: Arc<Counts>,
    has_failed: bool,
    /// The number of samples that left the history before they were taken and that `counts` has counted already.
    missed: u64,
}

impl Carrier {
    /// Creates a carrier without lanes. When a sample has no lane, the thread that takes samples calls `on_unclaimed`,
    /// and the sample waits for [`Carrier::set_lanes`]. `counts` counts the samples that never get a lane.
    pub fn new(
        subscription: GenericSubscription,
        sender: Arc<Sender>,
        counts: Arc<Counts>,
        on_unclaimed: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Carrier> {
        let own = subscription.gid();
        let (lanes, unclaimed) = (HashMap::new(), VecDeque::new());
        let state = Mutex::new(State { subscription, lanes, unclaimed, counts, has_failed: false, missed: 0 });
        Arc::new(Carrier { state, sender, on_unclaimed: Box::new(on_unclaimed), own })
    }

    /// Replaces the subscription by one with a deeper history. Samples that arrive again are dropped by their lanes.
    pub fn replace(&self, subscription: GenericSubscription) {
        let mut state = lock(&self.state);
        (state.subscription, state.missed) = (subscription, 0);
    }

    /// Sets the lanes of all publishers of the topic. A sample is counted and dropped if its publisher does not appear
    /// in the graph for some time: the publisher then left before the graph was read.
    pub fn set_lanes(self: &Arc<Carrier>, lanes: HashMap<Gid, Option<Arc<Lane>>>) {
        let mut state = lock(&self.state);
        state.lanes = lanes;
        for (since, sample) in std::mem::take(&mut state.unclaimed) {
            match state.lanes.get(&sample.message_info().publisher_gid) {
                Some(Some(lane)) => {
                    if lane.offer(sample) {
                        self.schedule(lane);
                    }
                }
                Some(None) => {}
                None if since.elapsed() < MAX_UNCLAIMED_TIME => state.unclaimed.push_back((since, sample)),
                None => state.counts.disown(),
            }
        }
        drop(state);
        self.pump();
    }

    /// Takes the available samples, and schedules their lanes.
    fn pump(self: &Arc<Carrier>) {
        self.take().iter().for_each(|lane| self.schedule(lane));
    }

    /// Takes the available samples. Returns the lanes that have to be scheduled with the sender. Stops when a lane is
    /// full that makes its publisher wait.
    fn take(&self) -> Vec<Arc<Lane>> {
        let mut state = lock(&self.state);
        let (mut has_unclaimed, mut idle) = (false, Vec::new());
        while !state.lanes.values().flatten().any(|lane| lane.is_closed()) {
            let sample = match state.subscription.take() {
                Ok(Some(sample)) => sample,
                Ok(None) => break,
                Err(_) => {
                    // After this error, the subscription ignores the publisher that caused it. The library has logged
                    // the reason.
                    state.counts.fail();
                    if std::mem::replace(&mut state.has_failed, true) {
                        break;
                    }
                    continue;
                }
            };
            let publisher = sample.message_info().publisher_gid;
            if publisher.is_of_same_process(&self.own) {
                continue;
            }
            match state.lanes.get(&publisher) {
                Some(Some(lane)) => {
                    if lane.offer(sample) {
                        idle.push(lane.clone());
                    }
                }
                Some(None) => {}
                None => {
                    state.unclaimed.push_back((Instant::now(), sample));
                    has_unclaimed = true;
                    if state.unclaimed.len() > MAX_UNCLAIMED {
                        state.unclaimed.pop_front();
                        state.counts.disown();
                    }
                }
            }
        }
        state.has_failed = false;
        let missed = state.subscription.overwritten();
        state.counts.miss(missed.saturating_sub(state.missed));
        state.missed = missed;
        drop(state);
        if has_unclaimed {
            (self.on_unclaimed)();
        }
        idle
    }

    fn schedule(self: &Arc<Carrier>, lane: &Arc<Lane>) {
        let carrier = self.clone();
        let on_room = lane.is_gating().then(|| -> OnRoom { Box::new(move || carrier.pump()) });
        self.sender.schedule(lane.clone(), on_room);
    }

    /// Takes the available samples, and sends small ones on this thread: a wake-up of the sender's thread takes as long
    /// as the rest of the bridge's work. The thread waits while the network blocks.
    fn take_and_send(self: &Arc<Carrier>) {
        for lane in self.take() {
            if lane.is_gating() || lane.send_small(MAX_INLINE_BYTES) {
                self.schedule(&lane);
            }
        }
    }

    /// The carrier's subscription as a source, for the thread that takes samples. This thread also sends small samples,
    /// so it must serve only topics of one priority.
    #[must_use]
    pub fn source(self: &Arc<Carrier>) -> Box<dyn ListenerSource> {
        Box::new(Source(Arc::downgrade(self)))
    }
}

struct Source(Weak<Carrier>);

impl ListenerSource for Source {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        let Some(carrier) = self.0.upgrade() else { return Ok(None) };
        let mut state = lock(&carrier.state);
        collector.attach(&mut state.subscription)
    }

    fn on_news(&self) {
        if let Some(carrier) = self.0.upgrade() {
            carrier.take_and_send();
        }
    }
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carrier")
    }
}
