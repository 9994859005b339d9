//! Requirements for a run (`--require 'p99<500us'`). With a requirement, a run can fail a CI job.
//!
//! Invariant: a requirement is not met if its value is unknown or has too few samples. So a run cannot pass by
//! measuring too little.

use std::str::FromStr;

use crate::{
    common::{
        units::{Unit, parse_ns},
        verdict::Verdict,
        warning::WarningKind,
    },
    log::{
        Summary,
        figures::{Figure, REQUIRED, Source},
    },
    measure::percentiles::PERCENTILES,
};

/// A function that compares a value with its bound.
type Comparison = fn(f64, f64) -> bool;

/// The comparison operators. An operator precedes its own prefixes (`<=` before `<`), because the first match is used.
const OPERATORS: [(&str, Comparison); 5] = [
    ("<=", |value, bound| value <= bound),
    (">=", |value, bound| value >= bound),
    ("<", |value, bound| value < bound),
    (">", |value, bound| value > bound),
    ("=", |value, bound| value == bound),
];

/// A requirement for a run.
#[derive(Clone, Debug)]
pub struct Requirement {
    text: String,
    source: Source,
    unit: Unit,
    holds: Comparison,
    bound: f64,
}

/// Requirements with the same text are equal.
impl PartialEq for Requirement {
    fn eq(&self, other: &Requirement) -> bool {
        self.text == other.text
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Requirement, String> {
        let at = text.find(['<', '>', '=']).ok_or_else(|| format!("there is no comparison. {}", available()))?;
        let (name, rest) = text.split_at(at);
        let found = OPERATORS.into_iter().find_map(|(sign, holds)| Some((holds, rest.strip_prefix(sign)?)));
        let (holds, value) = found.ok_or("write <, <=, >, >= or =")?;
        let (name, value) = (name.trim(), value.trim());
        let (source, unit) = source(name).ok_or_else(|| format!("`{name}` cannot be required. {}", available()))?;
        let bound = bound(value, unit).map_err(|how| format!("`{value}` is not a bound for {name}: {how}"))?;
        Ok(Requirement { text: text.to_owned(), source, unit, holds, bound })
    }
}

/// A sentence with the figures and units that can be required.
fn available() -> String {
    let percentiles = PERCENTILES.map(|percentile| format!("p{percentile}")).join(", ");
    let named = |figure: &&Figure| match figure.key.trim_end_matches('%').replace('_', " ") {
        key if key.eq_ignore_ascii_case(figure.name) => figure.key.to_owned(),
        _ => format!("{} ({})", figure.key, figure.name),
    };
    let figures: Vec<String> = REQUIRED.iter().map(named).collect();
    format!(
        "Available: min, mean, {percentiles}, max (latency from the stamp, as p99<500us; from the schedule: response.p99<1ms; lateness of \
         sending: lateness.p99<1ms), {}; with <, <=, >, >= or =; times in ns, us, ms or s, memory in KiB or MiB, CPU in % of one core",
        figures.join(", ")
    )
}

/// The source of a figure in a run's summary, and the unit of the figure.
fn source(name: &str) -> Option<(Source, Unit)> {
    // Accepts the name that warnings had before version 2 of the log.
    let name = if name == "doubts" { "warnings" } else { name };
    let figure = REQUIRED.iter().find(|figure| figure.key == name).map(|figure| (figure.source, figure.unit));
    figure.or_else(|| Some((Source::of_times(name)?, Unit::Time)))
}

fn bound(text: &str, unit: Unit) -> Result<f64, &'static str> {
    let number = |text: &str| text.trim_end().parse().ok().filter(|number: &f64| number.is_finite());
    match unit {
        Unit::Time => parse_ns(text).ok_or("give a time with ns, us, ms or s, as 500us"),
        Unit::Percent | Unit::PercentOfCore => {
            number(text.strip_suffix('%').unwrap_or(text)).ok_or("give percent, as 0.1%")
        }
        Unit::Frequency => number(text.strip_suffix("Hz").unwrap_or(text)).ok_or("give a number per second, as 99.5"),
        Unit::Count | Unit::BytesPerSecond => number(text).ok_or("give a number, as 0"),
        Unit::Memory => {
            let units = [("KiB", 1.0), ("MiB", 1024.0)];
            let found = units.into_iter().find_map(|(unit, kib)| Some(number(text.strip_suffix(unit)?)? * kib));
            found.ok_or("give memory with KiB or MiB, as 64MiB")
        }
    }
}

impl Requirement {
    /// Judges a run: returns the verdict on this requirement.
    #[must_use]
    pub fn judge(&self, run: &Summary) -> Verdict {
        let unknown = |why| (false, format!("not known: {why}"));
        let (met, found) = match self.source.value(run) {
            _ if run.warnings_of(WarningKind::Worker).next().is_some() => {
                unknown("a worker exited early or failed, so no figure is complete")
            }
            None => unknown(self.source.why_unknown()),
            Some(value) => {
                let (holds, measured) = ((self.holds)(value, self.bound), shown(value, self.unit));
                match self.source.why_uncertain(run) {
                    // The uncertainty matters only if the value meets the requirement. Otherwise the requirement is not
                    // met in any case.
                    Some(why) if holds => (false, format!("{measured}, but {why}")),
                    _ => (holds, measured),
                }
            }
        };
        Verdict { requirement: self.text.clone(), met, found }
    }
}

/// A value as text, with enough digits for a comparison with its bound.
fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent | Unit::PercentOfCore => format!("{value:.4} %"),
        _ => unit.show(value),
    }
}

#[cfg(test)]
mod tests;
