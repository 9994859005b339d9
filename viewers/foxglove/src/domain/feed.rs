//! The feed of a topic: one subscription that serves all viewers of the topic. It exists only while there are viewers.
//!
//! The subscription is BEST_EFFORT and KEEP_LAST, so no publisher waits for it. It holds one sample while it
//! copies the sample or is paused, and a second one while it replaces the first.
//!
//! The feed is *paused* while all its viewers are stalled ([`is_stalled`](crate::outbox::Outbox::is_stalled)). A paused
//! feed copies nothing, and does not wait on its subscription, so that publishers make no system call to wake it. The
//! feed looks at its viewers from time to time, holds the newest sample, and counts the older ones as dropped. When a
//! viewer is no longer stalled, all viewers get the newest sample, also a viewer that came during the pause.

use crate::{
    lock::lock,
    outbox::Message,
    protocol::{Channel, Level, status},
    threads::spawn,
    viewer::Viewer,
};
use gantry::{ENCAPSULATION, GenericSample, GenericSubscription, Gid, Node, Qos, SourceTime};
use gantry_command::{Result, is_native, say};
use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// The history depth of the feed's subscription, and so the number of samples that publishers keep for it.
const DEPTH: u32 = 10;
/// The largest number of messages that a paused feed takes at a time: 10 of each of 100 publishers.
const MAX_SKIPPED: usize = 1000;
/// The limits of the history that the server keeps of a latched topic for later viewers: messages, and bytes.
const MAX_HISTORY: (u32, usize) = (1000, 64 << 20);
/// The longest wait for a message. After it, the feed checks whether its viewers or its QoS have changed.
const PERIOD: Duration = Duration::from_millis(100);
/// The time between two looks of a paused feed at its viewers and its subscription. If it were longer, a publisher of
/// images would need memory for more of them, because it keeps the samples that the feed has not taken.
const PAUSE: Duration = Duration::from_millis(10);

/// The feed of a topic.
#[derive(Debug)]
pub struct Feed {
    /// The channel (topic and type) of this feed.
    pub channel: Channel,
    /// The name of the topic, shared by the [`Message`]s of this feed.
    topic: Arc<str>,
    /// The number of messages that were overwritten before the feed took them. If a topic has several types, the feeds
    /// of all these types share the counter.
    lost: Arc<AtomicU64>,
    readers: Mutex<Readers>,
}

#[derive(Debug, Default)]
struct Readers {
    /// The viewers, each with the id that the viewer chose for its subscription.
    list: Vec<(Arc<Viewer>, u32)>,
    /// The largest history depth of the publishers if all of them are latched (TRANSIENT_LOCAL); otherwise `None`.
    latched: Option<u32>,
    /// The newest messages of a latched topic, which a later viewer gets first.
    history: History,
    is_running: bool,
}

impl Readers {
    /// Whether no viewer can take a message at present.
    fn are_stalled(&self) -> bool {
        self.list.iter().all(|(viewer, subscription_id)| viewer.outbox.is_stalled(*subscription_id))
    }
}

/// The subscription of a feed, and the messages that the feed did not give to its viewers.
struct Intake {
    subscription: GenericSubscription,
    /// The newest message of a pause, which the viewers get after the pause.
    newest: Option<GenericSample>,
    /// The number of messages that were taken in pauses and not given.
    skipped: u64,
    /// The number of misses up to the last call of [`Intake::new_misses`].
    counted: u64,
}

impl Intake {
    /// Takes at most `MAX_SKIPPED` messages, and skips all except the last one.
    fn skip_to_newest(&mut self) -> Result<()> {
        for _ in 0..MAX_SKIPPED {
            let Some(sample) = self.subscription.take()? else { break };
            self.skipped += self.newest.replace(sample).map_or(0, |_| 1);
        }
        Ok(())
    }

    /// The number of messages that were skipped, or left the history before they were taken, since the last call.
    fn new_misses(&mut self) -> u64 {
        let misses = self.skipped + self.subscription.overwritten() + self.subscription.expired();
        misses - mem::replace(&mut self.counted, misses)
    }
}

/// A message in the history: its time in nanoseconds since 1970, and its bytes in CDR.
type Kept = (u64, Arc<Vec<u8>>);

/// The kept messages of a latched topic, by publisher.
#[derive(Debug, Default)]
struct History(BTreeMap<Gid, VecDeque<Kept>>);

impl History {
    /// Adds a message. Then drops the oldest messages of this publisher beyond `depth`, and the oldest messages of all
    /// publishers beyond `MAX_HISTORY`.
    fn add(&mut self, publisher: Gid, depth: u32, time_ns: u64, cdr: Arc<Vec<u8>>) {
        let messages = self.0.entry(publisher).or_default();
        messages.push_back((time_ns, cdr));
        while messages.len() > depth.max(1) as usize {
            messages.pop_front();
        }
        let is_too_large = |history: &History| {
            let count: usize = history.0.values().map(VecDeque::len).sum();
            let bytes: usize = history.0.values().flatten().map(|(_, cdr)| cdr.len()).sum();
            count > MAX_HISTORY.0 as usize || count > 1 && bytes > MAX_HISTORY.1
        };
        while is_too_large(self) {
            let oldest =
                self.0.values_mut().min_by_key(|messages| messages.front().map_or(u64::MAX, |(time, _)| *time));
            oldest.map(VecDeque::pop_front);
        }
    }

    /// The messages of all publishers, the oldest first.
    fn in_order(&self) -> Vec<Kept> {
        let mut messages: Vec<_> = self.0.values().flatten().cloned().collect();
        messages.sort_by_key(|(time_ns, _)| *time_ns);
        messages
    }
}

