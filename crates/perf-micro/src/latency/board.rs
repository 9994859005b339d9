//! The board of the latency experiment: it publishes its time, as the agent has it, and takes it back.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use gantry_micro::{EntityState, Instant, Memory, Publisher, Qos, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::{now_ns, real_now_ns};

use super::{Exchanges, exchange::Sent};
use crate::{
    line::{Faults, Way},
    rig::{BoardClient, BoardClock, BoardLine, board_node, wait},
};

/// The longest sleep without a look at the orders.
const PATIENCE: Duration = Duration::from_millis(5);
/// The longest wait for an answer: reliable streams recover within less, so the agent or the host is gone.
const ANSWER_TIMEOUT_US: u32 = 10_000_000;
/// Exchanges of the clock before the first one of numbers.
const CLOCK_EXCHANGES: u32 = 8;
/// The time for one of them: several round trips of the slowest line.
const CLOCK_EXCHANGE_US: u32 = 30_000;
/// The time between two later ones.
const CLOCK_PERIOD_US: u32 = 1_000_000;

/// The exchanges that the board makes, and their conditions.
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
            self.faults.lose_next(if (index / each).is_multiple_of(2) { Way::FromBoard } else { Way::ToBoard });
        }
    }
}

struct Board<'a> {
    client: BoardClient<'a>,
    clock: BoardClock,
    publisher: &'a Publisher<'a, Int64>,
    subscription: &'a Subscription<'a, Int64, 4, 8>,
}

/// Runs a board until it has made all exchanges. Returns the exchanges that it made, and an error if they are not all:
/// an error of its line, an answer that does not come, or the end by the user.
pub fn run<const MTU: usize>(line: BoardLine, plan: &Plan) -> (Vec<Sent>, io::Result<()>) {
    let mut sent = Vec::with_capacity(plan.exchanges.number as usize);
    let ended = make::<MTU>(line, plan, &mut sent);
    (sent, ended)
}

fn make<const MTU: usize>(line: BoardLine, plan: &Plan, sent: &mut Vec<Sent>) -> io::Result<()> {
    let mut memory = Memory::<MTU, 4>::new();
    let (publisher, subscription) = (Publisher::new(), Subscription::new());
    let mut client = BoardClient::new(line, &mut memory, board_node(plan.domain_id));
    let [there, back] = &plan.topics;
    client.create_publisher(&publisher, there, Qos::DEFAULT).map_err(io::Error::other)?;
    client.create_subscription(&subscription, back, Qos::DEFAULT).map_err(io::Error::other)?;
    let mut board = Board { client, clock: BoardClock::start(), publisher: &publisher, subscription: &subscription };
    board.get_ready(plan)?;
    let (mut due, mut synchronise_at) = (board.clock.now(), board.clock.now());
    for index in 0..plan.exchanges.number as usize {
        // Between two exchanges, so that the line is idle again when the next one begins.
        if board.clock.now() >= synchronise_at {
            let exchanges = if index == 0 { CLOCK_EXCHANGES } else { 1 };
            (0..exchanges).try_for_each(|_| board.synchronise(plan))?;
            synchronise_at = board.clock.now().after_us(CLOCK_PERIOD_US);
        }
        board.spin_until(due, plan)?;
        plan.lose(index);
        sent.push(board.exchange(plan)?);
        due = due.after_us(plan.exchanges.period_ms * 1000).max(board.clock.now());
    }
    board.client.close(board.clock.now());
    board.client.spin_once(board.clock.now(), |_| {})
}

impl Board<'_> {
    /// Connects.
    fn get_ready(&mut self, plan: &Plan) -> io::Result<()> {
        let deadline = self.clock.now().after_us(ANSWER_TIMEOUT_US);
        while self.clock.now() < deadline {
            self.spin(plan)?;
            let states = [self.publisher.state(), self.subscription.state()];
            let is_refused = |state: &&EntityState| matches!(state, EntityState::Refused(_));
            if let Some(EntityState::Refused(status)) = states.iter().find(is_refused) {
                return Err(io::Error::other(format!("the agent refuses the board's topics: {status:?}")));
            }
            if states == [EntityState::Ready; 2] {
                return Ok(());
            }
        }
        Err(io::Error::other("the agent has not answered within 10 s"))
    }

    /// Asks for the agent's time, and leaves the line alone until the reply is there.
    fn synchronise(&mut self, plan: &Plan) -> io::Result<()> {
        self.client.synchronise();
        self.spin_until(self.clock.now().after_us(CLOCK_EXCHANGE_US), plan)
    }

    fn spin_until(&mut self, due: Instant, plan: &Plan) -> io::Result<()> {
        while self.clock.now() < due {
            self.spin(plan)?;
        }
        Ok(())
    }

    /// Publishes the agent's time, and waits for its return.
    fn exchange(&mut self, plan: &Plan) -> io::Result<Sent> {
        let (real_ns, sent_ns, now) = (real_now_ns(), now_ns(), self.clock.now());
        let clock =
            self.client.time(now).ok_or_else(|| io::Error::other("the session ended, and the agent's time with it"))?;
        let stamp = clock.as_ns();
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
        self.client.spin_once(self.clock.now(), |_| {})?;
        self.check(plan)?;
        wait(&mut self.client, self.clock, Duration::from_millis(1))
    }

    fn check(&self, plan: &Plan) -> io::Result<()> {
        if plan.is_cancelled.load(Ordering::Relaxed) { Err(io::Error::other("ended early")) } else { Ok(()) }
    }
}
