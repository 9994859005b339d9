//! The QoS in a liveliness token: a text of numbers. A number is left out if it is the default.

use gantry::{Durability, History, Liveliness, Qos, Reliability};
use std::{fmt::Write, time::Duration};

const DEFAULT_DEPTH: u32 = 42;
/// The largest history depth in Gantry.
const MAX_DEPTH: u64 = 1_000_000;
const INFINITE_S: u64 = 9_223_372_036;
const INFINITE_NS: u64 = 854_775_807;

const BEST_EFFORT: u64 = 2;
const TRANSIENT_LOCAL: u64 = 1;
const KEEP_ALL: u64 = 2;
const MANUAL_BY_TOPIC: u64 = 3;

/// Converts a QoS to its text in a token.
pub fn encode(qos: &Qos) -> String {
    let mut text = String::new();
    if qos.reliability == Reliability::BestEffort {
        push(&mut text, BEST_EFFORT);
    }
    text.push(':');
    if qos.durability == Durability::TransientLocal {
        push(&mut text, TRANSIENT_LOCAL);
    }
    text.push(':');
    match qos.history {
        History::KeepAll => text.push_str("2,"),
        History::KeepLast => {
            text.push(',');
            if qos.depth != DEFAULT_DEPTH {
                push(&mut text, qos.depth.into());
            }
        }
    }
    text.push(':');
    push_duration(&mut text, qos.deadline);
    text.push(':');
    push_duration(&mut text, qos.lifespan);
    text.push(':');
    if qos.liveliness == Liveliness::ManualByTopic {
        push(&mut text, MANUAL_BY_TOPIC);
    }
    text.push(',');
    push_duration(&mut text, qos.liveliness_lease_duration);
    text
}

fn push(text: &mut String, number: u64) {
    let _ = write!(text, "{number}"); // a write to a `String` cannot fail
}

fn push_duration(text: &mut String, duration: Option<Duration>) {
    match duration {
        None => text.push(','),
        Some(duration) => {
            let _ = write!(text, "{},{}", duration.as_secs(), duration.subsec_nanos());
        }
    }
}

/// Parses the QoS in a token; `None` if the text is malformed.
pub fn decode(text: &str) -> Option<Qos> {
    let mut parts = text.split(':');
    let mut part = || parts.next();
    let (reliability, durability, history) = (part()?, part()?, part()?);
    let (deadline, lifespan, liveliness) = (part()?, part()?, part()?);
    let (history, depth) = history.split_once(',')?;
    let (liveliness, lease) = liveliness.split_once(',')?;
    if part().is_some() {
        return None;
    }
    Some(Qos {
        reliability: match number(reliability, 1)? {
            BEST_EFFORT => Reliability::BestEffort,
            0..=4 => Reliability::Reliable,
            _ => return None,
        },
        durability: match number(durability, 2)? {
            TRANSIENT_LOCAL => Durability::TransientLocal,
            0..=4 => Durability::Volatile,
            _ => return None,
        },
        history: match number(history, 1)? {
            KEEP_ALL => History::KeepAll,
            0..=3 => History::KeepLast,
            _ => return None,
        },
        depth: match number(depth, DEFAULT_DEPTH.into())? {
            0 => DEFAULT_DEPTH,
            depth => depth.min(MAX_DEPTH) as u32,
        },
        deadline: decode_duration(deadline)?,
        lifespan: decode_duration(lifespan)?,
        liveliness: match number(liveliness, 1)? {
            MANUAL_BY_TOPIC => Liveliness::ManualByTopic,
            0 | 1 | 4 | 5 => Liveliness::Automatic,
            _ => return None,
        },
        liveliness_lease_duration: decode_duration(lease)?,
        avoid_ros_namespace_conventions: false,
    })
}

fn number(text: &str, default: u64) -> Option<u64> {
    match text {
        "" => Some(default),
        // The digits are checked because `parse` also accepts a sign.
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Parses a duration. `Some(None)` means no limit; zero, which is ROS 2's value for "unspecified", also means no limit.
/// `None` if the text is malformed.
fn decode_duration(text: &str) -> Option<Option<Duration>> {
    let (seconds, nanoseconds) = text.split_once(',')?;
    let (seconds, nanoseconds) = (number(seconds, INFINITE_S)?, number(nanoseconds, INFINITE_NS)?);
    let duration = Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanoseconds));
    let is_limit = seconds < INFINITE_S && duration != Duration::ZERO;
    Some(is_limit.then_some(duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manual() -> Qos {
        let lease = Some(Duration::from_millis(500));
        Qos { liveliness: Liveliness::ManualByTopic, liveliness_lease_duration: lease, ..Qos::default() }
    }

    #[test]
    fn profiles_have_the_texts_of_rmw_zenoh() {
        let qos = Qos::default();
        for (qos, text) in [
            (qos, "::,10:,:,:,,"),
            (qos.keep_last(7), "::,7:,:,:,,"),
            (qos.keep_last(42), "::,:,:,:,,"),
            (qos.keep_last(5).best_effort(), "2::,5:,:,:,,"),
            (qos.keep_last(1).transient_local(), ":1:,1:,:,:,,"),
            (Qos { depth: 42, ..qos.keep_all() }, "::2,:,:,:,,"),
            (qos.keep_last(1000), "::,1000:,:,:,,"),
            (Qos { deadline: Some(Duration::from_millis(20)), ..qos }, "::,10:0,20000000:,:,,"),
            (Qos { lifespan: Some(Duration::from_secs(2)), ..qos }, "::,10:,:2,0:,,"),
            (manual(), "::,10:,:,:3,0,500000000"),
        ] {
            assert_eq!(encode(&qos), text);
            assert_eq!(decode(text), Some(qos), "{text}");
        }
    }

    #[test]
    fn each_qos_survives_its_text() {
        let durations = [None, Some(Duration::from_nanos(1)), Some(Duration::new(7, 854_775_807))];
        for (depth, duration) in [1, 42, 1_000_000].into_iter().zip(durations) {
            for bits in 0..8u32 {
                let mut qos = Qos { depth, deadline: duration, lifespan: duration, ..Qos::default() };
                qos = if bits & 1 == 0 { qos } else { qos.best_effort() };
                qos = if bits & 2 == 0 { qos } else { qos.transient_local() };
                qos = if bits & 4 == 0 { qos } else { Qos { depth: 42, ..qos.keep_all() } };
                assert_eq!(decode(&encode(&qos)), Some(qos));
            }
        }
    }

    #[test]
    fn unusual_numbers_are_bounded_and_other_texts_refused() {
        assert_eq!(decode("0:0:0,0:0,0:9223372036,854775807:0,,"), Some(Qos::default().keep_last(42)));
        assert_eq!(decode("::,99999999999:,:,:,,").map(|qos| qos.depth), Some(1_000_000));
        for text in [
            "",
            ":",
            "::,10:,:,:,",
            "::,10:,:,:,,:",
            "9::,:,:,:,,",
            ":9:,:,:,:,,",
            "::9,:,:,:,,",
            "::,:,:,:2,,",
            "::,-1:,:,:,,",
            "::,x:,:,:,,",
            "::,+1:,:,:,,",
            "::10:,:,:,,",
            "::,99999999999999999999999:,:,:,,",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
