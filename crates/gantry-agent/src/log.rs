//! The lines that the agent logs, and a limit to their rate: a client must not fill a disk.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something was lost or refused.
    Warning,
    /// A client came or went, or an object was made.
    Info,
}

/// Where lines go.
pub type Sink = dyn Fn(Level, &str) + Send + Sync;

/// The lines of a second, of one client.
const MAX_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Writes lines, and counts those that are too many.
#[derive(Debug)]
pub struct Limiter {
    began: Instant,
    lines: u32,
    omitted: u64,
}

impl Limiter {
    pub fn new() -> Self {
        Self { began: Instant::now(), lines: 0, omitted: 0 }
    }

    /// Writes a line, unless there were too many in this second.
    pub fn log(&mut self, sink: &Sink, level: Level, line: fmt::Arguments<'_>) {
        let now = Instant::now();
        if now.duration_since(self.began) >= PERIOD {
            let omitted = std::mem::take(&mut self.omitted);
            (self.began, self.lines) = (now, 0);
            if omitted > 0 {
                sink(Level::Warning, &format!("{omitted} more lines of this kind were left out"));
            }
        }
        self.lines += 1;
        if self.lines > MAX_LINES {
            self.omitted += 1;
        } else {
            sink(level, &line.to_string());
        }
    }
}
