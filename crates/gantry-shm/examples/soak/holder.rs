//! Samples that are held for a while, and the thread that lets them go at any time and in any order.
//!
//! The thread lives as long as the worker, so what it holds outlives subscriptions and participants.

use crate::{Result, beat::Beat, counts::count_longest_hold, message};
use fastrand::Rng;
use gantry_shm::{Loan, Sample, SampleInfo};
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

/// The holder thread keeps no more than this; players hold some, too.
const MOST: usize = 48;
/// How often the thread lets something go.
const PERIOD: Duration = Duration::from_millis(10);

/// A sample that was checked when it was taken, and will be when it is let go.
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

    /// Checks that it did not change, and drops it.
    pub fn release(self) -> Result<()> {
        let Held { sample, info, since } = self;
        let (gid, sequence, held_ms) = (info.publisher_gid, info.sequence, since.elapsed().as_millis() as u64);
        let changed = |why: &str| {
            Err(format!("sample {sequence} of {gid:02x?} changed while it was held for {held_ms} ms: {why}"))
        };
        if sample.info() != info {
            return changed(&format!("it says {:?} and said {info:?}", sample.info()));
        }
        if let Err(why) = message::check(sample.bytes(), gid, sequence) {
            return changed(&why);
        }
        count_longest_hold(held_ms);
        Ok(())
    }
}

/// What players give away to be let go by another thread.
pub enum Thing {
    Sample(Held),
    Loan(Loan),
}

impl Thing {
    fn release(self) -> Result<()> {
        match self {
            Thing::Sample(held) => held.release(),
            Thing::Loan(loan) => {
                drop(loan);
                Ok(())
            }
        }
    }
}

/// Lets things go until nobody gives any more.
pub fn run(things: &Receiver<Thing>, mut rng: Rng, beat: &Beat) -> Result<()> {
    let mut held = Vec::new();
    loop {
        beat.at("holding");
        match things.recv_timeout(PERIOD) {
            Ok(thing) => held.push(thing),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return held.into_iter().try_for_each(Thing::release),
        }
        while held.len() > MOST || !held.is_empty() && rng.u32(..16) == 0 {
            held.swap_remove(rng.usize(..held.len())).release()?;
        }
    }
}
