//! The board of the latency experiment. It publishes numbers, each the agent's time by its synchronised clock, and
//! takes the numbers that the host sends back.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gantry_micro::{EntityState, Instant, Publisher, Qos, Subscription};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::{now_ns, real_now_ns};

use super::{Exchanges, exchange::Sent};
use crate::{
    line::{Direction, Faults},
    rig::{self, BoardLine, BoardMemory},
};

/// The longest sleep before the board checks again whether it is cancelled.
const PATIENCE: Duration = Duration::from_millis(5);
/// The longest wait for an answer. Reliable streams repair losses in less time, so a missing answer means that the
/// agent or the host has ended.
const ANSWER_TIMEOUT_US: u32 = 10_000_000;
/// The number of clock exchanges before the first exchange of numbers.
const CLOCK_EXCHANGES: u32 = 8;
/// The time for one clock exchange: several round trips of the slowest line.
const CLOCK_EXCHANGE_US: u32 = 30_000;
/// The time between two clock exchanges during the experiment.
const CLOCK_PERIOD_US: u32 = 1_000_000;

/// The exchanges of numbers that the board makes, and their conditions.
#[derive(Debug)]
pub struct Plan {
    pub exchanges: Exchanges,
    pub faults: Arc<Faults>,
    pub domain_id: u16,
    /// The names of the two topics: from the board to the host, and back.
    pub topics: [String; 2],
    pub is_cancelled: AtomicBool,
}

impl Plan {
    /// Makes the line lose a frame of the exchange `index` if the plan says so.
    fn lose(&self, index: usize) {
        let Some(each) = self.exchanges.loses_each else { return };
        if index % each == each - 1 {
            self.faults.lose_next(if (index / each).is_multiple_of(2) {
                Direction::FromBoard
            } else {
                Direction::ToBoard
            });
        }
    }
}

struct Exchanger<'a> {
    plan: &'a Plan,
    board: rig::Board<'a>,
    publisher: &'a Publisher<'a, Int64>,
    subscription: &'a Subscription<'a, Int64, 4, 8>,
}

/// Runs a board until it has made all exchanges. The board adds each exchange to `sent`.
///
/// # Errors
/// An error of the board's line, an answer that did not come in time, or an interrupt by the user.
pub fn run(line: BoardLine, plan: &Plan, sent: &mut Vec<Sent>) -> io::Result<()> {
    let mut memory = BoardMemory::default();
    let (publisher, subscription) = (Publisher::new(), Subscription::new());
    let mut board = rig::Board::start(line, &mut memory, plan.domain_id);
    let [there, back] = &plan.topics;
    board.client.create_publisher(&publisher, there, Qos::DEFAULT).map_err(io::Error::other)?;
    board.client.create_subscription(&subscription, back, Qos::DEFAULT).map_err(io::Error::other)?;
    let mut exchanger = Exchanger { plan, board, publisher: &publisher, subscription: &subscription };
    exchanger.get_ready()?;
    let (mut due, mut synchronise_at) = (exchanger.board.now(), exchanger.board.now());
    for index in 0..plan.exchanges.number as usize {
        // The clock is synchronised between two exchanges, so that the line is idle again when the next
        // exchange begins.
        if exchanger.board.now() >= synchronise_at {
            let exchanges = if index == 0 { CLOCK_EXCHANGES } else { 1 };
            (0..exchanges).try_for_each(|_| exchanger.synchronise())?;
            synchronise_at = exchanger.board.now().after_us(CLOCK_PERIOD_US);
        }
        exchanger.spin_until(due)?;
        plan.lose(index);
        sent.push(exchanger.exchange()?);
        due = due.after_us(plan.exchanges.period_ms * 1000).max(exchanger.board.now());
    }
    exchanger.board.close()
}

impl Exchanger<'_> {
    /// Waits until the agent has created the publisher and the subscription.
    fn get_ready(&mut self) -> io::Result<()> {
        let deadline = self.board.now().after_us(ANSWER_TIMEOUT_US);
        while self.board.now() < deadline {
            self.spin()?;
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

    /// Requests the agent's time, and sends nothing else while the reply is under way.
    fn synchronise(&mut self) -> io::Result<()> {
        self.board.client.synchronise();
        self.spin_until(self.board.now().after_us(CLOCK_EXCHANGE_US))
    }

    fn spin_until(&mut self, due: Instant) -> io::Result<()> {
        while self.board.now() < due {
            self.spin()?;
        }
        Ok(())
    }

    /// Publishes the agent's time (by the board's clock) as a number, and waits until the number comes back.
    fn exchange(&mut self) -> io::Result<Sent> {
        let (real_ns, sent_ns, now) = (real_now_ns(), now_ns(), self.board.now());
        let clock = self.board.client.time(now);
        let clock = clock.ok_or_else(|| io::Error::other("the session ended, and the agent's time with it"))?;
        let stamp = clock.as_ns();
        self.publisher.publish(&mut self.board.client, &Int64 { data: stamp }).map_err(io::Error::other)?;
        let deadline = now.after_us(ANSWER_TIMEOUT_US);
        while self.board.now() < deadline {
            self.board.spin(|_| {})?;
            let answer = self.subscription.take().map_err(io::Error::other)?;
            if answer.is_some_and(|answer| answer.data == stamp) {
                return Ok(Sent { stamp_ns: stamp, real_ns, sent_ns, returned_ns: now_ns() });
            }
            self.check()?;
            self.board.wait(PATIENCE)?;
        }
        Err(io::Error::other("no answer came within 10 s"))
    }

    /// Spins the client once, then waits until it has something to do.
    fn spin(&mut self) -> io::Result<()> {
        self.board.spin(|_| {})?;
        self.check()?;
        self.board.wait(Duration::from_millis(1))
    }

    fn check(&self) -> io::Result<()> {
        if self.plan.is_cancelled.load(Ordering::Relaxed) { Err(io::Error::other("ended early")) } else { Ok(()) }
    }
}
