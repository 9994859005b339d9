//! The board: a thread with gantry-micro's client and a clock of its own.

use std::{num::NonZeroU32, os::fd::AsFd, time::Duration};

use gantry_micro::{Client, ClientKey, Instant, Node};
use perf_worker::clock::now_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::BoardLine;

/// The client of a board.
pub type BoardClient<'a> = Client<'a, BoardLine>;

/// The node of a board, with a nonce that is drawn at each boot.
#[must_use]
pub fn board_node(domain_id: u16) -> Node<'static> {
    let boot_nonce = NonZeroU32::new(fastrand::u32(1..));
    Node { name: "board", domain_id, key: ClientKey(*b"perf"), boot_nonce }
}

/// The clock of a board. It began with the board, so it is not the host's time.
#[derive(Clone, Copy, Debug)]
pub struct BoardClock {
    origin_ns: i64,
}

impl BoardClock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> BoardClock {
        BoardClock { origin_ns: now_ns() }
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_us(((now_ns() - self.origin_ns) / 1000).unsigned_abs())
    }
}

/// Waits until the client has something to do, at most for `patience`: firmware would sleep until an interrupt.
///
/// # Errors
/// An error of the line's descriptor.
pub fn wait(client: &mut BoardClient<'_>, clock: BoardClock, patience: Duration) -> std::io::Result<()> {
    let deadline_us = client.deadline().map_or(u64::MAX, Instant::as_us);
    let left_us = deadline_us.saturating_sub(clock.now().as_us());
    // Its deadline is past while the line has not taken a message as a whole.
    let flags = if left_us == 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let patience = if left_us == 0 { patience } else { patience.min(Duration::from_micros(left_us)) };
    let timeout = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
    let Some(descriptor) = client.transport().descriptor() else {
        std::thread::sleep(patience.min(Duration::from_millis(1)));
        return Ok(());
    };
    match poll(&mut [PollFd::from_borrowed_fd(descriptor.as_fd(), flags)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
