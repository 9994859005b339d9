//! The text of mock scripts: parsing and printing.

use std::fmt;
use std::str::FromStr;

use super::{MockDaemon, MockScript, Timed};
use crate::{
    choice::Choice,
    spec::matching::{MatchingKind, OtherClock},
};

/// All keys of a script, for error messages.
pub const KEYS: &str = "latency=TIME, slow=K:TIME, early=K:TIME, lose=K, overwrite=K, duplicate=K, swap=K, corrupt=K, refuse=K, \
     stall=ID:TIME, join=ID, subscription=INDEX, match=TIME, mute=TIME, mismatch, matching=KIND, nameless, push, copy, \
     deaf, undeclared, print, daemon, daemon=die:TIME, daemon=silent, daemon=exit, \
     serialise=TIME, transport=TIME, wake=TIME, clock=OFFSET:ERROR, reception-clock=OFFSET:ERROR, wire=BYTES, device, \
     start=TIME, report=TIME; a TIME is a whole number with ns, us, ms or s";
/// The longest time in a script, ns. It is longer than any run, and small enough that sums of such times do not
/// overflow.
const LONGEST_NS: i64 = 1_000_000_000_000;
/// The units of time, the largest first.
const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];

impl FromStr for MockScript {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut script = MockScript::default();
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if seen.contains(&key) {
                return Err(format!("the script gives `{key}` twice: give it once"));
            }
            seen.push(key);
            set(&mut script, key, value).map_err(|why| format!("the script's `{part}` {why}. There are {KEYS}"))?;
        }
        Ok(script)
    }
}

fn set(script: &mut MockScript, key: &str, value: &str) -> Result<(), &'static str> {
    match key {
        "latency" => script.latency_ns = time_ns(value)?,
        "slow" => script.slow = Some(timed(value)?),
        "early" => script.early = Some(timed(value)?),
        "lose" => script.lose = number(value)?,
        "overwrite" => script.overwrite = number(value)?,
        "duplicate" => script.duplicate = number(value)?,
        "swap" => script.swap = number(value)?,
        "corrupt" => script.corrupt = number(value)?,
        "refuse" => script.refuse = number(value)?,
        "stall" => script.stall = Some(timed(value)?),
        "join" => script.join = number(value)?,
        "subscription" => script.subscription = Some(value.parse().map_err(|_| "needs the index of a subscription")?),
        "match" => script.match_ns = time_ns(value)?,
        "mute" => script.mute_ns = time_ns(value)?,
        "mismatch" if value.is_empty() => script.mismatch = true,
        "matching" => {
            let named = MatchingKind::ALL.iter().find(|(_, name, _)| *name == value).map(|(kind, ..)| *kind);
            script.matching = Some(named.ok_or("needs count, any or unknown")?);
        }
        "nameless" if value.is_empty() => script.nameless = true,
        "push" if value.is_empty() => script.push = true,
        "copy" if value.is_empty() => script.copy = true,
        "deaf" if value.is_empty() => script.deaf = true,
        "undeclared" if value.is_empty() => script.undeclared = true,
        "print" if value.is_empty() => script.print = true,
        "device" if value.is_empty() => script.device = true,
        "mismatch" | "nameless" | "push" | "copy" | "deaf" | "undeclared" | "print" | "device" => {
            return Err("has a value and needs none");
        }
        "serialise" => script.serialise_ns = Some(time_ns(value)?),
        "transport" => script.transport_ns = Some(time_ns(value)?),
        "wake" => script.wake_ns = Some(time_ns(value)?),
        "clock" => script.clock = Some(clock(value)?),
        "reception-clock" => script.reception_clock = Some(clock(value)?),
        "wire" => script.wire_bytes = number(value)?,
        "daemon" => script.daemon = Some(daemon(value)?),
        "start" => script.start_ns = time_ns(value)?,
        "report" => script.report_ns = time_ns(value)?,
        _ => return Err("is not known"),
    }
    Ok(())
}

fn daemon(value: &str) -> Result<MockDaemon, &'static str> {
    match value.strip_prefix("die:") {
        Some(time) => Ok(MockDaemon::Dies(time_ns(time)?)),
        None => match value {
            "" => Ok(MockDaemon::Lives),
            "silent" => Ok(MockDaemon::Silent),
            "exit" => Ok(MockDaemon::Exits),
            _ => Err("needs nothing, die:TIME, silent or exit"),
        },
    }
}

