//! The script of the mock: the faults and latencies of messages, from `--mock`, as `latency=2ms,lose=10,duplicate=25`.
//!
//! The plan of a worker contains it as text. *Every K-th* refers to the id of a message; the first id is 1. So the fate of a message
//! depends on its id alone. If several keys apply to one message, the first of `refuse`, `join`, `lose` and `overwrite` removes it;
//! `early` goes before `slow`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    backend::{Capabilities, DeliveryKind, MatchingKind, OtherClock},
    choice::Choice,
};

/// All keys of a script, for sentences.
pub const KEYS: &str = "latency=TIME, slow=K:TIME, early=K:TIME, lose=K, overwrite=K, duplicate=K, swap=K, corrupt=K, refuse=K, \
     stall=ID:TIME, join=ID, subscription=INDEX, match=TIME, mute=TIME, mismatch, matching=KIND, nameless, push, copy, \
     deaf, undeclared, print, daemon, daemon=die:TIME, daemon=silent, daemon=exit, \
     serialise=TIME, transport=TIME, wake=TIME, clock=OFFSET:ERROR, reception-clock=OFFSET:ERROR, wire=BYTES, device, \
     start=TIME, report=TIME; a TIME is a whole number with ns, us, ms or s";
/// The longest time, ns: beyond every bound of a run, and no sum of times overflows.
const LONGEST_NS: i64 = 1_000_000_000_000;
/// The units, the largest first.
const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];

/// A number and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The interval in messages; of a stall, the id.
    pub number: u64,
    /// The time, ns.
    pub time_ns: i64,
}

/// The daemon of a mock. Each prints a line, and says after 200 ms that it is ready, unless it exits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockDaemon {
    /// It works a little until it is ended.
    Lives,
    /// It exits this time after it was ready, ns.
    Dies(i64),
    /// It never says that it is ready.
    Silent,
    /// It exits before it is ready.
    Exits,
}

/// A script. A number of 0 means never.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MockScript {
    /// From sending to reception, ns.
    pub latency_ns: i64,
    /// Every K-th has this latency instead. It is not overtaken: later messages are delivered after it, with their own latencies.
    pub slow: Option<Timed>,
    /// Every K-th is received this time before it was sent.
    pub early: Option<Timed>,
    /// Every K-th is not delivered, without a trace.
    pub lose: u64,
    /// Every K-th is not delivered, and counted as overwritten.
    pub overwrite: u64,
    /// Every K-th is delivered twice.
    pub duplicate: u64,
    /// Every K-th is delivered after the next one of its publisher; the last message, which has no next one, is not delivered.
    pub swap: u64,
    /// Every K-th carries another payload than was written.
    pub corrupt: u64,
    /// Every K-th is refused when it is published.
    pub refuse: u64,
    /// Publishing the message of this id stalls for this time before its time of sending is read; not in a relay.
    pub stall: Option<Timed>,
    /// Messages up to this id are not delivered.
    pub join: u64,
    /// The only subscription to which the script applies, by its index; the others receive all messages after the default latency.
    pub subscription: Option<u32>,
    /// An endpoint is not matched for this time after its creation, ns.
    pub match_ns: i64,
    /// A publisher sends nothing for this time after its creation, ns, although it is matched.
    pub mute_ns: i64,
    /// An endpoint is never matched.
    pub mismatch: bool,
    /// The kind of matching that endpoints tell; as the mock is, a count.
    pub matching: Option<MatchingKind>,
    /// Subscriptions do not tell publishers apart.
    pub nameless: bool,
    /// Messages are delivered on a thread of the mock.
    pub push: bool,
    /// Messages are copied, also with zero copy.
    pub copy: bool,
    /// No setting has an effect.
    pub deaf: bool,
    /// It declares the capabilities of a mock without a script, whatever it does.
    #[serde(default)]
    pub undeclared: bool,
    /// Each message is announced on standard output.
    pub print: bool,
    /// With marked phases: from the stamp until the message was serialised, ns; not marked without it, as the next two.
    pub serialise_ns: Option<i64>,
    /// From sending to arrival, ns. The latency remains as it is: the rest of it is the wake-up, or with `wake` the deserialising.
    pub transport_ns: Option<i64>,
    /// From arrival until the bytes are in hand, ns.
    pub wake_ns: Option<i64>,
    /// The clock of the first publisher; that of the second is behind by twice the offset, and so on.
    pub clock: Option<OtherClock>,
    /// The clock of the times of reception.
    pub reception_clock: Option<OtherClock>,
    /// The bytes that each message takes on the wire.
    pub wire_bytes: u64,
    /// Each worker measures a device with known memory.
    pub device: bool,
    /// The daemon that the run starts.
    pub daemon: Option<MockDaemon>,
    /// The instrument in each worker begins this time after the order to go, ns.
    pub start_ns: i64,
    /// CPU time that the instrument itself takes in each worker for each report of a row, ns.
    pub report_ns: i64,
}

