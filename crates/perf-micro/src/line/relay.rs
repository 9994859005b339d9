//! A thread that moves bytes from one descriptor to another at the speed of a line.

use std::{
    io,
    num::NonZeroU64,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use perf_worker::clock::{now_ns, sleep_until, work};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    thread::set_current_timer_slack,
};

use super::{
    faults::{Direction, Faults, FaultyWay},
    line_thread::LineThread,
    pace::Pace,
};
use crate::transport::Speed;

/// The longest busy-wait of a relay, ns; a sleeping thread wakes up late by about this time.
const MOST_AWAKE_NS: i64 = 100_000;
/// The seed of the random faults, so that all runs have the same faults.
const SEED: u64 = 22;

/// Starts the two relays between the board's end and the agent's end.
pub fn both_ways([board, agent]: [&OwnedFd; 2], speed: Speed, faults: &Arc<Faults>) -> io::Result<[LineThread; 2]> {
    let way = |way| FaultyWay::new(faults.clone(), way, SEED + way as u64);
    Ok([
        start(board.try_clone()?, agent.try_clone()?, Pace::new(speed), way(Direction::FromBoard))?,
        start(agent.try_clone()?, board.try_clone()?, Pace::new(speed), way(Direction::ToBoard))?,
    ])
}

/// Starts the relay of one direction.
fn start(from: OwnedFd, to: OwnedFd, pace: Pace, way: FaultyWay) -> io::Result<LineThread> {
    LineThread::start("line", |stop| {
        // With the default timer slack, the kernel may wake the thread 50 µs late. If the kernel refuses the change,
        // the default stays.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        // The relay ends when the peer of one of its descriptors is closed.
        OneWayRelay { from, to, pace, way, stop }.run()
    })
}

struct OneWayRelay {
    from: OwnedFd,
    to: OwnedFd,
    pace: Pace,
    way: FaultyWay,
    stop: OwnedFd,
}

impl OneWayRelay {
    fn run(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; self.pace.chunk_bytes()];
        loop {
            let waited = is_ready(&self.from, PollFlags::IN)?;
            if !waited && !self.wait(&self.from, PollFlags::IN)? {
                return Ok(());
            }
            let length = match rustix::io::read(&self.from, &mut chunk) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let began_ns = now_ns();
            wait_until(began_ns, self.pace.arrival_ns(began_ns, length, waited));
            let mut passed = chunk.get(..length).unwrap_or_default().to_vec();
            self.way.pass(&mut passed);
            let mut rest = passed.as_slice();
            while !rest.is_empty() {
                match rustix::io::write(&self.to, rest) {
                    Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                    Err(Errno::AGAIN) if self.wait(&self.to, PollFlags::OUT)? => {}
                    Err(Errno::AGAIN) => return Ok(()),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// Waits for a descriptor. Returns `false` if the thread must end instead.
    fn wait(&self, descriptor: &OwnedFd, flags: PollFlags) -> io::Result<bool> {
        let mut descriptors = [PollFd::new(&self.stop, PollFlags::IN), PollFd::new(descriptor, flags)];
        wait_for(&mut descriptors, None)?;
        Ok(descriptors[0].revents().is_empty())
    }
}

/// Waits until the bytes of a chunk have passed. The thread busy-waits for the last tenth of the time, because a
/// sleeping thread wakes up late and a real line is never late.
fn wait_until(began_ns: i64, end_ns: i64) {
    let awake_ns = ((end_ns - began_ns) / 10).min(MOST_AWAKE_NS);
    sleep_until(end_ns - awake_ns);
    work(end_ns - now_ns());
}

fn is_ready(descriptor: impl AsFd, flags: PollFlags) -> io::Result<bool> {
    let mut descriptors = [PollFd::new(&descriptor, flags)];
    wait_for(&mut descriptors, Some(Duration::ZERO))?;
    Ok(!descriptors[0].revents().is_empty())
}

/// Waits until one of the descriptors is ready, at most for `patience`. A signal ends the wait.
///
/// # Errors
/// An error of a descriptor.
pub fn wait_for(descriptors: &mut [PollFd<'_>], patience: Option<Duration>) -> io::Result<()> {
    let timeout = patience
        .map(|patience| Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() });
    match poll(descriptors, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
