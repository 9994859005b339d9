//! Parsers of values on the command line. Each error is a sentence that explains how to write the value.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::common::units::parse_ns;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{Strategy, Threshold};

/// The execution strategies of performance_test that exist only on Apex.OS.
const APEX_STRATEGIES: [&str; 3] = ["APEX_SINGLE_EXECUTOR", "APEX_EXECUTOR_PER_COMMUNICATOR", "APEX_CHAIN"];

/// Creates a parser of whole numbers within `range`.
pub fn within(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Creates a parser of the names of an enum's variants.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible_values::<T>())
        .try_map(|given| named(&given).ok_or_else(|| format!("there is no value {given}")))
}

fn named<T: Choice>(given: &str) -> Option<T> {
    T::ALL.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(given)).map(|(value, ..)| *value)
}

/// The names of an enum's variants with their meanings, for the help.
fn possible_values<T: Choice>() -> impl Iterator<Item = PossibleValue> {
    T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(meaning.trim_end_matches('.')))
}

/// The CPUs of one option. The type is a struct, because clap lets a user repeat an option whose type is `Vec`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus(pub Vec<u32>);

/// Parses CPUs from a mask: bit N stands for CPU N.
pub fn cpu_mask(text: &str) -> Result<Cpus, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let mask = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    let mask = mask.map_err(|_| {
        "give a number whose bits are CPUs 0 to 63, decimal or 0x…: 10 is CPUs 1 and 3. For higher CPUs run perf_test under `taskset -c`"
    })?;
    Ok(Cpus((0..u64::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect()))
}

/// Parses CPUs from a list of numbers separated by commas.
pub fn cpu_list(text: &str) -> Result<Cpus, String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    Ok(Cpus(numbers.map_err(|_| "give CPU numbers separated by commas, as 2,3")?))
}

/// Parses a limit of latency: percent of the period, a time, or both separated by a comma.
pub fn threshold(text: &str) -> Result<Threshold, String> {
    let mut threshold = Threshold { part_of_period: None, absolute_ns: None };
    let wrong = "give a percentage of the period, a time in us, ms or s, or both separated by a comma, as 25%,5ms";
    for part in text.split(',') {
        let twice = match part.strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = percent.parse().ok().filter(|percent| (0.0..1e6).contains(percent)).ok_or(wrong)?;
                threshold.part_of_period.replace(percent / 100.0).is_some()
            }
            None => threshold.absolute_ns.replace(parse_ns(part).ok_or(wrong)? as u64).is_some(),
        };
        if twice {
            return Err(wrong.to_owned());
        }
    }
    Ok(threshold)
}

/// The longest busy time per message, ns.
const LONGEST_WORK_NS: f64 = 1e10;

/// Parses the time for which a subscription is busy with each message. Returns nanoseconds.
pub fn work(text: &str) -> Result<i64, String> {
    let time_ns = parse_ns(text).filter(|time_ns| *time_ns <= LONGEST_WORK_NS);
    time_ns
        .map(|time_ns| time_ns as i64)
        .ok_or_else(|| "give a time of at most 10s in us, ms or s, as 100us".to_owned())
}

/// Creates the parser of an execution strategy. Its error for a strategy of Apex.OS lists the alternatives.
pub fn strategy() -> impl TypedValueParser<Value = Strategy> {
    let apex = APEX_STRATEGIES.map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(possible_values::<Strategy>().chain(apex)).try_map(|given| {
        named(&given).ok_or_else(|| {
            format!(
                "{given} is an executor of Apex.OS, which perf_test does not have: INTER_THREAD runs all endpoints on threads of one \
                 process, INTRA_THREAD on one thread"
            )
        })
    })
}

/// Parses `on` or `off`.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("give on or off".to_owned()),
    }
}

/// Parses a setting of the middleware, such as `publishing=async`.
pub fn setting(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = pair.ok_or("give a name and a value, as publishing=async")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_names_cpus_by_its_bits() {
        for (text, cpus) in [("10", vec![1, 3]), ("0xA", vec![1, 3]), ("62", vec![1, 2, 3, 4, 5]), ("0", vec![])] {
            assert_eq!(cpu_mask(text), Ok(Cpus(cpus)), "{text}");
        }
        assert_eq!(cpu_mask("0x8000000000000000"), Ok(Cpus(vec![63])));
        for text in ["", "-1", "0x", "1,3", "18446744073709551616", "CPU1"] {
            assert!(cpu_mask(text).unwrap_err().contains("10 is CPUs 1 and 3"), "{text}");
        }
    }

    #[test]
    fn a_list_keeps_its_order() {
        assert_eq!(cpu_list("3,0,3"), Ok(Cpus(vec![3, 0, 3])));
        for text in ["", "1,", "1-3", "-1", "a"] {
            assert!(cpu_list(text).unwrap_err().contains("as 2,3"), "{text}");
        }
    }

    #[test]
    fn a_busy_time_has_a_unit_and_an_end() {
        assert_eq!((work("100us"), work("0.5ms"), work("10s")), (Ok(100_000), Ok(500_000), Ok(10_000_000_000)));
        for text in ["", "5", "-1ms", "10.1s", "25%"] {
            assert!(work(text).is_err_and(|sentence| sentence.contains("as 100us")), "{text}");
        }
    }

    #[test]
    fn a_limit_is_a_part_of_the_period_a_time_or_both() {
        let limit = |part_of_period, absolute_ns| Ok(Threshold { part_of_period, absolute_ns });
        assert_eq!(threshold("25%,5ms"), limit(Some(0.25), Some(5_000_000)));
        assert_eq!(threshold("1.5s,12.5%"), limit(Some(0.125), Some(1_500_000_000)));
        assert_eq!(threshold("250us"), limit(None, Some(250_000)));
        assert_eq!(threshold("250µs"), limit(None, Some(250_000)));
        assert_eq!(threshold("100%"), limit(Some(1.0), None));
        for text in
            ["", "5", "5ms,6ms", "5%,6%", "-5ms", "-1%", "5 %", "ms", "%", "5min", "nan%", "nans", "infs", "5ms,"]
        {
            assert!(threshold(text).is_err_and(|sentence| sentence.contains("as 25%,5ms")), "{text}");
        }
    }
}
