//! The pace of discoveries. A pause follows each discovery, long enough for the other processes of the domain to make
//! the same discovery.
//!
//! Each endpoint that joins or leaves wakes every process with an endpoint of its topic. If many processes join at
//! once, the rounds (discoveries) of their control threads would take all CPUs from the processes that have yet to
//! join, above all from the holder of the registry lock. With the pauses, all rounds together take about one CPU, and
//! one round finds many new endpoints. Among few processes, a round and its pause are short.

use crate::domain::Domain;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The shortest pause after a round, because endpoints that join at the same time ring many times.
pub(crate) const MIN_PAUSE: Duration = Duration::from_millis(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// The shortest pause after a round, as a multiple of the round's CPU time. While a process creates many endpoints, its
/// control thread should wait for the last endpoint, and not compete with the thread that creates the endpoints.
const MIN_SHARES: usize = 8;

/// The state of the rounds of one thread.
pub(crate) struct Pace {
    pause_until: Instant,
    /// The time at which the present round began, and the thread's CPU time at that moment.
    begin: (Instant, Duration),
}

impl Pace {
    pub(crate) fn new() -> Pace {
        let now = Instant::now();
        Pace { pause_until: now, begin: (now, Duration::ZERO) }
    }

    /// Runs a round that calls `discover`.
    pub(crate) fn round(&mut self, domain: &Domain, discover: impl FnOnce()) {
        self.begin();
        discover();
        self.end(domain);
    }

    /// Begins a round.
    pub(crate) fn begin(&mut self) {
        self.begin = (Instant::now(), thread_cpu_time());
    }

    /// Ends the round. The round's CPU time, including the updates of the tasks, determines the next pause.
    pub(crate) fn end(&mut self, domain: &Domain) {
        let (start, start_cpu) = self.begin;
        let shares = domain.known_peers().max(MIN_SHARES) as u32;
        let pause = thread_cpu_time().saturating_sub(start_cpu) * shares;
        self.pause_until = start + pause.clamp(MIN_PAUSE, MAX_PAUSE);
    }

    /// The time until the next round may begin, or until the deadline if that is earlier.
    pub(crate) fn pause(&self, deadline: Option<Instant>) -> Duration {
        let until = deadline.map_or(self.pause_until, |deadline| deadline.min(self.pause_until));
        until.saturating_duration_since(Instant::now())
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