impl Default for MockScript {
    fn default() -> Self {
        MockScript {
            latency_ns: 1_000_000,
            slow: None,
            early: None,
            lose: 0,
            overwrite: 0,
            duplicate: 0,
            swap: 0,
            corrupt: 0,
            refuse: 0,
            stall: None,
            join: 0,
            subscription: None,
            match_ns: 0,
            mute_ns: 0,
            mismatch: false,
            matching: None,
            nameless: false,
            push: false,
            copy: false,
            deaf: false,
            undeclared: false,
            print: false,
            serialise_ns: None,
            transport_ns: None,
            wake_ns: None,
            clock: None,
            reception_clock: None,
            wire_bytes: 0,
            device: false,
            daemon: None,
            start_ns: 0,
            report_ns: 0,
        }
    }
}

/// Whether `id` is one of every `nth`.
#[must_use]
pub fn is_nth(id: u64, nth: u64) -> bool {
    nth > 0 && id.is_multiple_of(nth)
}

impl MockScript {
    /// From the sending of message `id` to its reception, ns.
    #[must_use]
    pub fn latency_of_ns(&self, id: u64) -> i64 {
        let of = |timed: Option<Timed>| timed.filter(|timed| is_nth(id, timed.number)).map(|timed| timed.time_ns);
        of(self.early).map(|time_ns| -time_ns).or_else(|| of(self.slow)).unwrap_or(self.latency_ns)
    }

    /// The clock of publisher `index`.
    #[must_use]
    pub fn clock_of_publisher(&self, index: u32) -> Option<OtherClock> {
        self.clock.map(|clock| OtherClock { offset_ns: clock.offset_ns * (i64::from(index) + 1), ..clock })
    }

    /// The script for subscription `index`.
    #[must_use]
    pub fn of_subscription(&self, index: u32) -> MockScript {
        let applies = self.subscription.is_none_or(|only| only == index);
        let MockScript { match_ns, mute_ns, mismatch, matching, nameless, push, copy, .. } = *self;
        let others =
            MockScript { match_ns, mute_ns, mismatch, matching, nameless, push, copy, ..MockScript::default() };
        if applies { self.clone() } else { others }
    }

    /// The capabilities that a mock with this script declares.
    #[must_use]
    pub fn limit(&self, all: Capabilities) -> Capabilities {
        if self.undeclared {
            return all;
        }
        Capabilities {
            delivery: if self.push { DeliveryKind::Push } else { all.delivery },
            services: all.services && !self.push,
            matching: self.matching.unwrap_or(all.matching),
            sources: all.sources && !self.nameless,
            ..all
        }
    }

    /// The words without a value, and whether they are given.
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

    /// Whether message `id` is lost on the way.
    #[must_use]
    pub fn loses(&self, id: u64) -> bool {
        id <= self.join || is_nth(id, self.lose)
    }
}

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

