//! The board of the latency experiment: it publishes its time, as the agent has it, and takes it back.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use gantry_micro::{ClientKey, EntityState, Event, Instant, Memory, Node, Publisher, Qos, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::{now_ns, real_now_ns};

use super::{Exchanges, exchange::Sent};
use crate::micro::{
    line::{Faults, Way},
    rig::{BOARD, BoardClient, BoardClock, BoardLine, wait},
};

/// The longest sleep without a look at the orders.
const PATIENCE: Duration = Duration::from_millis(5);
/// The longest wait for an answer: reliable streams recover within less, so the agent or the host is gone.
const ANSWER_TIMEOUT_US: u32 = 10_000_000;
/// Exchanges of the clock before the first one of numbers.
const CLOCK_EXCHANGES: u32 = 8;
/// The time between two of them, and between two later ones.
const CLOCK_PERIOD_US: [u32; 2] = [20_000, 1_000_000];

/// What the board is to do.
#[derive(Debug)]
pub struct Plan {
    pub exchanges: Exchanges,
    pub faults: Faults,
    pub domain_id: u16,
    /// The topics to the host and back.
    pub topics: [String; 2],
    pub is_cancelled: AtomicBool,
}

impl Plan {
    /// Loses a frame of this exchange, if it is its turn.
    fn lose(&self, index: usize) {
        let Some(each) = self.exchanges.loses_each else { return };
        if index % each == each - 1 {
            self.faults.lose_next(if index / each % 2 == 0 { Way::FromBoard } else { Way::ToBoard });
        }
    }
}

struct Board<'a> {
    client: BoardClient<'a>,
    clock: BoardClock,
    publisher: &'a Publisher<'a, Int64>,
    subscription: &'a Subscription<'a, Int64, 4, 8>,
    /// Estimates of the agent's clock that came.
    estimates: u32,
    synchronise_at: Instant,
}

/// Runs a board until it has made all exchanges.
///
/// # Errors
/// Those of its line, an answer that does not come, and the end by the user.
pub fn run<const MTU: usize>(line: BoardLine, plan: &Plan) -> io::Result<Vec<Sent>> {
    let mut memory = Memory::<MTU, 4>::new();
    let (publisher, subscription) = (Publisher::new(), Subscription::new());
    let node = Node { name: BOARD, domain_id: plan.domain_id, key: ClientKey(*b"perf") };
    let mut client = BoardClient::new(line, &mut memory, node);
    let [there, back] = &plan.topics;
    client.create_publisher(&publisher, there, Qos::DEFAULT).map_err(io::Error::other)?;
    client.create_subscription(&subscription, back, Qos::DEFAULT).map_err(io::Error::other)?;
    let clock = BoardClock::start();
    let synchronise_at = clock.now();
    let mut board =
        Board { client, clock, publisher: &publisher, subscription: &subscription, estimates: 0, synchronise_at };
    board.get_ready(plan)?;
    let mut sent = Vec::with_capacity(plan.exchanges.number as usize);
    let mut due = board.clock.now();
    for index in 0..plan.exchanges.number as usize {
        board.sleep_until(due, plan)?;
        plan.lose(index);
        sent.push(board.exchange(plan)?);
        due = due.after_us(plan.exchanges.period_ms * 1000).max(board.clock.now());
    }
    board.client.close(board.clock.now());
    board.client.spin_once(board.clock.now(), |_| {})?;
    Ok(sent)
}

impl Board<'_> {
    /// Connects, and synchronises the clock.
    fn get_ready(&mut self, plan: &Plan) -> io::Result<()> {
        let deadline = self.clock.now().after_us(ANSWER_TIMEOUT_US);
        loop {
            self.spin(plan)?;
            let states = [self.publisher.state(), self.subscription.state()];
            if let Some(EntityState::Refused(status)) =
                states.iter().find(|state| matches!(state, EntityState::Refused(_)))
            {
                return Err(io::Error::other(format!("the agent refuses the board's topics: {status:?}")));
            }
            if states == [EntityState::Ready; 2] && self.estimates >= CLOCK_EXCHANGES {
                return Ok(());
            }
            if self.clock.now() > deadline {
                return Err(io::Error::other("the agent has not answered within 10 s"));
            }
        }
    }

    fn sleep_until(&mut self, due: Instant, plan: &Plan) -> io::Result<()> {
        while self.clock.now() < due {
            self.spin(plan)?;
        }
        Ok(())
    }

    /// Publishes the agent's time, and waits for its return.
    fn exchange(&mut self, plan: &Plan) -> io::Result<Sent> {
        let (real_ns, sent_ns, now) = (real_now_ns(), now_ns(), self.clock.now());
        let stamp = self.client.time(now).unwrap_or_default().as_ns();
        self.publisher.publish(&mut self.client, &Int64 { data: stamp }).map_err(io::Error::other)?;
        let deadline = now.after_us(ANSWER_TIMEOUT_US);
        while self.clock.now() < deadline {
            self.client.spin_once(self.clock.now(), |_| {})?;
            let answer = self.subscription.take().map_err(io::Error::other)?;
            if answer.is_some_and(|answer| answer.data == stamp) {
                return Ok(Sent { stamp_ns: stamp, real_ns, sent_ns, returned_ns: now_ns() });
            }
            self.check(plan)?;
            wait(&mut self.client, self.clock, PATIENCE)?;
        }
        Err(io::Error::other("no answer came within 10 s"))
    }

    /// Spins once, and then waits until there is something to do.
    fn spin(&mut self, plan: &Plan) -> io::Result<()> {
        let now = self.clock.now();
        if now >= self.synchronise_at && self.client.is_connected() {
            self.client.synchronise();
            let [first, later] = CLOCK_PERIOD_US;
            self.synchronise_at = now.after_us(if self.estimates < CLOCK_EXCHANGES { first } else { later });
        }
        let estimates = &mut self.estimates;
        self.client.spin_once(now, |event| *estimates += u32::from(matches!(event, Event::Clock(_))))?;
        self.check(plan)?;
        wait(&mut self.client, self.clock, Duration::from_millis(1))
    }

    fn check(&self, plan: &Plan) -> io::Result<()> {
        if plan.is_cancelled.load(Ordering::Relaxed) { Err(io::Error::other("ended early")) } else { Ok(()) }
    }
}