impl Feed {
    /// A feed without viewers.
    #[must_use]
    pub fn new(channel: Channel, latched: Option<u32>, lost: Arc<AtomicU64>) -> Feed {
        let readers = Mutex::new(Readers { latched, ..Readers::default() });
        Feed { topic: channel.topic.as_str().into(), channel, lost, readers }
    }

    /// Sets the history depth of a latched topic; `None` if the topic is not latched.
    pub fn set_latched(&self, latched: Option<u32>) {
        lock(&self.readers).latched = latched;
    }

    /// Adds a viewer. The first viewer starts the subscription.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn add(self: &Arc<Self>, node: &Node, viewer: &Arc<Viewer>, subscription_id: u32) -> Result<()> {
        let mut readers = lock(&self.readers);
        if !readers.is_running {
            let (feed, node) = (self.clone(), node.clone());
            spawn("foxglove-feed", move || feed.run(&node))?;
            readers.is_running = true;
        }
        for (time_ns, cdr) in readers.history.in_order() {
            viewer.outbox.offer(Message { subscription_id, topic: self.topic.clone(), time_ns, cdr });
        }
        readers.list.push((viewer.clone(), subscription_id));
        Ok(())
    }

    /// Removes one subscription of a viewer, or all subscriptions of this viewer if `subscription_id` is `None`.
    pub fn remove(&self, viewer_id: u64, subscription_id: Option<u32>) {
        let is_its = |(viewer, id): &(Arc<Viewer>, u32)| {
            viewer.id == viewer_id && subscription_id.is_none_or(|wanted| wanted == *id)
        };
        lock(&self.readers).list.retain(|reader| !is_its(reader));
    }

    /// Takes messages until there are no viewers.
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

    /// Returns the latched history depth for the feed's next subscription (`Some(None)` if the topic is not latched),
    /// or `None` if there are no viewers: the feed then ends.
    fn next_subscription(&self) -> Option<Option<u32>> {
        let mut readers = lock(&self.readers);
        readers.history = History::default();
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

    /// Takes messages until there are no viewers, or until the topic starts or stops being latched, which needs a new
    /// subscription.
    fn take(&self, subscription: GenericSubscription, latched: Option<u32>) -> Result<()> {
        let mut intake = Intake { subscription, newest: None, skipped: 0, counted: 0 };
        let taken = self.take_until_a_change(&mut intake, latched);
        self.lost.fetch_add(intake.new_misses(), Relaxed);
        intake.newest.into_iter().for_each(|sample| self.give(sample, latched));
        taken
    }

    fn take_until_a_change(&self, intake: &mut Intake, latched: Option<u32>) -> Result<()> {
        while gantry::ok() {
            // The history of a latched topic needs each message, so the feed of such a topic is never paused.
            let is_paused = latched.is_none() && lock(&self.readers).are_stalled();
            match is_paused {
                true => self.pause(intake)?,
                false => self.take_batch(intake, latched)?,
            }
            let readers = lock(&self.readers);
            if readers.list.is_empty() || readers.latched.is_some() != latched.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Waits for `PAUSE`. If all viewers are still stalled, skips the messages of this time except the newest one.
    fn pause(&self, intake: &mut Intake) -> Result<()> {
        thread::sleep(PAUSE);
        let readers = lock(&self.readers); // until the end, because a viewer that comes now must not miss a message
        if !readers.are_stalled() {
            return Ok(());
        }
        let skipped = intake.skip_to_newest();
        let missed = intake.new_misses();
        readers.list.iter().for_each(|(viewer, id)| viewer.outbox.skip(*id, &self.topic, missed));
        skipped
    }

    /// Gives the newest message of a pause. Then waits for messages and takes at most `DEPTH` of them: even if a
    /// publisher is faster than the copies, the feed must return to check its viewers and its QoS.
    fn take_batch(&self, intake: &mut Intake, latched: Option<u32>) -> Result<()> {
        let newest = intake.newest.take();
        newest.into_iter().for_each(|sample| self.give(sample, latched));
        intake.subscription.wait(PERIOD)?;
        for _ in 0..DEPTH {
            let taken = intake.subscription.take();
            self.lost.fetch_add(intake.new_misses(), Relaxed);
            let Some(sample) = taken? else { break };
            self.give(sample, latched);
        }
        Ok(())
    }

    /// Copies a sample once, and adds the copy to the outboxes of all viewers. The sample is released before the
    /// outboxes are locked.
    fn give(&self, sample: GenericSample, latched: Option<u32>) {
        let bytes = sample.bytes();
        let mut cdr = Vec::with_capacity(ENCAPSULATION.len() + bytes.len());
        cdr.extend_from_slice(&ENCAPSULATION);
        cdr.extend_from_slice(bytes);
        let cdr = Arc::new(cdr);
        // The time when the sample was published, or arrived from another host. It is converted from the monotonic
        // clock to the wall clock.
        let now = SourceTime::now();
        let (publisher, source_time_ns) = (sample.message_info().publisher_gid, sample.message_info().source_time_ns);
        let age_ns = now.monotonic_ns.saturating_sub(source_time_ns);
        let time_ns = now.wall_ns.saturating_sub(age_ns);
        drop(sample);
        let mut readers = lock(&self.readers);
        for (viewer, subscription_id) in &readers.list {
            let (subscription_id, topic) = (*subscription_id, self.topic.clone());
            viewer.outbox.offer(Message { subscription_id, topic, time_ns, cdr: cdr.clone() });
        }
        if latched.is_some()
            && let Some(depth) = readers.latched
        {
            readers.history.add(publisher, depth, time_ns, cdr);
        }
    }
}
