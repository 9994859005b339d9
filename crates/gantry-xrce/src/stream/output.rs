//! Reliable output: messages stay in their slots until the peer acknowledges them.
//!
//! Lost messages are found in three ways. After a *nack* (an acknowledgement that lists missing messages), the missing
//! messages are sent again at once. A *probe* repeats the oldest message if it was not acknowledged within a little
//! more than a round trip. *Heartbeats* follow an unanswered probe at growing intervals, and ask the peer for an
//! acknowledgement. eProsima's peers answer probes as well, because they acknowledge each reliable message that
//! arrives, including duplicates.

use super::acknowledgement::Acknowledgement;
use super::queue::{Queue, Refused, SlotWriter, fragment_capacity};
use super::round_trip::RoundTrip;
use super::sequence::Sequence;
use super::slots::{SlotMessage, Slots, Storage};
use crate::time::Instant;

/// The next message or submessage that a reliable stream sends.
#[derive(Debug)]
pub enum ToSend<'a> {
    /// A message. The caller writes a header with the stream's id before its body.
    Message {
        /// The sequence number of the message.
        sequence: Sequence,
        /// The submessages of the message, and room for the header.
        message: SlotMessage<'a>,
    },
    /// A HEARTBEAT submessage, to be sent outside of streams (as stream 0).
    Heartbeat {
        /// The sequence number of the oldest message that is not acknowledged.
        first: Sequence,
        /// The sequence number of the newest message that was sent.
        last: Sequence,
    },
}

/// Counters of an output stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputCounts {
    /// The number of messages that were sent for the first time.
    pub sent: u32,
    /// Messages that were sent again.
    pub resent: u32,
    /// Heartbeats.
    pub heartbeats: u32,
    /// The number of acknowledgements that acknowledge nothing new, or messages that were never sent.
    pub useless_acknowledgements: u32,
}

/// A reliable output stream over the slots `S`, which limit the number of waiting messages. No call blocks.
#[derive(Debug)]
pub struct ReliableOutput<S> {
    core: Core,
    storage: S,
}

impl<S: Storage> ReliableOutput<S> {
    /// An empty stream. Its first message has the sequence number 0.
    pub const fn new(storage: S) -> Self {
        Self { core: Core::new(), storage }
    }

    /// Reserves room for submessages of `length` bytes, including their headers. The room is in the message that is
    /// being filled, or in a new message if the first is full.
    ///
    /// # Errors
    /// [`Refused`]: no slot is free, a slot is too short, or a fragmented submessage is not completely in the stream
    /// yet ([`Self::write_part`]).
    pub fn begin(&mut self, length: usize) -> Result<SlotWriter<'_>, Refused> {
        self.core.queue.begin(self.storage.slots(), length)
    }

    /// Closes the newest message: no further submessage is added to it.
    pub fn end_message(&mut self) {
        self.core.queue.close();
    }

    /// Copies one submessage with its header, which is given in several pieces. A submessage that is longer than a
    /// slot is divided into fragments. After an error, the stream has no part of it.
    ///
    /// # Errors
    /// [`Refused`]: not enough slots are free, or all slots together are too short.
    pub fn write(&mut self, parts: &[&[u8]]) -> Result<(), Refused> {
        self.core.queue.write(self.storage.slots(), parts)
    }

    /// Copies a part of a submessage that is longer than all slots together, in fragments. The part starts at byte
    /// `copied` and fills the free slots. Returns the number of bytes that all calls have copied. Until all bytes are
    /// copied, the stream accepts no other submessage.
    ///
    /// # Errors
    /// [`Refused`]: another such submessage is not completely in the stream yet.
    pub fn write_part(&mut self, parts: &[&[u8]], copied: usize) -> Result<usize, Refused> {
        self.core.queue.write_part(self.storage.slots(), parts, copied)
    }

    /// Reserves room for a fragment of `length` bytes of a submessage that is longer than all slots together. Until
    /// the last fragment is committed, the stream accepts no other submessage.
    ///
    /// # Errors
    /// [`Refused`]: no slot is free, or a slot is too short.
    pub fn begin_fragment(&mut self, length: usize, is_last: bool) -> Result<SlotWriter<'_>, Refused> {
        self.core.queue.begin_fragment(self.storage.slots(), length, is_last)
    }

    /// The largest number of bytes in one fragment.
    pub fn fragment_capacity(&mut self) -> usize {
        fragment_capacity(&self.storage.slots())
    }

    /// The number of free slots.
    pub fn free_slots(&mut self) -> u8 {
        self.core.queue.free(&self.storage.slots())
    }

    /// The next message or submessage to send; `None` if there is none. The order is: messages that the peer reports as
    /// missing, new messages, and then a heartbeat if it is due.
    pub fn next_to_send(&mut self, now: Instant) -> Option<ToSend<'_>> {
        self.core.next_to_send(self.storage.slots(), now)
    }

    /// Whether [`Self::next_to_send`] has a message or a heartbeat.
    #[must_use]
    pub fn is_ready(&self, now: Instant) -> bool {
        self.core.is_ready(now)
    }

    /// Handles an acknowledgement: frees the slots of messages that arrived, and schedules the missing messages for
    /// retransmission. Returns the number of slots that became free.
    pub fn acknowledged(&mut self, acknowledgement: Acknowledgement, now: Instant) -> u8 {
        match self.core.arrived(acknowledgement.first_unacknowledged) {
            Some(arrived) if self.core.sent > 0 => {
                self.core.acknowledged(&mut self.storage.slots(), arrived, acknowledgement.missing, now)
            }
            _ => 0,
        }
    }

    /// The time at which the caller has to call [`Self::next_to_send`], unless data is written or acknowledged earlier.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.core.deadline
    }

    /// The number of messages that are not acknowledged, whether they were sent or not.
    #[must_use]
    pub fn unacknowledged(&self) -> u8 {
        self.core.queue.len()
    }

    /// The number of probes and heartbeats since the last useful acknowledgement. A large number is a sign that
    /// the peer is gone.
    #[must_use]
    pub fn unanswered(&self) -> u8 {
        self.core.unanswered
    }

    /// The estimate of the round trip, to which a session adds its own measurements.
    pub fn round_trip(&mut self) -> &mut RoundTrip {
        &mut self.core.round_trip
    }

    /// The counters since the stream was made.
    #[must_use]
    pub fn counts(&self) -> OutputCounts {
        self.core.counts
    }

    /// Begins a new session with sequence number 0. Returns the number of messages that were not acknowledged, and
    /// are forgotten. Counters and the estimate of the round trip stay.
    pub fn reset(&mut self) -> u8 {
        let forgotten = self.core.queue.len();
        self.core = Core { round_trip: self.core.round_trip.clone(), counts: self.core.counts, ..Core::new() };
        forgotten
    }
}

