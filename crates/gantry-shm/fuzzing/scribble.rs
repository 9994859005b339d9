//! A fuzz target: a domain in use, in which the files of one participant are damaged.
//!
//! There are three participants: one publishes, one subscribes, and the third does both. The files of the third
//! participant and the board are damaged between and during all operations. The first two, intact participants may lose
//! samples of the third one, but never samples of each other. Samples that they hold do not change, and no participant
//! panics, hangs, or exceeds its memory limit.

use super::{
    alias_of, bytes_type,
    input::{Damaged, Input},
    new_root, word_offsets,
};
use crate::{
    Qos,
    domain::{Domain, participant::Participant},
    error::{Error, Result},
    os::directory::BOARD_NAME,
    publish::{
        loan::PublishError,
        options::PublisherOptions,
        publisher::{Publisher, SourceTime},
    },
    subscribe::{sample::Sample, subscription::Subscription},
};
use std::{path::Path, sync::Arc, time::Duration};

/// The memory limit of a publisher.
const LIMIT_BYTES: usize = 32 << 10;
/// The longest message.
const PAYLOAD_BYTES: usize = 2000;
/// The largest number of subscriptions, and of held samples, of one participant.
const MANY: usize = 12;

/// A participant with a publisher, subscriptions and held samples.
struct Actor {
    publisher: Publisher,
    readers: Vec<Subscription>,
    held: Vec<Sample>,
    participant: Arc<Participant>,
}

impl Actor {
    fn new(root: &Path, number: usize, topic: &str, qos: Qos) -> Actor {
        let participant = Participant::join_under(&alias_of(root, number), 0).unwrap();
        let options = PublisherOptions {
            max_blocking_time: Duration::ZERO,
            max_kept_samples: 8,
            max_memory_bytes: Some(LIMIT_BYTES),
            ..PublisherOptions::default()
        };
        let message = bytes_type(PAYLOAD_BYTES);
        let publisher = Publisher::new(participant.clone(), "/talker", topic, message, qos, options).unwrap();
        Actor { publisher, readers: Vec::new(), held: Vec::new(), participant }
    }

    fn subscribe(&mut self, topic: &str, qos: Qos) {
        if self.readers.len() < MANY {
            let message = bytes_type(PAYLOAD_BYTES);
            let made = Subscription::new(self.participant.clone(), "/listener", topic, message, qos);
            self.readers.extend(expected(made));
        }
    }

    fn publish(&mut self, length_bytes: usize) {
        let Some(mut loan) = expected(self.publisher.loan(length_bytes)) else { return };
        loan.bytes_mut().fill(length_bytes as u8);
        let published = self.publisher.publish(loan, SourceTime::now());
        expected(published.map_err(|PublishError { error, .. }| *error));
        assert!(self.publisher.memory_bytes() <= LIMIT_BYTES, "more memory than its limit");
    }

    fn take(&mut self, input: &mut Input<'_>) {
        let reader = input.below(self.readers.len());
        if let (Some(reader), true) = (self.readers.get_mut(reader), self.held.len() < MANY) {
            self.held.extend(expected(reader.take()).flatten());
        }
    }

    fn release(&mut self, input: &mut Input<'_>) {
        if !self.held.is_empty() {
            drop(self.held.swap_remove(input.below(self.held.len())));
        }
    }

    fn count(&mut self) {
        expected(self.publisher.subscription_count());
        expected(self.publisher.mismatches());
        for reader in &mut self.readers {
            expected(reader.publisher_count());
            expected(reader.wait(Duration::ZERO));
            let _ = (reader.mismatches(), reader.losses());
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.participant.domain.directory.path().join(name)
    }
}

/// Panics on errors that damage cannot cause. Damage may cause errors about another process that has invalid bytes, or
/// that seems to hold samples or to block.
fn expected<T>(result: Result<T>) -> Option<T> {
    use Error::*;
    let may_occur = |error: &Error| {
        matches!(
            error,
            Corrupt { .. }
                | Incompatible { .. }
                | OutOfMemory { .. }
                | PublishTimeout { .. }
                | UnmappedReader { .. }
                | UnmatchedPublisher { .. }
                | ForeignDirectory { .. }
                | TypeMismatch { .. }
                | IncompatibleQos { .. }
        )
    };
    result.inspect_err(|error| assert!(may_occur(error), "{error:?}")).ok()
}

/// True if a message is intact: each byte has the value of the message's length.
fn is_whole(sample: &Sample) -> bool {
    let bytes = sample.bytes();
    bytes.iter().all(|&byte| byte == bytes.len() as u8)
}

/// Runs a domain according to the input.
pub fn scribble(bytes: &[u8]) {
    let mut input = Input(bytes);
    let root = new_root();
    let all = [Qos::default().keep_last(1), Qos::default().keep_last(5), Qos::default().keep_last(3).transient_local()];
    let choice = input.byte();
    let qos = if choice & 4 == 0 { all[usize::from(choice & 3) % 3] } else { Qos::default().keep_all() };
    let mut honest = Actor::new(root.path(), 0, "/honest", qos);
    let mut reader = Actor::new(root.path(), 1, "/unread", qos);
    let mut third = Actor::new(root.path(), 2, "/third", qos);
    reader.subscribe("/honest", qos);
    reader.subscribe("/third", qos);
    third.subscribe("/honest", qos);
    third.subscribe("/third", qos);
    let files = [
        Damaged::open(&third.path(&third.participant.domain.process.file_name()), word_offsets::process),
        Damaged::open(
            &third.path(&third.participant.domain.process.publisher_file_name(third.publisher.description().number)),
            word_offsets::publisher,
        ),
        Damaged::open(&third.path(BOARD_NAME), word_offsets::board),
    ];
    let (mut flipper, mut board_is_whole) = (None, true);
    while !input.is_empty() {
        match input.byte() % 16 {
            0 | 1 => honest.publish(input.below(PAYLOAD_BYTES + 1)),
            2 => third.publish(input.below(PAYLOAD_BYTES + 1)),
            3 | 4 => reader.take(&mut input),
            5 => third.take(&mut input),
            6 => reader.release(&mut input),
            7 => third.release(&mut input),
            8 => files[0].poke(&mut input),
            9 => files[1].poke(&mut input),
            10 => {
                // Damage to a word of the board can keep a publisher from discovering a subscription; the subscription
                // notices this by the publisher's generation.
                board_is_whole = false;
                files[2].poke(&mut input);
            }
            11 => [&mut honest, &mut reader, &mut third][input.below(3)].count(),
            12 => {
                let topic = ["/honest", "/third"][input.below(2)];
                [&mut reader, &mut third][input.below(2)]
                    .subscribe(topic, [all[0], all[1], all[2], qos][input.below(4)]);
            }
            13 => {
                let readers = &mut [&mut reader, &mut third][input.below(2)].readers;
                if readers.len() > 1 {
                    drop(readers.remove(input.below(readers.len())));
                }
            }
            14 => flipper = if flipper.is_none() { Some(files[input.below(2)].flip(&mut input)) } else { None },
            _ => {
                drop(expected(honest.participant.inspect()));
                drop(expected(Domain::join(&alias_of(root.path(), 3), 0)));
            }
        }
        let gid = honest.publisher.description().gid;
        let whole = reader.held.iter().filter(|sample| sample.info().publisher_gid == gid).all(is_whole);
        assert!(whole || !board_is_whole, "a sample changed while it was held");
    }
}
