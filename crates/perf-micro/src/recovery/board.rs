//! The board of the recovery experiment: it publishes numbers at a fixed rate, and writes down the client's reports.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gantry_micro::{Event, PublishError, Publisher, Qos};
use gantry_msgs::std_msgs::msg::Int64;
use perf_worker::clock::now_ns;

use super::note::Note;
use crate::rig::{Board, BoardLine, BoardMemory};

/// The time between two numbers.
pub const PERIOD_US: u32 = 20_000;
/// The longest sleep without a look at the orders.
const PATIENCE: Duration = Duration::from_millis(5);

/// The orders to the board.
#[derive(Debug, Default)]
pub struct Orders {
    /// It publishes nothing more, and goes on until all is acknowledged.
    pub is_quiet: AtomicBool,
    /// It ends at once, without a word to the agent.
    pub is_done: AtomicBool,
}

/// The counts and times of the board at the end.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The times at which each number that the client took was published, ns.
    pub published_ns: Vec<(i64, i64)>,
    /// The number of failed publications, by reason: no connection, or no room in the history.
    pub not_connected: u64,
    pub full: u64,
    /// The numbers of messages that count as forgotten: as many of the last ones as the client reported as forgotten,
    /// and the last ones in the memory of a board that was reset.
    pub forgotten: BTreeSet<i64>,
    /// The client's reports.
    pub events: Vec<Note>,
}

/// Runs a board from the number `first` on, until it is done.
///
/// # Errors
/// An error of its line.
pub fn run(
    line: BoardLine,
    domain_id: u16,
    topic: &str,
    first: i64,
    orders: &Orders,
    account: &Mutex<Account>,
) -> io::Result<()> {
    let (mut memory, publisher) = (BoardMemory::default(), Publisher::<Int64>::new());
    let mut board = Board::start(line, &mut memory, domain_id);
    board.client.create_publisher(&publisher, topic, Qos::DEFAULT).map_err(io::Error::other)?;
    let (mut number, mut due) = (first, board.now());
    let account = || account.lock().unwrap_or_else(PoisonError::into_inner);
    while !orders.is_done.load(Ordering::Relaxed) {
        board.spin(|event| account().note(&event))?;
        if board.now() >= due && !orders.is_quiet.load(Ordering::Relaxed) {
            due = due.after_us(PERIOD_US).max(board.now());
            let published = publisher.publish(&mut board.client, &Int64 { data: number });
            account().count(number, published)?;
            number += 1;
            continue; // sends it
        }
        let left_us = due.as_us().saturating_sub(board.now().as_us());
        board.wait(PATIENCE.min(Duration::from_micros(left_us)))?;
    }
    Ok(())
}

impl Account {
    fn count(&mut self, number: i64, published: Result<(), PublishError>) -> io::Result<()> {
        match published {
            Ok(()) => self.published_ns.push((number, now_ns())),
            Err(PublishError::NotConnected) => self.not_connected += 1,
            Err(PublishError::Full { .. }) => self.full += 1,
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }

    /// The last messages are forgotten.
    pub fn forget(&mut self, count: usize) {
        let last = self.published_ns.iter().rev().take(count).map(|(number, _)| *number);
        self.forgotten.extend(last);
    }

    fn note(&mut self, event: &Event<'_>) {
        let what = match event {
            Event::Connected => "connected".to_owned(),
            Event::Disconnected { reason, forgotten } => {
                self.forget((*forgotten).into());
                format!("disconnected ({reason:?}), {forgotten} messages forgotten")
            }
            Event::Created { .. } => "publisher created".to_owned(),
            Event::Clock(_) => return,
            other => format!("{other:?}"),
        };
        self.events.push(Note::now("board", what));
    }
}
