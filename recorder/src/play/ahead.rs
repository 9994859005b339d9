//! The messages that are read ahead: a queue between the thread that reads the bag and the player.
//!
//! A large message in the queue is already in the slot of shared memory in which it will be published, if there is
//! room. So when it is due, the player only publishes it: neither the disk nor the copy of another large message delays
//! it. The player waits only while the topic's publisher gets more memory.

use super::{
    SLICE,
    outlet::{Data, Outlet},
};
use crate::topics::lock;
use std::{
    collections::VecDeque,
    ops::ControlFlow,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// The largest total size of the queued messages in bytes, if there are several.
const MAX_BYTES: usize = 64 << 20;
/// The largest number of queued messages.
const MAX_MESSAGES: usize = 1024;
/// The time by which messages are read ahead.
const SPAN: Duration = Duration::from_millis(250);

/// A message that is read ahead.
pub struct Next<'a> {
    /// The publisher of the message.
    pub outlet: &'a Outlet,
    /// The time of the message in the bag, in nanoseconds since 1970.
    pub time_ns: u64,
    /// The size of the message in bytes, with its encapsulation header.
    pub bytes: usize,
    /// The data.
    pub data: Data,
}

/// The queue.
pub struct Ahead<'a> {
    state: Mutex<State<'a>>,
    /// Notified when the reading thread adds a message, waits for room or ends.
    read: Condvar,
    /// Notified when the player removes a message or ends.
    played: Condvar,
    /// The time in the bag by which messages are read ahead.
    span_ns: u64,
}

struct State<'a> {
    queue: VecDeque<Next<'a>>,
    /// The total size of the queued messages.
    bytes: usize,
    /// The time in the bag of the message that the player has removed last.
    position_ns: u64,
    is_read: bool,
    is_closed: bool,
    player_waits: bool,
    reader_waits: bool,
}

impl<'a> Ahead<'a> {
    /// Creates a queue for a playback that begins at the time `position_ns` in the bag and plays `rate` seconds of the
    /// bag per second.
    pub fn new(position_ns: u64, rate: f64) -> Ahead<'a> {
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            position_ns,
            is_read: false,
            is_closed: false,
            player_waits: false,
            reader_waits: false,
        };
        let span_ns = (SPAN.as_nanos() as f64 * rate) as u64;
        Ahead { state: Mutex::new(state), read: Condvar::new(), played: Condvar::new(), span_ns }
    }

    /// Waits until the queue has room for a message, which `make` then reads. Returns `Break` if the player has ended.
    pub fn push(&self, time_ns: u64, bytes: usize, make: impl FnOnce() -> Next<'a>) -> ControlFlow<()> {
        let mut state = lock(&self.state);
        while !state.is_closed && !state.has_room(time_ns, bytes, self.span_ns) {
            state.reader_waits = true;
            if std::mem::take(&mut state.player_waits) {
                self.read.notify_one();
            }
            state = self.played.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return ControlFlow::Break(());
        }
        state.reader_waits = false;
        drop(state); // the player goes on while the message is copied
        let next = make();
        let mut state = lock(&self.state);
        state.bytes += bytes;
        state.queue.push_back(next);
        if std::mem::take(&mut state.player_waits) {
            self.read.notify_one();
        }
        ControlFlow::Continue(())
    }

    /// Waits until the reading thread has filled the queue or ended, or the program has to end.
    pub fn wait_until_full(&self) {
        self.wait_for(|state| state.reader_waits.then_some(()));
    }

    /// Removes the next message; `None` after the last one, or if the program has to end.
    pub fn pop(&self) -> Option<Next<'a>> {
        self.wait_for(|state| {
            let next = state.queue.pop_front()?;
            state.bytes -= next.bytes;
            state.position_ns = next.time_ns;
            if std::mem::take(&mut state.reader_waits) {
                self.played.notify_one();
            }
            Some(next)
        })
    }

    /// Waits until `look` returns a value; `None` after the reading thread has ended, or if the program has to end.
    fn wait_for<T>(&self, mut look: impl FnMut(&mut State<'a>) -> Option<T>) -> Option<T> {
        let mut state = lock(&self.state);
        while gantry::ok() {
            let found = look(&mut state);
            if found.is_some() || state.is_read {
                return found;
            }
            state.player_waits = true;
            // A signal wakes no waiting thread, so the wait ends early.
            let waited = self.read.wait_timeout(state, SLICE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    /// Ends the queue when the result is dropped: after the last message, or after an error of the reading thread.
    pub fn reading(&self) -> End<'_, 'a> {
        End(self, |state| state.is_read = true)
    }

    /// Makes the reading thread end when the result is dropped.
    pub fn playing(&self) -> End<'_, 'a> {
        End(self, |state| state.is_closed = true)
    }
}

impl State<'_> {
    /// Whether a message may be read now. An empty queue has room for any message.
    fn has_room(&self, time_ns: u64, bytes: usize, span_ns: u64) -> bool {
        let is_near = time_ns <= self.position_ns.saturating_add(span_ns);
        self.queue.is_empty() || self.queue.len() < MAX_MESSAGES && self.bytes + bytes <= MAX_BYTES && is_near
    }
}

/// Changes the state of the queue when it is dropped, and wakes the thread that waits for the queue.
#[must_use]
pub struct End<'b, 'a>(&'b Ahead<'a>, fn(&mut State<'a>));

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.1(&mut lock(&self.0.state));
        self.0.read.notify_all();
        self.0.played.notify_all();
    }
}
