//! Streams of bytes or packets: serial lines, pseudoterminals, TCP connections and CAN buses.
//!
//! The thread that sends a message writes as much of the message as the line accepts without blocking. The stream's own
//! thread, which also reads, writes the rest. So neither the agent nor another client waits for a slow line, and each
//! message is sent completely.

use crate::lock::lock;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::{Errno, read, write},
};
use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::Mutex,
    time::{Duration, Instant},
};

/// The largest number of bytes that wait for the line. Answers outside of a session are sent without a check for room,
/// so a limit is needed here.
const MAX_PENDING_BYTES: usize = 128 << 10;
/// The pause after a line was reported as writable but accepted nothing. This happens if a CAN interface is down or has
/// a full queue.
const PAUSE: Duration = Duration::from_millis(5);
/// The period at which the stream calls `is_wanted`.
const QUESTION_PERIOD: Duration = Duration::from_secs(5);

/// A stream of bytes or of packets in both directions.
pub struct Stream {
    /// The descriptor of the line, which does not block.
    line: OwnedFd,
    /// The largest number of bytes that one call writes.
    packet_bytes: usize,
    wake: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The bytes that the line has not accepted yet.
    pending: Vec<u8>,
    /// Whether a caller of `has_room` waits for room.
    was_full: bool,
    is_ending: bool,
}

/// The result of writing the pending bytes.
#[derive(PartialEq, Eq)]
enum Written {
    Nothing,
    Some,
    /// The line has accepted all pending bytes, and a caller of `has_room` waits for that.
    AllForOneThatWaits,
}

impl Stream {
    /// Makes a stream of bytes over a non-blocking descriptor.
    pub fn new(line: OwnedFd) -> io::Result<Stream> {
        Self::of_packets(line, usize::MAX)
    }

    /// Makes a stream of packets over a non-blocking descriptor. Each packet to send has exactly `packet_bytes` bytes.
    pub fn of_packets(line: OwnedFd, packet_bytes: usize) -> io::Result<Stream> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Stream { line, packet_bytes, wake, state: Mutex::default() })
    }

    /// Whether the line has accepted all bytes that were sent. If not, [`Self::run`] calls its `has_room` function when
    /// the line has accepted them.
    pub fn has_room(&self) -> bool {
        let mut state = lock(&self.state);
        state.was_full |= !state.pending.is_empty();
        state.pending.is_empty()
    }

    /// Sends all of the bytes or none. Does not block.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = lock(&self.state);
        if state.is_ending {
            return Err(io::ErrorKind::NotConnected.into());
        }
        if !state.pending.is_empty() {
            if state.pending.len() + bytes.len() > MAX_PENDING_BYTES {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            state.pending.extend_from_slice(bytes);
            return Ok(());
        }
        let written = written(write(&self.line, bytes))?;
        if let Some(rest @ [_, ..]) = bytes.get(written..) {
            state.pending.extend_from_slice(rest);
            drop(state);
            self.wake_up();
        }
        Ok(())
    }

    /// Makes [`Self::run`] return.
    pub fn end(&self) {
        lock(&self.state).is_ending = true;
        self.wake_up();
    }

    fn wake_up(&self) {
        // The write fails only if 2⁶⁴ wake-ups are pending.
        let _ = write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Reads and writes until the stream ends. The end is an error, except after a call of [`Self::end`]. `has_room` is
    /// called when a line that had no room has accepted all bytes. If `is_wanted` returns `false` twice, 5 seconds
    /// apart, the stream also ends: bytes may arrive, but no client has begun a session.
    pub fn run(
        &self,
        received: &mut dyn FnMut(&[u8]),
        has_room: &mut dyn FnMut(),
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let mut asked_at = Instant::now();
        let mut was_wanted = true;
        let mut is_stuck = false;
        loop {
            if asked_at.elapsed() >= QUESTION_PERIOD {
                asked_at = Instant::now();
                let is_wanted = is_wanted();
                if !is_wanted && !was_wanted {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                was_wanted = is_wanted;
            }
            let mut events = PollFlags::IN;
            {
                let state = lock(&self.state);
                if state.is_ending {
                    return Ok(());
                }
                if !state.pending.is_empty() && !is_stuck {
                    events |= PollFlags::OUT;
                }
            }
            let mut fds = [PollFd::new(&self.line, events), PollFd::new(&self.wake, PollFlags::IN)];
            let longest = if is_stuck { PAUSE } else { QUESTION_PERIOD };
            let timeout = QUESTION_PERIOD.saturating_sub(asked_at.elapsed()).min(longest);
            match poll(&mut fds, Timespec::try_from(timeout).ok().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [line, wake] = fds.map(|fd| fd.revents());
            if !wake.is_empty() {
                let _ = read(&self.wake, &mut [0; 8]); // only clears the descriptor; an error has no effect
            }
            if line.contains(PollFlags::OUT) || is_stuck {
                let written = self.write_pending()?;
                is_stuck = written == Written::Nothing;
                if written == Written::AllForOneThatWaits {
                    has_room();
                }
            }
            if line.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                match read(&self.line, &mut buffer) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(length) => received(buffer.get(..length).unwrap_or_default()),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// Writes as many of the pending bytes as the line accepts.
    fn write_pending(&self) -> io::Result<Written> {
        let mut state = lock(&self.state);
        let mut result = Written::Nothing;
        while !state.pending.is_empty() {
            let packet = state.pending.get(..self.packet_bytes).unwrap_or(&state.pending);
            let count = written(write(&self.line, packet))?.min(state.pending.len());
            if count == 0 {
                return Ok(result);
            }
            state.pending.drain(..count);
            result = Written::Some;
        }
        Ok(if std::mem::take(&mut state.was_full) { Written::AllForOneThatWaits } else { Written::Some })
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.line.as_fd()
    }
}

/// The number of bytes that were written; 0 if the line accepts nothing now.
fn written(result: rustix::io::Result<usize>) -> io::Result<usize> {
    match result {
        Ok(count) => Ok(count),
        // A CAN interface causes NOBUFS if its queue is full, and NETDOWN if it is down for now.
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::NETDOWN) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
