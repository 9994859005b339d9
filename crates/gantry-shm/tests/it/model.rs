//! Compares random operations of several publishers and readers with a simple reference model.

use crate::support::*;
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, Sample, SourceTime, Subscription};
use std::{collections::VecDeque, sync::Arc};

tests![random_operations_of_many_agree_with_a_plain_model];

/// A publisher of the test, with its state in the model.
struct Writer {
    publisher: Publisher,
    depth: usize,
    is_transient_local: bool,
    /// All published samples, as (time, length).
    published: Vec<(u64, usize)>,
}

/// A subscription of the test, with its state in the model.
struct Reader {
    subscription: Subscription,
    depth: usize,
    /// The samples that the subscription must still get: the publisher's gid and the sequence number.
    queue: VecDeque<([u8; 16], u64)>,
    overwritten: u64,
}

/// All endpoints, and the clock from which samples get their times.
struct World {
    random: Random,
    participant: Arc<Participant>,
    writers: Vec<Writer>,
    readers: Vec<Reader>,
    held: Vec<(Sample, u64)>,
    clock: u64,
}

/// The greatest depth of a reader. Publishers keep up to this number of samples.
const DEEPEST: u64 = 300;

impl World {
    fn below(&mut self, end: u64) -> usize {
        self.random.below(end) as usize
    }

    /// Chooses a depth; small depths are more frequent.
    fn depth(&mut self) -> usize {
        let end = [4, 40, DEEPEST][self.below(3)];
        1 + self.below(end)
    }

    fn add_writer(&mut self) {
        let (depth, is_transient_local) = (self.depth(), self.below(2) == 0);
        let qos = Qos::default().keep_last(depth as u32);
        let qos = if is_transient_local { qos.transient_local() } else { qos };
        let options = PublisherOptions { max_kept_samples: DEEPEST as usize, ..Default::default() };
        let publisher = publisher_with(&self.participant, usize::MAX, qos, options);
        self.writers.push(Writer { publisher, depth, is_transient_local, published: Vec::new() });
        self.match_all();
    }

    fn add_reader(&mut self) {
        let depth = self.depth();
        let qos = Qos::default().keep_last(depth as u32);
        let subscription = subscription(&self.participant, usize::MAX, qos);
        self.readers.push(Reader { subscription, depth, queue: VecDeque::new(), overwritten: 0 });
        self.match_all();
    }

    /// Creates a late joiner, which takes the history of all TRANSIENT_LOCAL publishers and leaves. It must get the
    /// newest samples, the oldest first.
    fn check_history(&mut self) {
        let depth = self.depth();
        let qos = Qos::default().keep_last(depth as u32).transient_local();
        let mut late = subscription(&self.participant, usize::MAX, qos);
        let mut expected = Vec::new();
        for writer in self.writers.iter().filter(|writer| writer.is_transient_local) {
            let count = writer.published.len();
            let first = count - count.min(depth).min(writer.depth);
            expected.extend((first..count).map(|index| writer.published[index].0));
        }
        expected.sort_unstable();
        let skipped = expected.len().saturating_sub(depth);
        expected.drain(..skipped);
        let taken: Vec<u64> = std::iter::from_fn(|| late.take().unwrap()).map(|s| s.info().source_time_ns).collect();
        assert_eq!(taken, expected, "the history, {depth} deep");
        assert_eq!((late.losses().overwritten, late.losses().before_matched), (skipped as u64, 0));
    }

    fn match_all(&mut self) {
        for reader in &mut self.readers {
            reader.subscription.publisher_count().unwrap();
        }
        for writer in &mut self.writers {
            assert_eq!(writer.publisher.subscription_count().unwrap(), self.readers.len());
        }
    }

    fn publish(&mut self, index: usize) {
        let magnitude = self.below(15);
        let length = self.below(1 << magnitude);
        self.clock += 1;
        let writer = &mut self.writers[index];
        let mut loan = writer.publisher.loan(length).unwrap();
        fill_any(loan.bytes_mut(), self.clock);
        let now = SourceTime::now();
        // The two times differ like the system's clocks: otherwise the sample would not travel inline.
        let wall_ns = self.clock + now.wall_ns - now.monotonic_ns;
        let time = SourceTime { monotonic_ns: self.clock, wall_ns };
        let sequence = writer.publisher.publish(loan, time).unwrap();
        writer.published.push((self.clock, length));
        assert_eq!(sequence, writer.published.len() as u64);
        let gid = writer.publisher.description().gid.0;
        for reader in &mut self.readers {
            reader.queue.push_back((gid, sequence));
            if reader.queue.len() > reader.depth {
                reader.queue.pop_front();
                reader.overwritten += 1;
            }
        }
    }

    /// Takes a sample, and compares it with the model. A take also counts the samples that were overwritten before it.
    fn take(&mut self, index: usize) {
        let reader = &mut self.readers[index];
        let Some(sample) = reader.subscription.take().unwrap() else {
            assert!(reader.queue.is_empty(), "take gave nothing, but there are {:?}", reader.queue);
            assert_eq!(reader.subscription.losses().overwritten, reader.overwritten);
            assert_eq!(reader.subscription.losses().before_matched, 0);
            return;
        };
        let info = sample.info();
        let expected = reader.queue.pop_front();
        assert_eq!(Some((info.publisher_gid.0, info.sequence)), expected, "to a reader of depth {}", reader.depth);
        let known = self.writers.iter().find(|writer| writer.publisher.description().gid == info.publisher_gid);
        if let Some(writer) = known {
            let (time, length) = writer.published[info.sequence as usize - 1];
            assert_eq!((info.source_time_ns, sample.bytes().len()), (time, length));
        }
        check_any(sample.bytes(), info.source_time_ns);
        self.held.push((sample, info.source_time_ns));
    }

    fn step(&mut self) {
        let (writers, readers) = (self.writers.len() as u64, self.readers.len() as u64);
        match self.below(1000) {
            0..4 if writers < 4 => self.add_writer(),
            4..6 if writers > 1 => {
                let index = self.below(writers);
                drop(self.writers.swap_remove(index)); // the samples of this publisher can still be taken
            }
            6..14 if readers < 6 => self.add_reader(),
            14..20 if readers > 0 => {
                let index = self.below(readers);
                drop(self.readers.swap_remove(index)); // samples of this reader may still be held
            }
            20..30 => self.check_history(),
            30..35 if writers > 0 => (0..self.below(700)).for_each(|_| {
                let index = self.below(writers);
                self.publish(index);
            }),
            35..500 if writers > 0 => {
                let index = self.below(writers);
                self.publish(index);
            }
            500..900 if readers > 0 => {
                let index = self.below(readers);
                self.take(index);
            }
            900..905 => self.held.clear(),
            _ if !self.held.is_empty() => {
                let index = self.below(self.held.len() as u64);
                let (sample, number) = self.held.swap_remove(index);
                check_any(sample.bytes(), number);
            }
            _ => {}
        }
    }
}

fn random_operations_of_many_agree_with_a_plain_model() {
    let root = Root::new();
    for _ in 0..4 {
        let participant = root.join();
        let (writers, readers, held) = (Vec::new(), Vec::new(), Vec::new());
        let mut world = World { random: Random::new(), participant, writers, readers, held, clock: 0 };
        world.add_writer();
        (0..5000).for_each(|_| world.step());
        for index in 0..world.readers.len() {
            while !world.readers[index].queue.is_empty() {
                world.take(index);
            }
            world.take(index); // checks that there is no further sample
        }
        world.held.iter().for_each(|(sample, number)| check_any(sample.bytes(), *number));
    }
    root.assert_empty();
}
