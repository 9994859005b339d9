//! The board of the recovery experiment. It publishes numbers at a fixed rate, and stores the events that its client
//! reports.

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

/// The time between two publications.
pub const PERIOD_US: u32 = 20_000;
/// The longest sleep before the board checks its `Orders` again.
const PATIENCE: Duration = Duration::from_millis(5);

/// The commands to the board.
#[derive(Debug, Default)]
pub struct Orders {
    /// True if the board publishes nothing more, but runs until all messages are acknowledged.
    pub is_quiet: AtomicBool,
    /// True if the board stops at once and sends nothing more to the agent, as if it were reset.
    pub is_done: AtomicBool,
}

/// The counts and times of the board.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The numbers that the client accepted, each with the time of its publication, ns.
    pub published_ns: Vec<(i64, i64)>,
    /// The number of publications that failed because there was no connection; `full` is the number that failed because
    /// the history was full.
    pub not_connected: u64,
    pub full: u64,
    /// The numbers of the messages that count as forgotten. If the client reports that it has forgotten n messages,
    /// these are the last n messages; if the board is reset, they are the messages in its memory.
    pub forgotten: BTreeSet<i64>,
    /// The events that the client has reported.
    pub events: Vec<Note>,
}

/// Runs a board until [`Orders::is_done`]. The first message is the number `first`.
///
/// # Errors
/// An error of the board's line.
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
            continue; // spins, which sends the message
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

    /// Counts the last `count` messages as forgotten.
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
