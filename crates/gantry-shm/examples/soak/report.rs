//! What is printed: a line now and then, and a table in the end.

use crate::{
    coordinator::Deeds,
    counts::{Count, Counts, NAMES},
    options::Run,
    usage::Usage,
};
use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// Between two lines that stay, and two that overwrite each other.
const PERIODS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(1)];

/// Prints a line.
pub fn line(text: &str) {
    // Nobody may listen any more.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// The line that says how far the run is.
pub struct Progress {
    is_terminal: bool,
    next: Instant,
}

impl Progress {
    pub fn new() -> Progress {
        Progress { is_terminal: std::io::stdout().is_terminal(), next: Instant::now() }
    }

    /// Prints it if it is time to.
    pub fn say(
        &mut self,
        elapsed: Duration,
        of: Duration,
        workers: usize,
        deeds: &Deeds,
        counts: impl FnOnce() -> Counts,
    ) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + PERIODS[usize::from(self.is_terminal)];
        let counts = counts();
        let text = format!(
            "{:4} of {} s: {workers} workers; {} kills, {} stalls, {} joins; {} samples checked, {} MB",
            elapsed.as_secs(),
            of.as_secs(),
            deeds.kills,
            deeds.stalls,
            counts[Count::Joins as usize],
            counts[Count::Checked as usize],
            counts[Count::CheckedBytes as usize] / 1_000_000,
        );
        let (begin, end) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{begin}{text}{end}").and_then(|()| out.flush());
    }

    /// No more of it.
    pub fn end(&self) {
        if self.is_terminal {
            line("");
        }
    }
}

/// What was done and found.
pub fn table(
    run: &Run,
    elapsed: Duration,
    deeds: &Deeds,
    counts: &Counts,
    pauses_ms: [u64; 2],
    usages: &[(&str, Usage)],
) {
    line("");
    let row = |name: &str, value: &dyn std::fmt::Display| line(&format!("{name:48} {value:>16}"));
    row("seed", &run.seed);
    row("duration, s", &elapsed.as_secs());
    row("workers started", &deeds.starts);
    row("kills", &deeds.kills);
    row("  of them while stopped", &deeds.kills_of_stopped);
    row("stalls", &deeds.stalls);
    row("orderly ends", &deeds.orderly_ends);
    NAMES.iter().zip(counts).for_each(|(name, count)| row(name, count));
    row("survivor's longest pause in publishing, ms", &pauses_ms[0]);
    row("survivor's longest pause in taking, ms", &pauses_ms[1]);
    for (when, usage) in usages {
        line(&format!("survivor {when}: {usage}"));
    }
    line("The directory is empty, every sample was what it should be, and nobody was kept waiting.");
}
