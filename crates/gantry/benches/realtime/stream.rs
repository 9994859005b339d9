//! Messages back to back: the cost of a message if the next one is always available. The reader polls.
//!
//! *Alone*: one thread sends and takes in turn, so no cache line moves between cores.
//!
//! *One at a time*: one thread sends, and another thread takes. A sample is the time of one message from sender to
//! reader. The next message is sent a random time after the last one was taken. Without the random time, sender and
//! reader would be synchronised, and all polls of a turn would see their messages either early or late.
//!
//! *Stream*: both threads run at full speed, with at most [`DEPTH`] messages between them.

use crate::{
    Result,
    cpus::Cpus,
    queue::{Receives, Sends},
    stamp,
};
use std::{
    hint::spin_loop,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// The depth of the history, and the largest number of messages under way.
pub const DEPTH: usize = 64;
/// The number of messages of a turn that are not measured: they fault in pages and allocate slots.
const WARM_UP: u64 = 5_000;
/// The number of messages of a turn that are measured.
const MESSAGES: u64 = 20_000;
/// The number of messages that are timed together as one sample, if single messages cannot be timed. The number is
/// small, so that a pause by the scheduler spoils only few samples of a turn.
pub const BLOCK: u64 = 500;
/// The value of [`Progress`] that a thread stores when it fails.
const FAILED: u64 = u64::MAX;

/// The progress of the reader, on cache lines of its own.
#[repr(align(128))]
struct Progress(AtomicU64);

/// Measures messages that one thread sends and takes: returns the ticks of each [`BLOCK`] of messages.
pub fn alone(mut sender: impl Sends, mut receiver: impl Receives) -> Result<Vec<u64>> {
    let mut blocks = Blocks::new();
    for number in 1..=WARM_UP + MESSAGES {
        sender.send(number, blocks.start)?;
        expect(number, receiver.take()?.ok_or("a message that was sent cannot be taken")?)?;
        blocks.count(number);
    }
    Ok(blocks.samples)
}

/// Measures only the sending: returns the ticks of each batch of [`DEPTH`] messages.
pub fn sending(mut sender: impl Sends, mut receiver: impl Receives) -> Result<Vec<u64>> {
    let (mut number, mut samples) = (0, Vec::new());
    for batch in 0..(WARM_UP + MESSAGES) / DEPTH as u64 {
        let start = stamp::now();
        for _ in 0..DEPTH {
            number += 1;
            sender.send(number, start)?;
        }
        let end = stamp::now();
        for _ in 0..DEPTH {
            receiver.take()?.ok_or("a message that was sent cannot be taken")?;
        }
        if batch >= WARM_UP / DEPTH as u64 {
            samples.push(end - start);
        }
    }
    Ok(samples)
}

/// Measures single messages: returns for each message the ticks from before it is written until after it is read.
pub fn one_at_a_time(sender: impl Sends, receiver: impl Receives, cpus: &Cpus) -> Result<Vec<u64>> {
    let mut samples = Vec::with_capacity(MESSAGES as usize);
    between(sender, receiver, cpus, 1, |number, sent| {
        if number > WARM_UP {
            samples.push(stamp::now().saturating_sub(sent));
        }
    })?;
    Ok(samples)
}

/// Measures a stream: returns the ticks of each [`BLOCK`] of messages, with up to [`DEPTH`] messages under way.
pub fn stream(sender: impl Sends, receiver: impl Receives, cpus: &Cpus) -> Result<Vec<u64>> {
    let mut blocks = Blocks::new();
    between(sender, receiver, cpus, DEPTH as u64, |number, _| blocks.count(number))?;
    Ok(blocks.samples)
}

/// The times of the blocks of messages after the warm-up of a turn.
struct Blocks {
    /// The start time of the block.
    start: u64,
    samples: Vec<u64>,
}

impl Blocks {
    fn new() -> Blocks {
        Blocks { start: 0, samples: Vec::with_capacity((MESSAGES / BLOCK) as usize) }
    }

    /// Records that message `number` was taken.
    #[inline(always)]
    fn count(&mut self, number: u64) {
        if number >= WARM_UP && number.is_multiple_of(BLOCK) {
            let now = stamp::now();
            if number > WARM_UP {
                self.samples.push(now - self.start);
            }
            self.start = now;
        }
    }
}

/// Sends messages from thread to thread, with at most `window` messages under way. Calls `taken` for each message, with
/// its time of sending.
fn between(
    mut sender: impl Sends,
    receiver: impl Receives,
    cpus: &Cpus,
    window: u64,
    taken: impl FnMut(u64, u64) + Send,
) -> Result<()> {
    let (progress, start) = (&Progress(AtomicU64::new(0)), &Barrier::new(2));
    let second = cpus.second.unwrap_or(cpus.first);
    std::thread::scope(|scope| {
        // The receiver is moved to its thread, so that words that the two sides write do not share a cache line.
        let reader = scope.spawn(move || {
            let pinned = Cpus::pin(&[second]);
            start.wait();
            let outcome = pinned.and_then(|()| take_all(receiver, progress, window, taken));
            if outcome.is_err() {
                progress.0.store(FAILED, Release);
            }
            outcome
        });
        start.wait();
        let sent = send_all(&mut sender, progress, window);
        if sent.is_err() {
            progress.0.store(FAILED, Release);
        }
        reader.join().map_err(|_| "the reader panicked")?.and(sent)
    })
}

fn send_all(sender: &mut impl Sends, progress: &Progress, window: u64) -> Result<()> {
    let (mut acknowledged, mut random) = (0, 1_u64);
    for number in 1..=WARM_UP + MESSAGES {
        while number - acknowledged > window {
            acknowledged = progress.0.load(Acquire);
            if acknowledged == FAILED {
                return Ok(()); // the reader returns the error
            }
            spin_loop();
        }
        if window == 1 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::hint::black_box((0..random >> 55).fold(0, |sum, step| std::hint::black_box(sum ^ step)));
        }
        sender.send(number, stamp::now())?;
    }
    Ok(())
}

fn take_all(
    mut receiver: impl Receives,
    progress: &Progress,
    window: u64,
    mut taken: impl FnMut(u64, u64),
) -> Result<()> {
    // The progress is stored rarely, because each store moves its cache line to the sender's core and back.
    let every = (window / 2).max(1);
    for number in 1..=WARM_UP + MESSAGES {
        let found = loop {
            if let Some(found) = receiver.take()? {
                break found;
            }
            if progress.0.load(Relaxed) == FAILED {
                return Ok(()); // the sender returns the error
            }
            spin_loop();
        };
        taken(number, found.1);
        expect(number, found)?;
        if number.is_multiple_of(every) {
            progress.0.store(number, Release);
        }
    }
    Ok(())
}

#[inline(always)]
fn expect(number: u64, found: (u64, u64)) -> Result<()> {
    if found.0 == number { Ok(()) } else { Err(format!("message {} came instead of {number}", found.0).into()) }
}
