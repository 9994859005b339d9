//! The calls of one client: calls that wait for a server, and calls that wait for a response.

use crate::counts::Counts;
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// The largest number of calls that wait for a server, and of calls that wait for a response. If it is exceeded, the
/// oldest call is given up.
pub const MAX_CALLS: usize = 1000;
/// The largest number of bytes in the requests of the waiting calls. A single request may be larger.
const MAX_BYTES: usize = 64 << 20;
/// The longest time for which a call waits for a server.
pub const MAX_WAIT: Duration = Duration::from_secs(10);

/// The result of an attempt to send a call.
#[derive(Debug)]
pub enum Sent<P> {
    /// The request was sent, and has this number.
    As(u64, P),
    /// The receiving side refused the request.
    Refused,
    /// The request is malformed.
    Malformed,
}

/// The calls of one client. `W` is a call that waits for a server, `P` a call that waits for its response. Each call
/// that gets no response is counted.
pub struct Calls<W, P> {
    waiting: VecDeque<(Instant, usize, W)>,
    waiting_bytes: usize,
    /// The calls that wait for a response, by the numbers of their requests.
    pending: BTreeMap<u64, (usize, P)>,
    pending_bytes: usize,
    counts: Arc<Counts>,
}

impl<W, P> Calls<W, P> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(counts: Arc<Counts>) -> Calls<W, P> {
        Calls { waiting: VecDeque::new(), waiting_bytes: 0, pending: BTreeMap::new(), pending_bytes: 0, counts }
    }

    /// Adds a call that waits for a server. `bytes` is the length of its request.
    pub fn push(&mut self, call: W, bytes: usize) {
        self.waiting.push_back((Instant::now(), bytes, call));
        self.waiting_bytes += bytes;
        while is_too_much(self.waiting.len(), self.waiting_bytes) {
            let Some((_, bytes, _)) = self.waiting.pop_front() else { break };
            self.waiting_bytes -= bytes;
            self.counts.overwrite();
        }
    }

    /// True if calls wait for a server.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Gives up calls that have waited too long, because a server would execute them too late, and calls whose client
    /// has left.
    pub fn retain(&mut self, has_client: impl Fn(&W) -> bool, is_expected: impl Fn(&P) -> bool) {
        let before = self.waiting.len() + self.pending.len();
        self.waiting.retain(|(since, _, call)| since.elapsed() < MAX_WAIT && has_client(call));
        self.pending.retain(|_, (_, call)| is_expected(call));
        self.waiting_bytes = self.waiting.iter().map(|(_, bytes, _)| bytes).sum();
        self.pending_bytes = self.pending.values().map(|(bytes, _)| bytes).sum();
        (self.waiting.len() + self.pending.len()..before).for_each(|_| self.counts.disown());
    }

    /// Sends the calls that wait for a server.
    pub fn send(&mut self, mut send: impl FnMut(W) -> Sent<P>) {
        self.waiting_bytes = 0;
        for (_, bytes, call) in self.waiting.drain(..) {
            match send(call) {
                Sent::As(number, call) => {
                    self.pending_bytes += bytes;
                    self.pending.insert(number, (bytes, call));
                }
                Sent::Refused => self.counts.fail(),
                Sent::Malformed => self.counts.malform(),
            }
            while is_too_much(self.pending.len(), self.pending_bytes) {
                let Some((_, (bytes, _))) = self.pending.pop_first() else { break };
                self.pending_bytes -= bytes;
                self.counts.overwrite();
            }
        }
    }

    /// Removes and returns the call with this number, because its response has arrived.
    pub fn answer(&mut self, number: u64) -> Option<P> {
        let (bytes, call) = self.pending.remove(&number)?;
        self.pending_bytes -= bytes;
        Some(call)
    }
}

fn is_too_much(calls: usize, bytes: usize) -> bool {
    calls > MAX_CALLS || bytes > MAX_BYTES && calls > 1
}

impl<W, P> Drop for Calls<W, P> {
    fn drop(&mut self) {
        (0..self.waiting.len() + self.pending.len()).for_each(|_| self.counts.disown());
    }
}

impl<W, P> fmt::Debug for Calls<W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Calls({} wait for a server, {} for a response)", self.waiting.len(), self.pending.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> (Calls<u64, u64>, Arc<Counts>) {
        let counts: Arc<Counts> = Arc::default();
        (Calls::new(counts.clone()), counts)
    }

    #[test]
    fn calls_are_bounded_in_number_and_bytes_and_each_other_one_is_counted() {
        let (mut calls, counts) = calls();
        (0..MAX_CALLS as u64 + 3).for_each(|number| calls.push(number, 8));
        assert_eq!(counts.values().overwritten, 3);
        let mut sent = Vec::new();
        calls.send(|number| {
            sent.push(number);
            Sent::As(number, number)
        });
        assert_eq!((sent.len(), sent[0], calls.is_waiting()), (MAX_CALLS, 3, false));
        assert_eq!((calls.answer(2), calls.answer(3), calls.answer(3)), (None, Some(3), None));

        let large = MAX_BYTES / 2;
        calls.push(1, MAX_BYTES * 2);
        assert!(calls.is_waiting(), "one request may be larger");
        [2, 3].into_iter().for_each(|number| calls.push(number, large));
        assert_eq!(counts.values().overwritten, 4);
        calls.push(4, large);
        assert_eq!(counts.values().overwritten, 5);
        calls.retain(|_| true, |_| false);
        calls.send(|number| Sent::As(2000 + number, number));
        assert_eq!((calls.answer(2003), calls.answer(2004)), (Some(3), Some(4)));
    }

    #[test]
    fn calls_without_a_response_are_counted() {
        let (mut calls, counts) = calls();
        (0..6).for_each(|number| calls.push(number, 1));
        calls.retain(|number| *number > 0, |_| true);
        calls.send(|number| match number {
            1 => Sent::Refused,
            2 => Sent::Malformed,
            number => Sent::As(number, number),
        });
        calls.retain(|_| true, |number| *number != 3);
        let values = counts.values();
        assert_eq!((values.unclaimed, values.failed, values.malformed), (2, 1, 1));
        calls.push(6, 1);
        drop(calls);
        assert_eq!(counts.values().unclaimed, 5);
    }
}
