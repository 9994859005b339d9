//! Samples that are held for a while, and the thread that releases them at any time and in any order.
//!
//! The thread lives as long as the worker, so its samples outlive subscriptions and participants.

use crate::{Result, beat::Beat, counts::count_longest_hold, message};
use fastrand::Rng;
use gantry_shm::{Loan, Sample, SampleInfo};
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

/// The largest number of objects that the holder thread has at one time. Players hold further objects themselves.
const MOST: usize = 48;
/// The time between two releases.
const PERIOD: Duration = Duration::from_millis(10);

/// A sample that was checked when it was taken, and is checked again when it is released.
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

    /// Checks that the sample did not change, and releases it.
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

/// An object that a player passes to the holder thread, which releases it.
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

/// Releases the objects that players pass to this thread, until no player is left.
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
