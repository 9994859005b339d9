//! The output of the program: progress lines, and a table at the end.

use crate::{
    accounts::{
        counts::{Count, Counts, NAMES},
        usage::Usage,
    },
    options::Run,
};
use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// The numbers of the coordinator's actions.
#[derive(Default)]
pub struct Actions {
    pub starts: u64,
    pub kills: u64,
    pub kills_of_stopped: u64,
    pub stalls: u64,
    pub orderly_ends: u64,
}

/// The time between two progress lines: in a file, and on a terminal, where each line overwrites the previous one.
const PERIODS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(1)];

/// Prints a line.
pub fn line(text: &str) {
    // The write fails if the program that reads the output has closed the pipe.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints progress lines at regular times.
pub struct Progress {
    is_terminal: bool,
    next: Instant,
}

impl Progress {
    pub fn new() -> Progress {
        Progress { is_terminal: std::io::stdout().is_terminal(), next: Instant::now() }
    }

    /// Prints a progress line if one is due.
    pub fn say(
        &mut self,
        elapsed: Duration,
        of: Duration,
        workers: usize,
        actions: &Actions,
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
            actions.kills,
            actions.stalls,
            counts[Count::Joins as usize],
            counts[Count::Checked as usize],
            counts[Count::CheckedBytes as usize] / 1_000_000,
        );
        let (begin, end) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{begin}{text}{end}").and_then(|()| out.flush());
    }

    /// Ends the progress line on a terminal.
    pub fn end(&self) {
        if self.is_terminal {
            line("");
        }
    }
}

/// Prints the table of counts and resources.
pub fn table(
    run: &Run,
    elapsed: Duration,
    actions: &Actions,
    counts: &Counts,
    pauses_ms: [u64; 2],
    usages: &[(&str, Usage)],
) {
    line("");
    let row = |name: &str, value: &dyn std::fmt::Display| line(&format!("{name:48} {value:>16}"));
    row("seed", &run.seed);
    row("duration, s", &elapsed.as_secs());
    row("workers started", &actions.starts);
    row("kills", &actions.kills);
    row("  of them while stopped", &actions.kills_of_stopped);
    row("stalls", &actions.stalls);
    row("orderly ends", &actions.orderly_ends);
    NAMES.iter().zip(counts).for_each(|(name, count)| row(name, count));
    row("survivor's longest pause in publishing, ms", &pauses_ms[0]);
    row("survivor's longest pause in taking, ms", &pauses_ms[1]);
    for (when, usage) in usages {
        line(&format!("survivor {when}: {usage}"));
    }
    line("The directory is empty, every sample was correct, and no process was blocked too long.");
}
