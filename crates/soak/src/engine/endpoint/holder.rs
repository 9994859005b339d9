//! A thread that holds samples for a while, and releases them at random times and in random order.
//!
//! The thread lives as long as the worker process, so its samples outlive their subscriptions and participants.

use crate::{
    accounts::{beat::Beat, counts::count_longest_hold},
    outcome::Result,
    samples::message,
};
use fastrand::Rng;
use gantry_shm::{Loan, Sample, SampleInfo};
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

/// The largest number of objects that this thread holds. Players hold further objects themselves.
const MOST: usize = 48;
/// The time between two releases.
const PERIOD: Duration = Duration::from_millis(10);

/// A sample that is held. It was checked after the take, and is checked again before its release.
pub struct Held {
    sample: Sample,
    info: SampleInfo,
    since: Instant,
}

impl Held {
    pub fn new(sample: Sample) -> Held {
        let info = sample.info();
        Held { sample, info, since: Instant::now() }
    }

    /// Checks that the sample has not changed, and releases it.
    pub fn release(self) -> Result<()> {
        let Held { sample, info, since } = self;
        let (gid, sequence, held_ms) = (info.publisher_gid, info.sequence, since.elapsed().as_millis() as u64);
        let changed = |why: &str| {
            Err(format!("sample {sequence} of {gid:02x?} changed while it was held for {held_ms} ms: {why}"))
        };
        if sample.info() != info {
            return changed(&format!("its information is {:?} and was {info:?}", sample.info()));
        }
        if let Err(why) = message::check(sample.bytes(), gid, sequence) {
            return changed(&why);
        }
        count_longest_hold(held_ms);
        Ok(())
    }
}

/// An object that a player passes to this thread.
pub enum HeldItem {
    Sample(Held),
    Loan(Loan),
}

impl HeldItem {
    fn release(self) -> Result<()> {
        match self {
            HeldItem::Sample(held) => held.release(),
            HeldItem::Loan(loan) => {
                drop(loan);
                Ok(())
            }
        }
    }
}

/// Holds and releases the objects that players send, until all senders are dropped.
pub fn run(things: &Receiver<HeldItem>, mut rng: Rng, beat: &Beat) -> Result<()> {
    let mut held = Vec::new();
    loop {
        beat.at("holding");
        match things.recv_timeout(PERIOD) {
            Ok(thing) => held.push(thing),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return held.into_iter().try_for_each(HeldItem::release),
        }
        while held.len() > MOST || !held.is_empty() && rng.u32(..16) == 0 {
            held.swap_remove(rng.usize(..held.len())).release()?;
        }
    }
}