/// A time in the largest unit that leaves no fraction.
struct Time(i64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, unit_ns) = UNITS.into_iter().find(|(_, unit_ns)| self.0 % unit_ns == 0).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / unit_ns)
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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "latency=2ms,slow=7:20ms,early=9:1us,stall=50:300ms,lose=10,overwrite=11,duplicate=25,swap=13,corrupt=17,\
                       refuse=19,join=5,wire=180,subscription=0,match=200ms,mute=1ms,matching=any,serialise=0s,transport=600us,wake=3us,\
                       clock=3s:12us,reception-clock=2s:1us,mismatch,nameless,push,copy,deaf,undeclared,print,device,daemon=die:2s,\
                       start=1s,report=10ms";

    #[test]
    fn a_script_is_written_as_it_is_read() {
        for text in [
            ALL,
            "latency=0s",
            "latency=1000s",
            "latency=1ms,lose=1",
            "latency=1500us,match=1ns",
            "latency=1ms,daemon",
            "latency=1ms,daemon=silent",
            "latency=1ms,daemon=exit",
        ] {
            assert_eq!(text.parse::<MockScript>().unwrap().to_string(), text);
            let sent = serde_json::to_string(&text.parse::<MockScript>().unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<MockScript>(&sent).unwrap().to_string(), text);
        }
        assert_eq!("".parse(), Ok(MockScript::default()));
        assert_eq!(" lose=3 , latency=1ms,".parse(), Ok(MockScript { lose: 3, ..MockScript::default() }));
    }

    #[test]
    fn an_invalid_part_is_quoted_with_all_valid_keys() {
        for part in [
            "drop=3",
            "lose",
            "lose=",
            "lose=0",
            "lose=-1",
            "lose=1.5",
            "lose=18446744073709551616",
            "slow=3",
            "slow=3:",
            "slow=20ms",
            "latency=2",
            "latency=ms",
            "latency=2min",
            "latency=-2ms",
            "latency=1001s",
            "latency=99999999999999999999s",
            "latency=2µs",
            "mismatch=1",
            "matching=some",
            "push=1",
            "subscription=first",
            "clock=3s",
            "clock=-3s:1us",
            "device=1",
            "daemon=1",
        ] {
            let sentence = format!("duplicate=2,{part}").parse::<MockScript>().unwrap_err();
            assert!(sentence.contains(&format!("`{part}`")) && sentence.contains(KEYS), "{sentence}");
        }
        assert_eq!("lose=3,lose=4".parse::<MockScript>().unwrap_err(), "the script gives `lose` twice: give it once");
        for key in ALL.split(',').map(|part| part.split('=').next().unwrap()) {
            assert!(KEYS.contains(key), "{key}");
        }
    }

    #[test]
    fn every_kth_begins_with_the_kth() {
        let script: MockScript = "latency=2ms,slow=3:5ms,early=4:1us,lose=5,join=2".parse().unwrap();
        let latencies_us: Vec<i64> = (1..=8).map(|id| script.latency_of_ns(id) / 1000).collect();
        assert_eq!(latencies_us, [2000, 2000, 5000, -1, 2000, 5000, 2000, -1]);
        assert_eq!(script.latency_of_ns(12), -1000, "early goes before slow");
        let lost: Vec<u64> = (1..=11).filter(|id| script.loses(*id)).collect();
        assert_eq!(lost, [1, 2, 5, 10]);
    }

    #[test]
    fn a_script_may_be_for_one_subscription_alone() {
        let script: MockScript = "latency=2ms,lose=5,subscription=1,match=3s".parse().unwrap();
        assert_eq!(script.of_subscription(1), script);
        assert_eq!(script.of_subscription(0), "match=3s".parse().unwrap());
        let all: MockScript = "lose=5".parse().unwrap();
        assert_eq!(all.of_subscription(7), all);
    }
}
