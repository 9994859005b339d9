//! A publisher of numbered messages, and a subscription that notices each message that is missing, changed or out of
//! order.

use crate::support::{check, fill};
use gantry_shm::{Error, Gid, Publisher, Sample, SourceTime, Subscription};
use std::collections::VecDeque;

/// The number of bytes at each end of a long message that are filled and checked.
const END_BYTES: usize = 1024;

/// A publisher. The number in each message is its sequence number.
pub struct Talker {
    pub publisher: Publisher,
    pub sent: u64,
}

impl Talker {
    pub fn new(publisher: Publisher) -> Talker {
        Talker { publisher, sent: 0 }
    }

    pub fn send(&mut self, bytes: usize) {
        assert!(self.try_send(bytes), "no reader took a sample in time");
    }

    /// Publishes the next message. Returns false if readers blocked the publisher for too long.
    pub fn try_send(&mut self, bytes: usize) -> bool {
        let number = self.sent + 1;
        let mut loan = self.publisher.loan(bytes).unwrap();
        let contents = loan.bytes_mut();
        fill(&mut contents[..bytes.min(END_BYTES)], number);
        fill(&mut contents[bytes.saturating_sub(END_BYTES)..], number);
        match self.publisher.publish(loan, SourceTime::now()) {
            Ok(sequence) => assert_eq!(sequence, number),
            Err(unpublished) if matches!(*unpublished.error, Error::PublishTimeout { .. }) => return false,
            Err(unpublished) => panic!("{unpublished}"),
        }
        self.sent = number;
        true
    }
}

/// Returns the number in a message. Panics if the message has changed since it was written.
fn read(bytes: &[u8]) -> u64 {
    let number = check(&bytes[..bytes.len().min(END_BYTES)]);
    assert_eq!(check(&bytes[bytes.len().saturating_sub(END_BYTES)..]), number, "the ends of a message differ");
    number
}

/// A subscription that takes every sample of every publisher, in order, and holds the last samples.
pub struct Listener {
    pub subscription: Subscription,
    /// The number of samples that the subscription took.
    pub taken: u64,
    held: VecDeque<(u64, Sample)>,
    most_held: usize,
    /// The next expected number of each publisher.
    next: Vec<(Gid, u64)>,
    /// True if a publisher may have published before the subscription joined.
    is_late: bool,
}

impl Listener {
    /// Creates a listener for a subscription that exists before the first message.
    pub fn new(subscription: Subscription, most_held: usize) -> Listener {
        Listener { subscription, taken: 0, held: VecDeque::new(), most_held, next: Vec::new(), is_late: false }
    }

    /// Creates a listener for a subscription that joins later: its first message may have any number.
    pub fn late(subscription: Subscription, most_held: usize) -> Listener {
        Listener { is_late: true, ..Listener::new(subscription, most_held) }
    }

    /// Takes all samples that are available now.
    pub fn take_all(&mut self) {
        while let Some(sample) = self.subscription.take().unwrap() {
            let (number, info) = (read(sample.bytes()), sample.info());
            let index = self.next.iter().position(|(gid, _)| *gid == info.publisher_gid).unwrap_or_else(|| {
                self.next.push((info.publisher_gid, if self.is_late { number } else { 1 }));
                self.next.len() - 1
            });
            let next = &mut self.next[index].1;
            assert_eq!((number, info.sequence), (*next, *next), "number and sequence of the next sample of {info:?}");
            *next += 1;
            self.taken += 1;
            self.held.push_back((number, sample));
            if self.held.len() > self.most_held {
                self.release(1);
            }
        }
    }

    /// Releases up to `count` samples, the longest held first. Panics if a sample has changed while it was held.
    pub fn release(&mut self, count: usize) {
        for (number, sample) in self.held.drain(..count.min(self.held.len())) {
            assert_eq!(read(sample.bytes()), number, "a held sample changed");
        }
    }
}
