//! The progress of a batch on standard error. On a terminal, each line replaces the line before; otherwise each run has
//! its own line.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Shortfall;
use crate::report::terminal::progress::duration;

/// The assumed overhead of a run (start, matching, calibration, end) in addition to its length, until one run has been
/// measured.
const FIRST_GUESS: Duration = Duration::from_secs(2);

/// The number of runs, with what is needed to estimate the remaining time.
#[derive(Debug)]
pub struct Progress {
    /// The length of each run, from its first message to its last; `None` if the run is refused or skipped.
    lengths: Vec<Option<Duration>>,
    /// The sum of the overheads of the measured runs (duration minus length), and the number of these runs.
    overhead: (Duration, u32),
    is_terminal: bool,
}

impl Progress {
    /// Creates the progress of runs with these lengths in seconds. The length is `None` for a run that will not be
    /// done.
    pub fn new(lengths_s: impl Iterator<Item = Option<u32>>) -> Progress {
        let lengths = lengths_s.map(|length_s| length_s.map(|length_s| Duration::from_secs(length_s.into()))).collect();
        Progress { lengths, overhead: (Duration::ZERO, 0), is_terminal: io::stderr().is_terminal() }
    }

    /// Prints that a run begins. If its log already exists, `again` is the reason for measuring it again.
    pub fn begin(&self, index: usize, title: &str, again: Option<&str>) {
        if let Some(why) = again {
            self.say(&format!("{title} is measured again: {why}"), true);
        }
        let (left, ends) = (self.left(index), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        let line = self.line(index, title, left, ends);
        self.say(&line, !self.is_terminal);
    }

    /// Prints that the folder of results already has the log of a run.
    pub fn found(&self, index: usize, title: &str) {
        let (n, of) = (index + 1, self.lengths.len());
        self.say(&format!("run {n} of {of}: {title}: its log is there, --again repeats it"), true);
    }

    /// Prints that a run is skipped, because earlier runs with the same conditions failed.
    pub fn skip(&self, index: usize, title: &str, missing: &Shortfall) {
        let (n, of, Shortfall { kind, sentence, .. }) = (index + 1, self.lengths.len(), missing);
        self.say(&format!("run {n} of {of}: {title}: not tried, the last runs of its kind {kind}: {sentence}"), true);
    }

    /// Removes run `index` from the remaining time, because it will not be done.
    pub fn drop(&mut self, index: usize) {
        self.lengths.get_mut(index).into_iter().for_each(|length| *length = None);
    }

    /// Prints that a run has ended after `took`. If it has no figures, `missing` is the reason.
    pub fn end(&mut self, index: usize, title: &str, missing: Option<&Shortfall>, took: Duration) {
        if let Some(Shortfall { kind, sentence, .. }) = missing {
            self.say(&format!("{title} {kind}: {sentence}"), true);
        } else if let Some(length) = self.lengths.get(index).copied().flatten() {
            self.overhead = (self.overhead.0 + took.saturating_sub(length), self.overhead.1 + 1);
        }
    }

    /// Prints that the batch has ended. `not_done` is the number of runs that were not done.
    pub fn finish(&self, not_done: usize) {
        if not_done > 0 {
            self.say(&format!("ended early: {not_done} of {} runs were not done", self.lengths.len()), true);
        } else if self.is_terminal {
            self.say("", false);
        }
    }

    /// The estimated time from the beginning of run `index` to the end of the last run.
    fn left(&self, index: usize) -> Duration {
        let (sum, n) = self.overhead;
        let overhead = sum.checked_div(n).unwrap_or(FIRST_GUESS);
        self.lengths.iter().skip(index).flatten().map(|length| *length + overhead).sum()
    }

    fn line(&self, index: usize, title: &str, left: Duration, now: Duration) -> String {
        let minute = (now + left).as_secs() / 60;
        let (n, of, left_s) = (index + 1, self.lengths.len(), left.as_secs());
        let (hour, minute) = (minute / 60 % 24, minute % 60);
        format!("run {n} of {of}: {title}; {} left, until {hour:02}:{minute:02} UTC", duration(left_s))
    }

    /// Prints a line. On a terminal it replaces the line before. If `stays` is true, the next line does not replace it.
    fn say(&self, line: &str, stays: bool) {
        let over = if self.is_terminal { "\r\x1b[K" } else { "" };
        let end = if stays { "\n" } else { "" };
        // The write fails only if the console is closed.
        let _ = write!(io::stderr().lock(), "{over}{line}{end}");
        let _ = io::stderr().flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_measured_overhead() {
        let second = Duration::from_secs(1);
        let mut progress = Progress::new([Some(4), None, Some(4), Some(10)].into_iter());
        assert_eq!(progress.left(0), 24 * second);
        progress.end(0, "one", None, 5 * second);
        assert_eq!(progress.left(1), 16 * second);
        progress.end(2, "two", None, 7 * second);
        assert_eq!(progress.left(3), 12 * second);
        progress.drop(2);
        assert_eq!(progress.left(2), 12 * second);
        // `now` is two minutes before midnight UTC.
        let now = Duration::from_secs(20_000 * 86_400 - 120);
        assert_eq!(progress.line(3, "X 4MB", 150 * second, now), "run 4 of 4: X 4MB; 2 min 30 s left, until 00:00 UTC");
    }
}
