//! The feed of a topic: one subscription for all viewers, while there are some.
//!
//! The subscription is BEST_EFFORT and KEEP_LAST: no publisher waits for it. It holds one sample, while it copies it.

use crate::{
    lock::lock,
    outbox::Message,
    protocol::{Channel, Level, status},
    viewer::Viewer,
};
use gantry::{ENCAPSULATION, GenericSample, GenericSubscription, Node, Qos, SourceTime};
use gantry_command::{Result, is_native, say, spawn};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The samples that publishers keep for the feed.
const DEPTH: u32 = 10;
/// The most samples and bytes of a latched topic that are kept for viewers that come later.
const MAX_HISTORY: (u32, usize) = (1000, 64 << 20);
/// The time between two looks at what changed besides messages.
const PERIOD: Duration = Duration::from_millis(100);

/// The feed of a topic.
#[derive(Debug)]
pub struct Feed {
    /// The topic.
    pub channel: Channel,
    /// Messages that were overwritten before the feed took them.
    pub lost: AtomicU64,
    readers: Mutex<Readers>,
}

#[derive(Debug, Default)]
struct Readers {
    /// The viewers, with their numbers of the subscription.
    list: Vec<(Arc<Viewer>, u32)>,
    /// The depth of the history if all publishers are latched.
    latched: Option<u32>,
    /// What later viewers of a latched topic get: times and messages.
    history: VecDeque<(u64, Arc<Vec<u8>>)>,
    is_running: bool,
}

impl Feed {
    /// A feed without viewers.
    #[must_use]
    pub fn new(channel: Channel, latched: Option<u32>) -> Feed {
        let readers = Mutex::new(Readers { latched, ..Readers::default() });
        Feed { channel, lost: AtomicU64::new(0), readers }
    }

    /// Says how deep the history of the topic is.
    pub fn set_latched(&self, latched: Option<u32>) {
        lock(&self.readers).latched = latched;
    }

    /// Adds a viewer, and starts the subscription if it is the first one.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn add(self: &Arc<Self>, node: &Node, viewer: &Arc<Viewer>, subscription_id: u32) -> Result<()> {
        let mut readers = lock(&self.readers);
        for (time_ns, cdr) in &readers.history {
            viewer.outbox.offer(Message { subscription_id, time_ns: *time_ns, cdr: cdr.clone() });
        }
        readers.list.push((viewer.clone(), subscription_id));
        if !readers.is_running {
            let (feed, node) = (self.clone(), node.clone());
            spawn("foxglove-feed", move || feed.run(&node))?;
            readers.is_running = true;
        }
        Ok(())
    }

    /// Removes a subscription of a viewer, or all of its.
    pub fn remove(&self, viewer_id: u64, subscription_id: Option<u32>) {
        let is_its = |(viewer, id): &(Arc<Viewer>, u32)| {
            viewer.id == viewer_id && subscription_id.is_none_or(|wanted| wanted == *id)
        };
        lock(&self.readers).list.retain(|reader| !is_its(reader));
    }

    /// Whether it has a subscription.
    #[must_use]
    pub fn is_running(&self) -> bool {
        lock(&self.readers).is_running
    }

    /// Takes messages until there is no viewer.
    fn run(self: Arc<Self>, node: &Node) {
        while let Some(latched) = self.next_subscription() {
            match self.subscribe(node, latched).and_then(|subscription| self.take(subscription, latched)) {
                Ok(()) => {}
                Err(error) => {
                    let why = format!("{} is not shown: {error}", self.channel.topic);
                    say(&why);
                    let mut readers = lock(&self.readers);
                    let status = status(Level::Error, &why, None);
                    readers.list.iter().for_each(|(viewer, _)| viewer.outbox.answer(status.clone()));
                    readers.list.clear();
                }
            }
        }
    }

    /// The depth of the history for the next subscription; `None` if there is no viewer, and the feed ends.
    fn next_subscription(&self) -> Option<Option<u32>> {
        let mut readers = lock(&self.readers);
        readers.history.clear();
        if readers.list.is_empty() || !gantry::ok() {
            readers.is_running = false;
            return None;
        }
        Some(readers.latched)
    }

    fn subscribe(&self, node: &Node, latched: Option<u32>) -> Result<GenericSubscription> {
        let Channel { topic, message_type, .. } = &self.channel;
        let base = Qos { avoid_ros_namespace_conventions: is_native(node, topic), ..Qos::default().best_effort() };
        let qos = match latched {
            Some(depth) => base.keep_last(depth.clamp(DEPTH, MAX_HISTORY.0)).transient_local(),
            None => base.keep_last(DEPTH),
        };
        Ok(node.create_generic_subscription(topic, message_type.clone(), qos)?)
    }

    /// Takes messages until there is no viewer, or the topic is latched no longer.
    fn take(&self, mut subscription: GenericSubscription, latched: Option<u32>) -> Result<()> {
        let lost_before = self.lost.load(Relaxed);
        while gantry::ok() {
            subscription.wait(PERIOD)?;
            // A publisher that is faster than the copies must not keep the feed from the look below.
            for _ in 0..DEPTH {
                let Some(sample) = subscription.take()? else { break };
                self.give(sample, latched);
            }
            self.lost.store(lost_before + subscription.overwritten() + subscription.expired(), Relaxed);
            let readers = lock(&self.readers);
            if readers.list.is_empty() || readers.latched.is_some() != latched.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Gives a sample to all viewers: one copy of it. The sample is released before the outboxes are locked.
    fn give(&self, sample: GenericSample, latched: Option<u32>) {
        let bytes = sample.bytes();
        let mut cdr = Vec::with_capacity(ENCAPSULATION.len() + bytes.len());
        cdr.extend_from_slice(&ENCAPSULATION);
        cdr.extend_from_slice(bytes);
        let cdr = Arc::new(cdr);
        // The time at which it came into the memory of this host, on the wall clock.
        let now = SourceTime::now();
        let age_ns = now.monotonic_ns.saturating_sub(sample.message_info().source_time_ns);
        let time_ns = now.wall_ns.saturating_sub(age_ns);
        drop(sample);
        let mut readers = lock(&self.readers);
        for (viewer, subscription_id) in &readers.list {
            viewer.outbox.offer(Message { subscription_id: *subscription_id, time_ns, cdr: cdr.clone() });
        }
        if let Some(depth) = latched {
            readers.history.push_back((time_ns, cdr));
            let bytes =
                |history: &VecDeque<(u64, Arc<Vec<u8>>)>| history.iter().map(|(_, cdr)| cdr.len()).sum::<usize>();
            while readers.history.len() > depth.clamp(1, MAX_HISTORY.0) as usize
                || readers.history.len() > 1 && bytes(&readers.history) > MAX_HISTORY.1
            {
                readers.history.pop_front();
            }
        }
    }
}
