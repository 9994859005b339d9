//! The log of the library: `tracing` events, or lines on standard error in a program without a `tracing` subscriber.
//!
//! A line has the format of ROS 2's console: `[WARN] [1234.567890123] [ns.node]: message`. A process does not print the
//! same message again until it has printed `MAX_REMEMBERED` other messages, so a lasting problem does not fill the
//! terminal.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Display,
    io::{IsTerminal, Write, stderr},
    iter,
    str::FromStr,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::SystemTime,
};
use tracing::{Level, dispatcher, subscriber::NoSubscriber};

/// The environment variable that sets the log level.
const VARIABLE: &str = "GANTRY_LOG";
/// The number of printed messages that the log remembers to avoid repetition. When it is reached, the log forgets all
/// of them.
const MAX_REMEMBERED: usize = 1024;
/// The logger name of events that belong to no node.
const LIBRARY: &str = "gantry";

static IS_ROSOUT_OFF: AtomicBool = AtomicBool::new(false);

/// A log level: the lowest severity of the events that are printed to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// No event is printed.
    Off,
    /// Errors.
    Error,
    /// Errors and warnings: the default.
    Warn,
    /// Errors, warnings and information.
    Info,
    /// Everything.
    Debug,
}

/// The log levels of the process.
#[derive(Debug)]
struct Levels {
    default: LogLevel,
    /// Whether no event is printed, not even an error.
    is_silent: bool,
    /// The levels set for single loggers, by logger name (`ns.node`). The level of `ns` also applies to `ns.node`,
    /// unless `ns.node` has its own level.
    loggers: BTreeMap<String, LogLevel>,
}

/// Sets the level of all nodes for which [`set_logger_level`] set no level, as `--log-level LEVEL` does in ROS 2. It
/// replaces the level from `GANTRY_LOG`. It has no effect in a program with a `tracing` subscriber, which filters
/// events itself.
pub fn set_log_level(level: LogLevel) {
    with_levels(|levels| levels.default = level);
}

/// Sets the level of one logger, as `--log-level ns.node:=LEVEL` does in ROS 2. The logger of the node `/ns/node` is
/// `ns.node`. The level of the logger `ns` applies to all nodes of the namespace `/ns` that have no level of their own.
pub fn set_logger_level(logger: &str, level: LogLevel) {
    with_levels(|levels| levels.loggers.insert(logger.to_owned(), level));
}

/// Removes the level of a logger, as the level `unset` does in ROS 2. With `None`, resets the default level to the
/// level from `GANTRY_LOG`.
pub(crate) fn unset_log_level(logger: Option<&str>) {
    with_levels(|levels| match logger {
        Some(logger) => drop(levels.loggers.remove(logger)),
        None => levels.default = level_of_environment(),
    });
}

/// Sets whether events are printed to standard error, as `--disable-stdout-logs` does in ROS 2.
pub(crate) fn set_stdout(on: bool) {
    with_levels(|levels| levels.is_silent = !on);
}

/// Sets whether `RosoutLayer` publishes, as `--disable-rosout-logs` does in ROS 2.
pub(crate) fn set_rosout(on: bool) {
    IS_ROSOUT_OFF.store(!on, Relaxed);
}

/// Whether `RosoutLayer` publishes.
#[cfg(feature = "rosout")]
pub(crate) fn is_rosout_on() -> bool {
    !IS_ROSOUT_OFF.load(Relaxed)
}

/// Logs an error that no caller receives. `node` is the node's full name, or empty.
pub(crate) fn error(node: &str, message: impl Display) {
    if to_stderr(LogLevel::Error, node, &message) {
        tracing::error!(target: LIBRARY, node, "{message}");
    }
}

/// Logs a warning. `node` is the node's full name, or empty.
pub(crate) fn warn(node: &str, message: impl Display) {
    if to_stderr(LogLevel::Warn, node, &message) {
        tracing::warn!(target: LIBRARY, node, "{message}");
    }
}

/// Logs a normal event, such as a start or an end. `node` is the node's full name, or empty.
pub(crate) fn info(node: &str, message: impl Display) {
    if to_stderr(LogLevel::Info, node, &message) {
        tracing::info!(target: LIBRARY, node, "{message}");
    }
}

/// Logs an event for debugging. `node` is the node's full name, or empty.
pub(crate) fn debug(node: &str, message: impl Display) {
    if to_stderr(LogLevel::Debug, node, &message) {
        tracing::debug!(target: LIBRARY, node, "{message}");
    }
}

/// Whether the log would output a warning of this node.
pub(crate) fn is_warn_enabled(node: &str) -> bool {
    if has_subscriber() { tracing::enabled!(target: LIBRARY, Level::WARN) } else { level_of(node) >= LogLevel::Warn }
}