/// The part of the stream that does not depend on the slot sizes, so that its code is compiled only once.
///
/// Bit *i* of a bitmap belongs to the message `first + i`. Invariant: bits are set only for messages that were
/// sent, which are the first `sent` messages of the queue.
#[derive(Debug)]
struct Core {
    queue: Queue,
    first: Sequence,
    sent: u8,
    /// The number of unanswered attempts. Each attempt doubles the timeout.
    tries: u8,
    unanswered: u8,
    is_heartbeat_due: bool,
    to_resend: u32,
    was_resent: u32,
    /// The number of messages, from `first` on, for which the last heartbeat asked for an acknowledgement.
    asked: u8,
    last_sent: Instant,
    deadline: Option<Instant>,
    round_trip: RoundTrip,
    counts: OutputCounts,
}

impl Core {
    const fn new() -> Self {
        Self {
            queue: Queue::new(),
            first: Sequence(0),
            sent: 0,
            tries: 0,
            unanswered: 0,
            is_heartbeat_due: false,
            to_resend: 0,
            was_resent: 0,
            asked: 0,
            last_sent: Instant::from_us(0),
            deadline: None,
            round_trip: RoundTrip::new(),
            counts: OutputCounts { sent: 0, resent: 0, heartbeats: 0, useless_acknowledgements: 0 },
        }
    }

    fn is_ready(&self, now: Instant) -> bool {
        let has_message = self.to_resend != 0 || self.sent < self.queue.len();
        has_message || self.is_heartbeat_due || self.deadline.is_some_and(|deadline| now >= deadline)
    }