fn number(value: &str) -> Result<u64, &'static str> {
    value.parse().ok().filter(|number| *number > 0).ok_or("needs a whole number from 1")
}

fn timed(value: &str) -> Result<Timed, &'static str> {
    let (nth, time) = value.split_once(':').ok_or("needs a number and a time")?;
    Ok(Timed { number: number(nth)?, time_ns: time_ns(time)? })
}

fn clock(value: &str) -> Result<OtherClock, &'static str> {
    let (offset, error) = value.split_once(':').ok_or("needs two times")?;
    Ok(OtherClock { offset_ns: time_ns(offset)?, error_ns: time_ns(error)? })
}

fn time_ns(value: &str) -> Result<i64, &'static str> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = UNITS.into_iter().find(|(unit, _)| *unit == &value[digits.len()..]);
    let time_ns = unit.and_then(|(_, unit_ns)| digits.parse::<u32>().ok().map(|count| i64::from(count) * unit_ns));
    time_ns.filter(|time_ns| *time_ns <= LONGEST_NS).ok_or("needs a time of at most 1000s")
}

/// A time in ns, printed in the largest unit that gives a whole number.
struct Time(i64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, unit_ns) = UNITS.into_iter().find(|(_, unit_ns)| self.0 % unit_ns == 0).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / unit_ns)
    }
}

impl MockScript {
    /// The keys of a script that have no value, each with its flag.
    fn words(&self) -> [(&'static str, bool); 8] {
        [
            ("mismatch", self.mismatch),
            ("nameless", self.nameless),
            ("push", self.push),
            ("copy", self.copy),
            ("deaf", self.deaf),
            ("undeclared", self.undeclared),
            ("print", self.print),
            ("device", self.device),
        ]
    }
}

impl fmt::Display for MockScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "latency={}", Time(self.latency_ns))?;
        for (key, timed) in [("slow", self.slow), ("early", self.early), ("stall", self.stall)] {
            if let Some(Timed { number, time_ns }) = timed {
                write!(f, ",{key}={number}:{}", Time(time_ns))?;
            }
        }
        for (key, number) in [
            ("lose", self.lose),
            ("overwrite", self.overwrite),
            ("duplicate", self.duplicate),
            ("swap", self.swap),
            ("corrupt", self.corrupt),
            ("refuse", self.refuse),
            ("join", self.join),
            ("wire", self.wire_bytes),
        ] {
            if number > 0 {
                write!(f, ",{key}={number}")?;
            }
        }
        if let Some(index) = self.subscription {
            write!(f, ",subscription={index}")?;
        }
        for (key, time_ns) in [("match", self.match_ns), ("mute", self.mute_ns)] {
            if time_ns > 0 {
                write!(f, ",{key}={}", Time(time_ns))?;
            }
        }
        if let Some(kind) = self.matching {
            write!(f, ",matching={}", kind.name())?;
        }
        for (key, time_ns) in
            [("serialise", self.serialise_ns), ("transport", self.transport_ns), ("wake", self.wake_ns)]
        {
            if let Some(time_ns) = time_ns {
                write!(f, ",{key}={}", Time(time_ns))?;
            }
        }
        for (key, clock) in [("clock", self.clock), ("reception-clock", self.reception_clock)] {
            if let Some(OtherClock { offset_ns, error_ns }) = clock {
                write!(f, ",{key}={}:{}", Time(offset_ns), Time(error_ns))?;
            }
        }
        for (key, is_set) in self.words() {
            if is_set {
                write!(f, ",{key}")?;
            }
        }
        match self.daemon {
            None => {}
            Some(MockDaemon::Lives) => f.write_str(",daemon")?,
            Some(MockDaemon::Dies(time_ns)) => write!(f, ",daemon=die:{}", Time(time_ns))?,
            Some(MockDaemon::Silent) => f.write_str(",daemon=silent")?,
            Some(MockDaemon::Exits) => f.write_str(",daemon=exit")?,
        }
        for (key, time_ns) in [("start", self.start_ns), ("report", self.report_ns)] {
            if time_ns > 0 {
                write!(f, ",{key}={}", Time(time_ns))?;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for MockScript {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MockScript> for String {
    fn from(script: MockScript) -> String {
        script.to_string()
    }
}
