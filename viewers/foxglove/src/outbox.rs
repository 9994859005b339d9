//! The outbox of a viewer: the queue of answers and messages that wait to be written to the viewer's socket.
//!
//! Answers are never dropped: if too many wait, the viewer does not read, and is disconnected. The bytes of messages
//! are bounded: when they exceed the bound, the oldest message of the subscription that has most bytes in the outbox is
//! dropped. So a stream of images drops only its own images, and small topics get through. Dropped messages are counted
//! by topic; the counts stay after a subscription has ended.
//!
//! A viewer is *stalled* for a subscription if `STALL_DROPS` messages of the subscription were dropped while the writer
//! thread was writing one item. A feed whose viewers are all stalled skips messages ([`Outbox::skip`]).

use crate::lock::lock;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// The largest number of bytes of waiting answers.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The number of bytes that are counted for a message in addition to its own bytes.
const OVERHEAD_BYTES: usize = 128;
/// The number of messages that are dropped from a subscription, while the writer thread is blocked, before the viewer
/// counts as stalled. One message is not enough: it is also dropped for a viewer that is slow but reads, and which gets
/// newer messages if the feed goes on.
const STALL_DROPS: u64 = 10;

/// A message for one subscription of a viewer.
#[derive(Clone, Debug)]
pub struct Message {
    /// The id that the viewer chose for its subscription.
    pub subscription_id: u32,
    /// The full name of the topic.
    pub topic: Arc<str>,
    /// The time of the message, in nanoseconds since 1970.
    pub time_ns: u64,
    /// The encapsulation header and the message in CDR. The outboxes of all viewers share these bytes.
    pub cdr: Arc<Vec<u8>>,
}

/// The next thing to write.
#[derive(Debug)]
pub enum Item {
    /// An answer: complete frames, which are written unchanged.
    Answer(Vec<u8>),
    /// A message, whose frame is made when it is written.
    Message(Message),
}

/// The outbox of a viewer. Several threads add to it; the viewer's writer thread empties it.
#[derive(Debug)]
pub struct Outbox {
    max_bytes: usize,
    state: Mutex<State>,
    /// Notified when something was added, or when the outbox was ended or closed.
    is_changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<Vec<u8>>,
    answer_bytes: usize,
    lanes: BTreeMap<u32, Lane>,
    message_bytes: usize,
    /// The number of messages that were added so far. Each message is numbered with this counter, which gives their
    /// order across subscriptions.
    offered: u64,
    dropped: BTreeMap<Arc<str>, u64>,
    /// Whether additions are ignored, because the outbox closes as soon as the waiting answers are written.
    is_ending: bool,
    is_closed: bool,
}

/// The waiting messages of one subscription, each with its number.
#[derive(Debug, Default)]
struct Lane {
    messages: VecDeque<(u64, Message)>,
    bytes: usize,
    /// The number of messages that were dropped since the writer thread last looked for an item.
    drops: u64,
}

fn size(message: &Message) -> usize {
    message.cdr.len() + OVERHEAD_BYTES
}

impl Lane {
    fn pop(&mut self) -> Option<Message> {
        let (_, message) = self.messages.pop_front()?;
        self.bytes -= size(&message);
        Some(message)
    }
}

impl Outbox {
    /// Makes an empty outbox with room for messages of `max_bytes` bytes, and for at least one message.
    #[must_use]
    pub fn new(max_bytes: usize) -> Outbox {
        Outbox { max_bytes, state: Mutex::default(), is_changed: Condvar::new() }
    }

    /// Adds an answer. If too many answers are waiting, the outbox closes, because the viewer does not read.
    pub fn answer(&self, bytes: Vec<u8>) {
        let mut state = lock(&self.state);
        if state.is_closed || state.is_ending {
            return;
        }
        state.answer_bytes += bytes.len();
        state.answers.push_back(bytes);
        state.is_closed = state.answer_bytes > MAX_ANSWER_BYTES;
        self.is_changed.notify_all();
    }

    /// Whether the outbox is closed. If it is, the caller must also end the connection, because the writer thread may
    /// be blocked on the socket.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    /// Adds a message, and drops older messages if there is no room.
    pub fn offer(&self, message: Message) {
        let mut state = lock(&self.state);
        if state.is_closed || state.is_ending {
            return;
        }
        let bytes = size(&message);
        while state.message_bytes + bytes > self.max_bytes && state.drop_oldest() {}
        state.offered += 1;
        let number = state.offered;
        state.message_bytes += bytes;
        let lane = state.lanes.entry(message.subscription_id).or_default();
        lane.bytes += bytes;
        lane.messages.push_back((number, message));
        self.is_changed.notify_all();
    }

