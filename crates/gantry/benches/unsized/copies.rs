//! The cost of the copy path for 4 MB: a copy into a slot, a wake-up of the reader, and a copy out of the slot. For
//! comparison, it measures the least cost of these three steps without Gantry.
//!
//! The sender copies its message into a slot (`publish_copy`). The reader sleeps in the kernel, is woken, and copies
//! the message out (`take_copy_into`). The least cost is two copies between private buffers that stay in the caches,
//! and the wake-up of a parked thread on the other CPU.

use crate::{
    Result,
    cpus::Cpus,
    hop::{Hop, PATIENCE, Side, meet, silence, topics},
    message::{Array4m, CLOUD_BYTES},
    ticks,
    touch::Touch,
};
use gantry::{Message, Node, Publisher, Subscription};
use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering::*},
    thread,
};

/// The number of round trips at the start of a turn that are not measured, and the number that are measured after them.
const ROUND_TRIPS: (usize, usize) = (2, 12);

/// A ping-pong in which both sides copy the messages.
pub struct Copies {
    publisher: Publisher<Array4m>,
    subscription: Subscription<Array4m>,
    message: Box<Array4m>,
    copy: Box<Array4m>,
}

impl Copies {
    /// Makes one side of the ping-pong on this topic.
    pub fn new(node: &Node, topic: &str, side: Side) -> Result<Copies> {
        let (publisher, mut subscription) = topics(node, topic, side)?;
        subscription.set_busy_wait(false);
        let (mut message, copy) = (Array4m::new_box(), Array4m::new_box());
        Touch::Whole.write(&mut message.0, 1);
        Ok(Copies { publisher, subscription, message, copy })
    }

    fn send(&mut self, value: u8) -> Result<()> {
        Touch::Stamped.write(&mut self.message.0, value);
        self.publisher.publish_copy(&self.message)?;
        Ok(())
    }

    fn take(&mut self) -> Result<u8> {
        loop {
            if !self.subscription.wait(PATIENCE)? {
                return Err(silence());
            }
            if self.subscription.take_copy_into(&mut self.copy)?.is_some() {
                return Touch::Stamped.read(&self.copy.0).ok_or_else(|| "a copied message is damaged".into());
            }
        }
    }
}

impl Hop for Copies {
    fn meet(&mut self) -> Result<()> {
        meet(&mut self.publisher, &mut self.subscription)
    }

    fn measure(&mut self, _: Touch, samples: &mut Vec<u64>) -> Result<()> {
        for turn in 0..ROUND_TRIPS.0 + ROUND_TRIPS.1 {
            let start = ticks::now();
            self.send(turn as u8)?;
            if self.take()? != turn as u8 {
                return Err("the answer to a copied message is another one".into());
            }
            if turn >= ROUND_TRIPS.0 {
                samples.push(ticks::now() - start);
            }
        }
        Ok(())
    }

    fn answer(&mut self, _: Touch) -> Result<()> {
        for _ in 0..ROUND_TRIPS.0 + ROUND_TRIPS.1 {
            let value = self.take()?;
            self.send(value)?;
        }
        Ok(())
    }
}

/// Measures the least cost, by two threads of this process: two copies in the caches and a wake-up, in both directions.
pub fn least(cpus: &Cpus, samples: &mut Vec<u64>) -> Result<()> {
    let (turn, first) = (AtomicU64::new(0), thread::current());
    let sleep_until = |wanted: u64| {
        while turn.load(Acquire) != wanted {
            thread::park();
        }
    };
    let second_cpu = cpus.second.unwrap_or(cpus.first);
    thread::scope(|scope| {
        let (turn, sleep_until) = (&turn, &sleep_until);
        let other = scope.spawn(move || {
            let pinned = Cpus::pin(&[second_cpu]);
            let mut copies = Buffers::new();
            for round in 0..(ROUND_TRIPS.0 + ROUND_TRIPS.1) as u64 {
                sleep_until(2 * round + 1);
                copies.copy();
                copies.copy();
                turn.store(2 * round + 2, Release);
                first.unpark();
            }
            pinned
        });
        let mut copies = Buffers::new();
        for round in 0..ROUND_TRIPS.0 + ROUND_TRIPS.1 {
            let start = ticks::now();
            copies.copy();
            turn.store(2 * round as u64 + 1, Release);
            other.thread().unpark();
            sleep_until(2 * round as u64 + 2);
            copies.copy();
            if round >= ROUND_TRIPS.0 {
                samples.push(ticks::now() - start);
            }
        }
        other.join().map_err(|_| "the other thread panicked")?
    })
}

struct Buffers(Vec<u8>, Vec<u8>);

impl Buffers {
    fn new() -> Buffers {
        Buffers(vec![1; CLOUD_BYTES], vec![2; CLOUD_BYTES])
    }

    fn copy(&mut self) {
        black_box(&mut self.1).copy_from_slice(black_box(&self.0));
    }
}
