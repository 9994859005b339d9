//! The log of the agent. The rate of its lines is limited, so that a client cannot fill the disk.

use gantry::printable;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something was lost or refused.
    Warning,
    /// An ordinary event: a client came or went, or an object was created.
    Info,
}

type Sink = dyn Fn(Level, &str) + Send + Sync;

/// A log: the least important level that it writes, and the function that writes a line.
pub struct Log {
    max_level: Level,
    sink: Box<Sink>,
}

impl Log {
    /// Makes a log of the entries up to `max_level`. The agent's threads call `sink`, which must not block. Clients
    /// choose some names in the entries (topics, types, nodes), so control characters are escaped. A name then cannot
    /// control the terminal or add a line.
    pub fn new(max_level: Level, sink: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        Self { max_level, sink: Box::new(sink) }
    }
}

impl Default for Log {
    /// A log that shows nothing.
    fn default() -> Self {
        Self::new(Level::Warning, |_, _| {})
    }
}

/// The largest number of log lines about one client per second.
const MAX_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Writes log lines, and counts the lines beyond the limit.
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

    /// Writes a line, unless the limit of this second is reached.
    pub fn log(&mut self, log: &Log, level: Level, line: fmt::Arguments<'_>) {
        if level > log.max_level {
            return; // the level excludes this line, so it does not count as omitted
        }
        let now = Instant::now();
        if now.duration_since(self.began) >= PERIOD {
            let omitted = std::mem::take(&mut self.omitted);
            (self.began, self.lines) = (now, 0);
            if omitted > 0 {
                (log.sink)(Level::Warning, &format!("{omitted} more lines of this kind were omitted"));
            }
        }
        self.lines += 1;
        if self.lines > MAX_LINES {
            self.omitted += 1;
        } else {
            (log.sink)(level, &printable(&line.to_string(), &[]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Collects the lines that `write` writes to a log.
    fn lines(max_level: Level, write: impl Fn(&mut Limiter, &Log)) -> Vec<String> {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let of_log = lines.clone();
        let log = Log::new(max_level, move |_, line| crate::lock::lock(&of_log).push(line.to_owned()));
        write(&mut Limiter::new(), &log);
        drop(log);
        Arc::into_inner(lines).and_then(|lines| lines.into_inner().ok()).unwrap_or_default()
    }

    #[test]
    fn a_clients_text_forges_no_line_and_moves_no_cursor() {
        let name = "/a\u{1b}]0;title\u{7}\nwarning: forged";
        let lines = lines(Level::Info, |limiter, log| limiter.log(log, Level::Info, format_args!("topic {name}")));
        assert_eq!(lines, ["topic /a\\u{1b}]0;title\\u{7}\\nwarning: forged"]);
    }

    #[test]
    fn lines_that_are_not_shown_are_not_counted() {
        let lines = lines(Level::Warning, |limiter, log| {
            (0..1000).for_each(|_| limiter.log(log, Level::Info, format_args!("a node came")));
            limiter.log(log, Level::Warning, format_args!("a sample is lost"));
            assert_eq!(limiter.omitted, 0);
        });
        assert_eq!(lines, ["a sample is lost"]);
    }
}