    /// Whether the viewer is stalled for this subscription. A closed outbox is stalled, because it takes no message.
    #[must_use]
    pub fn is_stalled(&self, subscription_id: u32) -> bool {
        let state = lock(&self.state);
        let drops = state.lanes.get(&subscription_id).map_or(0, |lane| lane.drops);
        state.is_closed || state.is_ending || drops >= STALL_DROPS
    }

    /// Counts `count` messages of a topic as dropped; they were not added, because the viewer is stalled. Also drops as
    /// many waiting messages of the subscription, because these are older still.
    pub fn skip(&self, subscription_id: u32, topic: &Arc<str>, count: u64) {
        let mut state = lock(&self.state);
        if state.is_closed || state.is_ending || count == 0 {
            return;
        }
        (0..count).take_while(|_| state.drop_first(subscription_id)).for_each(drop);
        *state.dropped.entry(topic.clone()).or_default() += count;
    }

    /// Waits for the next item to write: answers first, then the oldest message. Returns `None` once the outbox is
    /// closed.
    pub fn next(&self) -> Option<Item> {
        let mut state = lock(&self.state);
        loop {
            // The writer thread is here, so the socket has taken the last item. This also holds after a wait: the
            // messages that ended the wait may have been dropped already, and the viewer must not stay stalled.
            state.lanes.values_mut().for_each(|lane| lane.drops = 0);
            if state.is_closed {
                return None;
            }
            if let Some(answer) = state.answers.pop_front() {
                state.answer_bytes -= answer.len();
                return Some(Item::Answer(answer));
            }
            if state.is_ending {
                return None;
            }
            if let Some(message) = state.pop() {
                return Some(Item::Message(message));
            }
            state = self.is_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Removes the waiting messages of a subscription that has ended.
    pub fn forget(&self, subscription_id: u32) {
        let mut state = lock(&self.state);
        if let Some(lane) = state.lanes.remove(&subscription_id) {
            state.message_bytes -= lane.bytes;
        }
    }

    /// The numbers of messages that were dropped since the outbox was made, by topic.
    #[must_use]
    pub fn dropped(&self) -> BTreeMap<String, u64> {
        lock(&self.state).dropped.iter().map(|(topic, count)| (topic.to_string(), *count)).collect()
    }

    /// Ignores later additions, and closes the outbox after the waiting answers were written. `last` is appended as the
    /// last answer, unless the outbox was already ended.
    pub fn end(&self, last: Option<Vec<u8>>) {
        let mut state = lock(&self.state);
        if !state.is_ending && !state.is_closed {
            state.answer_bytes += last.as_ref().map_or(0, Vec::len);
            state.answers.extend(last);
            state.is_ending = true;
            self.is_changed.notify_all();
        }
    }

    /// Waits until the outbox is closed, for at most `patience`.
    pub fn wait_until_closed(&self, patience: Duration) {
        drop(self.is_changed.wait_timeout_while(lock(&self.state), patience, |state| !state.is_closed));
    }

    /// Closes the outbox: the writer's present and later calls of [`Self::next`] return `None`.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        let dropped = std::mem::take(&mut state.dropped);
        *state = State { is_closed: true, dropped, ..State::default() };
        self.is_changed.notify_all();
    }
}

impl State {
    /// Drops the oldest message of the subscription that has most bytes; `false` if there is no message.
    fn drop_oldest(&mut self) -> bool {
        let largest = self.lanes.iter().max_by_key(|(_, lane)| lane.bytes).map(|(id, _)| *id);
        largest.is_some_and(|subscription_id| self.drop_first(subscription_id))
    }

    /// Drops the oldest message of a subscription; `false` if the subscription has no message.
    fn drop_first(&mut self, subscription_id: u32) -> bool {
        let Some(lane) = self.lanes.get_mut(&subscription_id) else { return false };
        let Some(message) = lane.pop() else { return false };
        lane.drops += 1;
        self.message_bytes -= size(&message);
        *self.dropped.entry(message.topic).or_default() += 1;
        true
    }

