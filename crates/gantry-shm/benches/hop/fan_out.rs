//! Publishing to many *active* readers: the cost of a publish while 1, 8 or 64 subscriptions take every sample.
//!
//! The subscriptions are in the other process, on the other CPU, and take one after the other. The publisher publishes
//! bursts that fit into the history. After each burst it waits, untimed, until every reader has taken every sample. So
//! no sample may be lost; the benchmark checks this. A statistical sample is the time of `PUBLISHES` publishes,
//! including their loans, payloads and reclaims. `PUBLISHES` is the largest number of slots that the engine reclaims at
//! once, so that every statistical sample includes its share of reclaims.

use crate::{
    Result, area,
    area::APART,
    contestant::{Contestant, Side, poll},
    gantry::{Receiver, Sender},
    payload::Payload,
    root::Root,
    ticks,
};
use std::sync::atomic::{AtomicU64, Ordering::*};

/// The number of publishes in a statistical sample.
pub const PUBLISHES: u64 = 256;
/// The number of publishes in a burst, between two waits for the readers.
const BURST: u64 = 32;
/// The depth of the history, which is more than a burst.
const DEPTH: u32 = 64;
/// The number of statistical samples at the beginning of a turn that are not counted.
const WARM_UP: usize = 2;

/// One side of the measurement.
pub enum FanOut {
    /// The publisher.
    Ping {
        sender: Box<Sender>,
        /// The number of subscriptions.
        readers: usize,
        /// The number of samples that every reader has taken; the other side writes it to shared memory.
        taken: &'static AtomicU64,
        /// The number of samples that were published.
        published: u64,
    },
    /// The subscriptions.
    Pong {
        receivers: Vec<Receiver>,
        /// The number of samples that each subscription has taken.
        taken_by: Vec<u64>,
        /// The number of samples that all subscriptions have taken, in shared memory for the other side.
        taken: &'static AtomicU64,
    },
}

impl FanOut {
    /// Creates one side: the publisher, or `readers` subscriptions, on the topic `name`.
    pub fn new(root: &Root, name: &str, side: Side, payload: Payload, readers: usize) -> Result<FanOut> {
        let taken = &area::words(&root.file(name), APART)?[0];
        let topic = format!("/{name}");
        if side == Side::Ping {
            let sender = Box::new(Sender::new(root, &topic, payload, DEPTH)?);
            return Ok(FanOut::Ping { sender, readers, taken, published: 0 });
        }
        let receivers: Result<_> = (0..readers).map(|_| Receiver::new(root, &topic, payload, DEPTH)).collect();
        Ok(FanOut::Pong { receivers: receivers?, taken_by: vec![0; readers], taken })
    }
}

impl Contestant for FanOut {
    fn meet(&mut self) -> Result<()> {
        match self {
            FanOut::Ping { sender, readers, .. } => sender.meet(*readers),
            FanOut::Pong { receivers, .. } => receivers.iter_mut().try_for_each(Receiver::meet),
        }
    }

    fn measure(&mut self, count: usize, samples: &mut Vec<u64>) -> Result<()> {
        let FanOut::Ping { sender, taken, published, .. } = self else { return Err(wrong_side()) };
        for sample in 0..(WARM_UP + count) {
            let mut time = 0;
            for _ in 0..PUBLISHES / BURST {
                let start = ticks::now();
                for _ in 0..BURST {
                    *published += 1;
                    sender.publish(*published)?;
                }
                time += ticks::now() - start;
                poll(|| Ok((taken.load(Acquire) == *published).then_some(())))?;
            }
            if sample >= WARM_UP {
                samples.push(time);
            }
        }
        Ok(())
    }

    fn answer(&mut self, count: usize) -> Result<()> {
        let FanOut::Pong { receivers, taken_by, taken } = self else { return Err(wrong_side()) };
        let end = taken.load(Relaxed) + (WARM_UP + count) as u64 * PUBLISHES;
        poll(|| {
            for (receiver, taken_by) in receivers.iter_mut().zip(&mut *taken_by) {
                if let Some(value) = receiver.take()? {
                    *taken_by += 1;
                    if value != *taken_by {
                        return Err(
                            format!("sample {taken_by} of a reader has the value {value}: a sample was lost").into()
                        );
                    }
                }
            }
            let least = taken_by.iter().copied().min().unwrap_or(end);
            if least > taken.load(Relaxed) {
                taken.store(least, Release);
            }
            Ok((least >= end).then_some(()))
        })?;
        let lost: u64 = receivers.iter().map(Receiver::lost).sum();
        if lost > 0 { Err(format!("{lost} samples were lost, though all fit in the history").into()) } else { Ok(()) }
    }
}

#[cold]
fn wrong_side() -> crate::Error {
    "the publisher measures and the subscriptions answer, not the other way round".into()
}
