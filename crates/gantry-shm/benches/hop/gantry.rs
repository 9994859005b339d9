//! The contestant Gantry, with messages written and read in place: the only file of this benchmark that uses
//! Gantry's API.
//!
//! `fan_out` uses `Sender` and `Receiver`; ping-pongs use the pair `Gantry`. A contestant that blocks sleeps in
//! `Subscription::wait`. The wait spins before the sleep only if this process could use two CPUs when the contestant
//! was created.

use crate::{
    Result,
    contestant::{PATIENCE, Pair, Side, poll, silence},
    payload::Payload,
    root::Root,
};
use gantry_shm::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
use std::{sync::Arc, time::Instant};
use zerocopy::FromBytes;

/// The domain id. Any id is free, because the benchmark has its own directory of shared memory.
const DOMAIN: u32 = 0;
const NODE: &str = "hop";

/// A publisher.
pub struct Sender {
    publisher: Publisher,
    /// The publication time of all messages. It is constant, because this benchmark does not measure the reading of a
    /// clock.
    time: SourceTime,
    payload: Payload,
}

impl Sender {
    /// Creates a publisher on `topic`, which keeps `depth` samples.
    pub fn new(root: &Root, topic: &str, payload: Payload, depth: u32) -> Result<Sender> {
        let options = PublisherOptions::default();
        let publisher = Publisher::new(join(root)?, NODE, topic, message_type(payload), qos(depth), options)?;
        Ok(Sender { publisher, time: SourceTime::now(), payload })
    }

    /// Waits until `readers` subscriptions are matched.
    pub fn meet(&mut self, readers: usize) -> Result<()> {
        if self.publisher.wait_for_subscriptions(readers, PATIENCE)? {
            return Ok(());
        }
        let (count, why) = (self.publisher.subscription_count()?, self.publisher.mismatches()?.join("; "));
        Err(format!("{count} of {readers} Gantry subscriptions were matched in time {why}").into())
    }

    /// Loans memory, writes the payload and publishes it.
    #[inline(always)]
    pub fn publish(&mut self, value: u64) -> Result<()> {
        let mut loan = self.publisher.loan(self.payload.bytes)?;
        let words = <[u64]>::mut_from_bytes(loan.bytes_mut()).map_err(|_| misaligned())?;
        self.payload.write(|word| words[word] = value);
        self.publisher.publish(loan, self.time)?;
        Ok(())
    }
}

/// A subscription.
pub struct Receiver {
    subscription: Subscription,
    payload: Payload,
}

impl Receiver {
    /// Creates a subscription on `topic`.
    pub fn new(root: &Root, topic: &str, payload: Payload, depth: u32) -> Result<Receiver> {
        let subscription = Subscription::new(join(root)?, NODE, topic, message_type(payload), qos(depth))?;
        Ok(Receiver { subscription, payload })
    }

    /// Waits until a publisher is matched.
    pub fn meet(&mut self) -> Result<()> {
        let since = Instant::now();
        while self.subscription.publisher_count()? == 0 {
            if since.elapsed() > PATIENCE {
                let why = self.subscription.mismatches().join("; ");
                return Err(format!("no Gantry publisher was matched in time {why}").into());
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Takes, reads and drops the next sample; `None` if there is none.
    #[inline(always)]
    pub fn take(&mut self) -> Result<Option<u64>> {
        let Some(sample) = self.subscription.take()? else { return Ok(None) };
        let words = <[u64]>::ref_from_bytes(sample.bytes()).map_err(|_| misaligned())?;
        Ok(Some(self.payload.read(|word| words[word])))
    }

    /// Sleeps until there is a sample to take.
    #[inline(always)]
    fn wait(&mut self) -> Result<()> {
        if self.subscription.wait(PATIENCE)? { Ok(()) } else { Err(silence()) }
    }

    /// The number of samples that the receiver missed.
    pub fn lost(&self) -> u64 {
        let losses = self.subscription.losses();
        losses.overwritten + losses.before_matched
    }
}

/// One side of a ping-pong.
pub struct Gantry {
    sender: Sender,
    receiver: Receiver,
    blocks: bool,
}

impl Gantry {
    /// Creates a publisher and a subscription on two topics whose names begin with `name`.
    pub fn new(root: &Root, name: &str, side: Side, payload: Payload, blocks: bool) -> Result<Gantry> {
        const DEPTH: u32 = 8;
        let (ping, pong) = (format!("/{name}/ping"), format!("/{name}/pong"));
        let (outgoing, incoming) = if side == Side::Ping { (ping, pong) } else { (pong, ping) };
        let sender = Sender::new(root, &outgoing, payload, DEPTH)?;
        let receiver = Receiver::new(root, &incoming, payload, DEPTH)?;
        Ok(Gantry { sender, receiver, blocks })
    }
}

impl Pair for Gantry {
    fn meet(&mut self) -> Result<()> {
        self.sender.meet(1)?;
        self.receiver.meet()
    }

    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        self.sender.publish(value)
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        if !self.blocks {
            return poll(|| self.receiver.take());
        }
        loop {
            self.receiver.wait()?;
            if let Some(value) = self.receiver.take()? {
                return Ok(value);
            }
        }
    }
}

fn join(root: &Root) -> Result<Arc<Participant>> {
    Ok(Participant::join_under(root.path(), DOMAIN)?)
}

fn qos(depth: u32) -> Qos {
    Qos::default().reliable().volatile().keep_last(depth)
}

fn message_type(payload: Payload) -> TypeDescription {
    let payload_bytes = payload.bytes;
    TypeDescription {
        name: format!("hop/msg/Bytes{payload_bytes}"),
        hash: [0; 32],
        definition: "".into(),
        payload_bytes,
    }
}

#[cold]
fn misaligned() -> String {
    "a Gantry payload is not made of aligned 64-bit words".to_owned()
}
