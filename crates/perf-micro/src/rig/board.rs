//! The board: a thread with gantry-micro's client and its own clock.

use std::{io, num::NonZeroU32, os::fd::AsFd, thread::ScopedJoinHandle, time::Duration};

use gantry_micro::{Client, ClientKey, Event, Instant, Memory, Node};
use perf_worker::clock::now_ns;
use rustix::event::{PollFd, PollFlags};

use super::BoardLine;
use crate::line::wait_for;

/// The largest number of messages that the client of a board stores.
pub const HISTORY: usize = 4;

/// The memory of a board: `of_bus` for a CAN bus, which has shorter messages, and `of_line` for all other lines.
#[derive(Debug, Default)]
pub struct BoardMemory {
    of_bus: Memory<63, HISTORY>,
    of_line: Memory<512, HISTORY>,
}

/// A board with its client. The board's clock starts at 0 when the board starts, so it differs from the host's clock.
pub struct Board<'a> {
    /// The client.
    pub client: Client<'a, BoardLine>,
    origin_ns: i64,
}

impl<'a> Board<'a> {
    /// Starts a board now. Each start has a new random boot nonce.
    pub fn start(line: BoardLine, memory: &'a mut BoardMemory, domain_id: u16) -> Board<'a> {
        let boot_nonce = NonZeroU32::new(fastrand::u32(1..));
        let node = Node { name: "board", domain_id, key: ClientKey(*b"perf"), boot_nonce };
        let client = match line.is_bus() {
            true => Client::new(line, &mut memory.of_bus, node),
            false => Client::new(line, &mut memory.of_line, node),
        };
        Board { client, origin_ns: now_ns() }
    }

    /// The time of the board's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_us(((now_ns() - self.origin_ns) / 1000).unsigned_abs())
    }

    /// Sends and receives all messages that are ready.
    ///
    /// # Errors
    /// An error of the line.
    pub fn spin(&mut self, on_event: impl FnMut(Event<'_>)) -> io::Result<()> {
        let now = self.now();
        self.client.spin_once(now, on_event)
    }

    /// Waits until the client has something to do, at most for `patience`. In this place, firmware would sleep until an
    /// interrupt.
    ///
    /// # Errors
    /// An error of the line's descriptor.
    pub fn wait(&mut self, patience: Duration) -> io::Result<()> {
        let deadline_us = self.client.deadline().map_or(u64::MAX, Instant::as_us);
        let left_us = deadline_us.saturating_sub(self.now().as_us());
        // The client's deadline stays in the past if the line has accepted only a part of a message. The thread then
        // waits until it can write the rest.
        let flags = if left_us == 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let patience = if left_us == 0 { patience } else { patience.min(Duration::from_micros(left_us)) };
        let Some(descriptor) = self.client.transport().descriptor() else {
            std::thread::sleep(patience.min(Duration::from_millis(1)));
            return Ok(());
        };
        wait_for(&mut [PollFd::from_borrowed_fd(descriptor.as_fd(), flags)], Some(patience))
    }

    /// Closes the board's session.
    ///
    /// # Errors
    /// An error of the line.
    pub fn close(mut self) -> io::Result<()> {
        self.client.close(self.now());
        self.spin(|_| {})
    }
}

/// Waits for the end of a board's thread.
///
/// # Errors
/// The reason, as a sentence, if the board failed.
pub fn board_ended(board: ScopedJoinHandle<'_, io::Result<()>>) -> Result<(), String> {
    let ended = board.join().map_err(|_| "the board's thread panicked".to_owned())?;
    ended.map_err(|error| format!("the board failed: {error}"))
}
