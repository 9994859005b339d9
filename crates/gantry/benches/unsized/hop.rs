//! A ping-pong of one message type between two processes. Messages are written and read in place.
//!
//! `row` is the measuring side, `play` the answering side. Samples are round trips, each of which begins when the
//! previous one ends. If the other side is silent for `PATIENCE`, the benchmark fails.

use crate::{
    Result,
    copies::Copies,
    cpus::Cpus,
    message::{Array4m, Array6m, Bulk},
    ticks,
    touch::Touch,
};
use gantry::{Message, Node, Publisher, Qos, Subscription};
use gantry_msgs::sensor_msgs::msg::{Image, PointCloud2};
use std::time::{Duration, Instant};

/// The time for which the other side may be silent.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The number of polls between two readings of the clock.
const LOOKS_PER_CLOCK: usize = 1 << 20;
/// The depth of the history. It is small, because the messages are large and both sides keep their own messages.
const DEPTH: u32 = 4;

/// The side of a ping-pong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// This side begins, and measures.
    Ping,
    /// This side answers.
    Pong,
}

/// One side of a ping-pong.
pub trait Hop {
    /// Waits until both sides are matched. Both sides call this method at the same time.
    fn meet(&mut self) -> Result<()>;
    /// Measures a turn, in ticks.
    fn measure(&mut self, touch: Touch, samples: &mut Vec<u64>) -> Result<()>;
    /// Answers a turn of the other side.
    fn answer(&mut self, touch: Touch) -> Result<()>;
}

/// Makes all ping-pongs, in the same order on both sides.
pub fn all(session: u32, side: Side, cpus: &Cpus) -> Result<[Box<dyn Hop>; 5]> {
    // All CPUs are made usable first, because publishers and subscriptions decide at their creation whether to
    // busy-wait.
    Cpus::pin(&cpus.all())?;
    let node = Node::new("unsized_bench")?;
    let name = |message: &str| format!("/unsized_bench_{session}/{message}");
    let polls = cpus.second.is_some();
    Ok([
        Box::new(PingPong::<Array6m>::new(&node, &name("array_6m"), side, polls)?),
        Box::new(PingPong::<Image>::new(&node, &name("image"), side, polls)?),
        Box::new(PingPong::<Array4m>::new(&node, &name("array_4m"), side, polls)?),
        Box::new(PingPong::<PointCloud2>::new(&node, &name("pointcloud2"), side, polls)?),
        Box::new(Copies::new(&node, &name("copies"), side)?),
    ])
}

/// The number of round trips at the start of a turn that are not measured, and the number that are measured after them.
fn round_trips(touch: Touch) -> (usize, usize) {
    match touch {
        Touch::Whole => (1, 9),
        Touch::Stamped => (100, 1000),
    }
}

struct PingPong<M: Bulk> {
    publisher: Publisher<M>,
    subscription: Subscription<M>,
    polls: bool,
}

impl<M: Bulk> PingPong<M> {
    fn new(node: &Node, topic: &str, side: Side, polls: bool) -> Result<PingPong<M>> {
        let (publisher, subscription) = topics(node, topic, side)?;
        Ok(PingPong { publisher, subscription, polls })
    }

    #[inline(always)]
    fn send(&mut self, touch: Touch, value: u8) -> Result<()> {
        let mut loan = M::loan(&mut self.publisher)?;
        touch.write(M::payload_mut(&mut loan), value);
        self.publisher.publish(loan).map_err(gantry::Error::from)?;
        Ok(())
    }

    /// Waits for the next message, and returns its value.
    #[inline(always)]
    fn take(&mut self, touch: Touch) -> Result<u8> {
        let since = Instant::now();
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if !self.polls {
                    self.subscription.wait(PATIENCE)?;
                }
                if let Some(sample) = self.subscription.take()? {
                    return touch.read(M::payload(&sample)).ok_or_else(|| damaged(M::TYPE_NAME));
                }
                std::hint::spin_loop();
            }
            if since.elapsed() > PATIENCE {
                return Err(silence());
            }
        }
    }
}

impl<M: Bulk> Hop for PingPong<M> {
    fn meet(&mut self) -> Result<()> {
        meet(&mut self.publisher, &mut self.subscription)
    }

    fn measure(&mut self, touch: Touch, samples: &mut Vec<u64>) -> Result<()> {
        let (warm_up, count) = round_trips(touch);
        let mut before = 0;
        for turn in 0..(warm_up + count) {
            let value = turn as u8;
            self.send(touch, value)?;
            let answer = self.take(touch)?;
            if answer != value {
                return Err(format!("the answer to message {value} has the value {answer}: a message was lost").into());
            }
            let now = ticks::now();
            if turn >= warm_up {
                samples.push(now - before);
            }
            before = now;
        }
        Ok(())
    }

    fn answer(&mut self, touch: Touch) -> Result<()> {
        let (warm_up, count) = round_trips(touch);
        for _ in 0..(warm_up + count) {
            let value = self.take(touch)?;
            self.send(touch, value)?;
        }
        Ok(())
    }
}

/// Makes the publisher on one topic of a ping-pong, and the subscription to the other topic.
pub fn topics<M: Message>(node: &Node, topic: &str, side: Side) -> Result<(Publisher<M>, Subscription<M>)> {
    let (ping, pong) = (format!("{topic}/ping"), format!("{topic}/pong"));
    let (outgoing, incoming) = if side == Side::Ping { (ping, pong) } else { (pong, ping) };
    let qos = Qos::default().reliable().volatile().keep_last(DEPTH);
    Ok((node.create_publisher(&outgoing, qos)?, node.create_subscription(&incoming, qos)?))
}

/// Waits until the publisher and the subscription are matched.
pub fn meet<M: Message>(publisher: &mut Publisher<M>, subscription: &mut Subscription<M>) -> Result<()> {
    if !publisher.wait_for_subscriptions(1, PATIENCE)? {
        return Err(format!("{} has no subscription: {}", M::TYPE_NAME, publisher.mismatches()?.join("; ")).into());
    }
    let since = Instant::now();
    while subscription.publisher_count()? == 0 {
        if since.elapsed() > PATIENCE {
            let why = subscription.mismatches().join("; ");
            return Err(format!("{} has no publisher: {why}", M::TYPE_NAME).into());
        }
        std::thread::yield_now();
    }
    Ok(())
}

#[cold]
pub fn silence() -> crate::Error {
    format!("the other process was silent for {} s; it may have ended or been stopped", PATIENCE.as_secs()).into()
}

#[cold]
fn damaged(type_name: &str) -> crate::Error {
    format!("a {type_name} arrived with a payload that was never written").into()
}
