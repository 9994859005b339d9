//! The progress line of a playback: the position in the bag, and the rates since the last line.

use super::player::Player;
use crate::progress::Progress;
use gantry_command::text::{bytes, seconds};
use std::time::{Duration, Instant};

/// The time between two updates of the line.
const PERIOD: Duration = Duration::from_millis(500);

/// The progress line.
pub struct PlayProgress {
    progress: Progress,
    is_shown: bool,
    /// The times in the bag at which the playback begins and ends.
    span_ns: (u64, u64),
    /// The time of the last line, and its numbers of messages and bytes.
    last: (Instant, u64, u64),
}

impl PlayProgress {
    /// A line that is shown if `is_wanted` and standard error is a terminal.
    #[must_use]
    pub fn new(is_wanted: bool, span_ns: (u64, u64)) -> PlayProgress {
        let progress = Progress::new();
        PlayProgress { is_shown: is_wanted && progress.is_shown(), progress, span_ns, last: (Instant::now(), 0, 0) }
    }

    /// Shows the line if it is due.
    pub fn update(&mut self, player: &Player<'_>) {
        let elapsed = if self.is_shown { self.last.0.elapsed() } else { return };
        if elapsed >= PERIOD {
            let played = player.played();
            let line = self.line(elapsed, (played.position_ns, played.messages, played.bytes));
            self.progress.show(&format!("{line}{}", if player.is_paused() { " | paused" } else { "" }));
            self.last = (Instant::now(), played.messages, played.bytes);
        }
    }

    fn line(&self, elapsed: Duration, (position_ns, messages, played_bytes): (u64, u64, u64)) -> String {
        let ((start_ns, end_ns), (_, messages_before, bytes_before)) = (self.span_ns, self.last);
        let (position, all) = (seconds(position_ns.saturating_sub(start_ns)), seconds(end_ns - start_ns));
        let rate = |now: u64, before: u64| (now - before) as f64 / elapsed.as_secs_f64();
        let (messages_per_s, bytes_per_s) = (rate(messages, messages_before), rate(played_bytes, bytes_before) as u64);
        let sizes = format!("{}, {}/s", bytes(played_bytes), bytes(bytes_per_s));
        format!("{position} of {all} | {messages} messages, {messages_per_s:.0}/s | {sizes}")
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.progress.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_rates_since_the_last_one() {
        let progress = PlayProgress {
            last: (Instant::now(), 100, 1_000_000),
            ..PlayProgress::new(false, (5_000_000_000, 65_000_000_000))
        };
        let line = progress.line(Duration::from_millis(500), (17_000_000_000, 160, 3_000_000));
        assert_eq!(line, "12.000 s of 60.000 s | 160 messages, 120/s | 3.0 MB, 4.0 MB/s");
    }
}