/// Whether to log the `count`th event of one kind. Returns `true` for the 1st, 10th, 100th event and so on, so that a
/// lasting problem does not fill the log.
#[must_use]
pub fn is_logged(count: u64) -> bool {
    count.checked_ilog10().is_some_and(|power| 10_u64.pow(power) == count)
}

/// The count of an event ([`is_logged`]) as the end of a log line, such as ` (the 10th such event)`. Empty for the
/// first event.
#[derive(Clone, Copy, Debug)]
pub struct Nth(pub u64);

impl Display for Nth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 > 1 { write!(f, " (the {}th such event)", self.0) } else { Ok(()) }
    }
}

/// Prints the event if this thread has no `tracing` subscriber. Returns whether the thread has a subscriber.
fn to_stderr(level: LogLevel, node: &str, message: &dyn Display) -> bool {
    if has_subscriber() {
        return true;
    }
    if level_of(node) >= level {
        let message = message.to_string();
        if is_new(&message) {
            print(level, node, &message);
        }
    }
    false
}

fn has_subscriber() -> bool {
    dispatcher::get_default(|dispatch| !dispatch.is::<NoSubscriber>())
}

/// Whether this message was not printed recently.
fn is_new(message: &str) -> bool {
    static PRINTED: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    let printed = printed.get_or_insert_default();
    if printed.len() >= MAX_REMEMBERED {
        printed.clear();
    }
    printed.insert(message.to_owned())
}

fn print(level: LogLevel, node: &str, message: &str) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (word, colour) = match level {
        LogLevel::Off | LogLevel::Error => ("ERROR", "\x1b[31m"),
        LogLevel::Warn => ("WARN", "\x1b[33m"),
        LogLevel::Info => ("INFO", ""),
        LogLevel::Debug => ("DEBUG", "\x1b[32m"),
    };
    let (colour, end) = if stderr().is_terminal() { (colour, "\x1b[0m") } else { ("", "") };
    let (seconds, nanoseconds, logger) = (now.as_secs(), now.subsec_nanos(), logger_of(node));
    let message = crate::printable(message, &['\n', '\t']); // the message may contain names from other programs
    let line = format!("{colour}[{word}] [{seconds}.{nanoseconds:09}] [{logger}]: {message}{end}\n");
    let _ = stderr().lock().write_all(line.as_bytes()); // a failure of the log cannot be reported anywhere
}

/// The name of a node's logger, as in ROS 2: the node `/ns/node` has the logger `ns.node`.
pub(crate) fn logger_of(node: &str) -> String {
    match node.trim_start_matches('/') {
        "" => LIBRARY.to_owned(),
        name => name.replace('/', "."),
    }
}

fn level_of(node: &str) -> LogLevel {
    with_levels(|levels| {
        if levels.is_silent {
            return LogLevel::Off;
        }
        let logger = logger_of(node);
        let mut names = iter::successors(Some(&*logger), |name| Some(name.rsplit_once('.')?.0));
        names.find_map(|name| levels.loggers.get(name).copied()).unwrap_or(levels.default)
    })
}

fn with_levels<T>(use_levels: impl FnOnce(&mut Levels) -> T) -> T {
    static LEVELS: OnceLock<Mutex<Levels>> = OnceLock::new();
    let levels = LEVELS.get_or_init(|| {
        Mutex::new(Levels { default: level_of_environment(), is_silent: false, loggers: BTreeMap::new() })
    });
    use_levels(&mut levels.lock().unwrap_or_else(PoisonError::into_inner))
}

fn level_of_environment() -> LogLevel {
    let value = std::env::var_os(VARIABLE).unwrap_or_default();
    let value = value.to_string_lossy();
    if value.is_empty() {
        return LogLevel::Warn;
    }
    value.parse().unwrap_or_else(|why| {
        print(LogLevel::Warn, "", &format!("{VARIABLE} is \"{value}\"; {why}; the level warn is used"));
        LogLevel::Warn
    })
}

impl FromStr for LogLevel {
    type Err = &'static str;

    /// Reads a level by its name in `GANTRY_LOG` or in ROS 2, in small or capital letters. `fatal` is read as
    /// `error`: the library has no fatal events.
    fn from_str(text: &str) -> Result<LogLevel, &'static str> {
        match text.to_ascii_lowercase().as_str() {
            "off" => Ok(LogLevel::Off),
            "error" | "fatal" => Ok(LogLevel::Error),
            "warn" => Ok(LogLevel::Warn),
            "info" => Ok(LogLevel::Info),
            "debug" => Ok(LogLevel::Debug),
            _ => Err("a level is off, error, warn, info or debug"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_a_line_for_each_power_of_ten() {
        let logged: Vec<u64> = (0..2000).filter(|count| is_logged(*count)).collect();
        assert_eq!(logged, [1, 10, 100, 1000]);
        assert!(!is_logged(u64::MAX));
    }
}