    fn next_to_send<'a>(&mut self, slots: Slots<'a>, now: Instant) -> Option<ToSend<'a>> {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.ask(&slots);
        }
        let position = if self.to_resend != 0 {
            let position = self.to_resend.trailing_zeros() as u8;
            self.to_resend &= self.to_resend - 1;
            self.was_resent |= 1 << position;
            self.counts.resent = self.counts.resent.wrapping_add(1);
            self.deadline = None;
            position
        } else if self.sent < self.queue.len() {
            self.sent += 1;
            if self.sent == self.queue.len() {
                self.queue.close();
            }
            self.counts.sent = self.counts.sent.wrapping_add(1);
            self.sent - 1
        } else if self.is_heartbeat_due {
            self.counts.heartbeats = self.counts.heartbeats.wrapping_add(1);
            self.asked = self.sent;
            self.await_answer(now);
            return Some(ToSend::Heartbeat {
                first: self.first,
                last: self.first.plus(u16::from(self.sent)).previous(),
            });
        } else {
            return None;
        };
        self.await_answer(now);
        let index = self.queue.index(&slots, position);
        let message = slots.into_message(index, now)?;
        Some(ToSend::Message { sequence: self.first.plus(u16::from(position)), message })
    }

    /// Repeats the oldest message or plans a heartbeat, because the peer was silent for too long. The oldest message is
    /// enough: a single lost message becomes the oldest one as soon as the earlier messages are acknowledged.
    fn ask(&mut self, slots: &Slots<'_>) {
        let length = slots.record(self.queue.index(slots, 0)).length;
        if self.tries == 0 && self.round_trip.is_typical(length) {
            self.to_resend |= 1;
        } else {
            self.is_heartbeat_due = true;
        }
        self.tries = self.tries.saturating_add(1);
        self.unanswered = self.unanswered.saturating_add(1);
        self.deadline = None;
    }

    /// Starts the wait for an answer, after a message was sent. A message replaces a planned heartbeat, because the
    /// peer answers both. The deadline belongs to the oldest message, so later messages do not move it.
    fn await_answer(&mut self, now: Instant) {
        self.is_heartbeat_due = false;
        self.last_sent = now;
        self.deadline.get_or_insert(now.after_us(self.round_trip.timeout_us(self.tries)));
    }

    /// The number of messages that have newly arrived according to an acknowledgement; `None` if there are none.
    fn arrived(&mut self, first_unacknowledged: Sequence) -> Option<u8> {
        let arrived = first_unacknowledged.distance_from(self.first).filter(|&count| count <= u16::from(self.sent));
        if arrived.is_none() {
            self.counts.useless_acknowledgements = self.counts.useless_acknowledgements.wrapping_add(1);
        }
        arrived.map(|count| count as u8)
    }

    fn acknowledged(&mut self, slots: &mut Slots<'_>, arrived: u8, missing: u16, now: Instant) -> u8 {
        if arrived > 0 {
            self.measure(slots, arrived, missing != 0, now);
            self.free(slots, arrived, now);
        }
        self.mark_missing(slots, missing, now);
        arrived
    }

    /// Measures the round trip of the newest message that arrived. There is no exact measurement if the acknowledgement
    /// may be the answer to a retransmission (Karn's algorithm) or to a heartbeat. Only the answer to a heartbeat lists
    /// all missing messages.
    fn measure(&mut self, slots: &Slots<'_>, arrived: u8, names_missing: bool, now: Instant) {
        let record = slots.record(self.queue.index(slots, arrived - 1));
        let length = usize::from(record.length);
        let answers_heartbeat = self.asked == arrived || (self.asked > arrived && names_missing);
        if self.was_resent & mask(arrived) == 0 && !answers_heartbeat {
            self.round_trip.measured(elapsed_us(now, record.sent_at_us), length);
            self.tries = 0;
            return;
        }
        // `tries` is not reset, so that the interval grows until it is long enough to measure a line that has become
        // slower. The time since the last transmission is a lower bound of the round trip.
        let least_us = elapsed_us(now, self.last_sent.as_us() as u32);
        if self.round_trip.smoothed_us().is_none_or(|smoothed_us| least_us > smoothed_us) {
            self.round_trip.measured(least_us, length);
        }
    }

    fn free(&mut self, slots: &Slots<'_>, arrived: u8, now: Instant) {
        self.queue.remove(slots, arrived);
        self.first = self.first.plus(u16::from(arrived));
        self.sent -= arrived;
        self.to_resend >>= arrived;
        self.was_resent >>= arrived;
        self.asked = self.asked.saturating_sub(arrived);
        self.is_heartbeat_due = false;
        self.unanswered = 0;
        self.deadline = (self.sent > 0).then(|| {
            let sent_at_us = slots.record(self.queue.index(slots, 0)).sent_at_us;
            let left_us = self.round_trip.timeout_us(self.tries).saturating_sub(elapsed_us(now, sent_at_us));
            // Answers to messages that wait in the line's queue arrive one after the other, so the deadline for the
            // next answer is at least half a round trip away.
            now.after_us(left_us.max(self.round_trip.smoothed_us().unwrap_or(0) / 2).max(1))
        });
    }

    /// Schedules the missing messages for retransmission. Messages that were resent less than a round trip ago are left
    /// out, because the peer sent its acknowledgement before they could arrive.
    fn mark_missing(&mut self, slots: &Slots<'_>, missing: u16, now: Instant) {
        let guard_us = self.round_trip.smoothed_us().unwrap_or_else(|| self.round_trip.timeout_us(0));
        let mut bits = u32::from(missing) & mask(self.sent);
        while bits != 0 {
            let position = bits.trailing_zeros() as u8;
            bits &= bits - 1;
            let sent_at_us = slots.record(self.queue.index(slots, position)).sent_at_us;
            if self.was_resent & (1 << position) == 0 || elapsed_us(now, sent_at_us) >= guard_us {
                self.to_resend |= 1 << position;
                // The peer answers, so the interval to the next probe becomes short again.
                self.tries = self.tries.min(1);
                self.unanswered = 0;
            }
        }
    }
}

/// A mask of the `count` lowest bits; `count` is at most 16.
const fn mask(count: u8) -> u32 {
    (1 << count) - 1
}

/// Subtracts times that are stored modulo 2³² microseconds (71 minutes). The difference is correct, because a message
/// is resent long before that.
fn elapsed_us(now: Instant, sent_at_us: u32) -> u32 {
    (now.as_us() as u32).wrapping_sub(sent_at_us)
}