    fn pop(&mut self) -> Option<Message> {
        let first = |lane: &Lane| lane.messages.front().map(|(number, _)| *number);
        let oldest = self.lanes.values_mut().filter(|lane| !lane.messages.is_empty()).min_by_key(|lane| first(lane));
        let message = oldest?.pop()?;
        self.message_bytes -= size(&message);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subscription_id: u32, time_ns: u64, bytes: usize) -> Message {
        let topic = format!("/topic_{subscription_id}").into();
        Message { subscription_id, topic, time_ns, cdr: Arc::new(vec![0; bytes]) }
    }

    fn drain(outbox: &Outbox) -> Vec<(u32, u64)> {
        outbox.answer(b"end".to_vec());
        let mut found = Vec::new();
        let mut state = lock(&outbox.state);
        while let Some(message) = state.pop() {
            found.push((message.subscription_id, message.time_ns));
        }
        state.answers.clear();
        found
    }

    #[test]
    fn the_newest_images_and_all_small_messages_stay() {
        let outbox = Outbox::new(25_000);
        for number in 0..10 {
            outbox.offer(message(1, number, 10_000));
            outbox.offer(message(2, number, 10));
        }
        let kept = drain(&outbox);
        let times =
            |wanted: u32| kept.iter().filter(|(id, _)| *id == wanted).map(|(_, time)| *time).collect::<Vec<_>>();
        assert_eq!((times(1), times(2)), (vec![8, 9], (0..10).collect()));
        outbox.forget(1);
        assert_eq!(outbox.dropped(), BTreeMap::from([("/topic_1".to_owned(), 8)]));
        assert!(kept.is_sorted_by_key(|(_, time)| *time), "{kept:?}");
    }

    #[test]
    fn a_message_that_is_larger_than_the_outbox_is_kept_alone() {
        let outbox = Outbox::new(1000);
        (0..3).for_each(|number| outbox.offer(message(1, number, 5000)));
        assert_eq!(drain(&outbox), [(1, 2)]);
    }

    #[test]
    fn a_viewer_is_stalled_while_messages_are_dropped_and_none_is_written() {
        let outbox = Outbox::new(45_000); // room for four images
        let offer = |numbers: std::ops::Range<u64>| numbers.for_each(|number| outbox.offer(message(1, number, 10_000)));
        let next = || match outbox.next() {
            Some(Item::Message(message)) => (message.subscription_id, message.time_ns),
            other => panic!("{other:?}"),
        };
        offer(0..13);
        assert!(!outbox.is_stalled(1), "only nine messages were dropped");
        assert_eq!(next(), (1, 9));
        offer(13..23);
        assert!(!outbox.is_stalled(1), "only nine messages were dropped since a message was written");
        offer(23..24);
        outbox.offer(message(2, 0, 10));
        assert!(outbox.is_stalled(1) && !outbox.is_stalled(2));
        outbox.skip(1, &"/topic_1".into(), 3);
        assert_eq!(outbox.dropped(), BTreeMap::from([("/topic_1".to_owned(), 9 + 10 + 3 + 3)]));
        assert_eq!([next(), next()], [(1, 23), (2, 0)]);
        assert!(!outbox.is_stalled(1));
        outbox.close();
        assert!(outbox.is_stalled(1));
    }

    #[test]
    fn answers_go_first_and_a_viewer_that_reads_none_is_closed() {
        let outbox = Outbox::new(1000);
        outbox.offer(message(1, 0, 10));
        outbox.answer(vec![7]);
        assert!(matches!(outbox.next(), Some(Item::Answer(bytes)) if bytes == [7]));
        assert!(matches!(outbox.next(), Some(Item::Message(_))));
        (0..100).for_each(|_| outbox.answer(vec![0; 1 << 20]));
        assert!(outbox.next().is_none());
    }

    #[test]
    fn the_last_answer_ends_the_outbox() {
        let outbox = Outbox::new(1000);
        outbox.offer(message(1, 0, 10));
        outbox.answer(vec![7]);
        outbox.end(Some(vec![8]));
        outbox.end(Some(vec![9]));
        outbox.answer(vec![10]);
        let written: Vec<_> = std::iter::from_fn(|| outbox.next()).collect();
        assert!(
            matches!(&written[..], [Item::Answer(first), Item::Answer(last)] if (&first[..], &last[..]) == (&[7], &[8]))
        );
    }
}
