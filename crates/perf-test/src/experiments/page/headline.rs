//! The sentences at the top of the page. Each says how much faster a contestant is than others, with intervals.
//!
//! The sentences use the ratios of the experiment's results file if there is one, because these compare runs of the
//! same round. Otherwise they compare the medians of two groups, whose runs belong to no common round. Baselines such
//! as `memcpy` are no middlewares, so they are in no sentence.

use super::folder::Folder;
use super::group::{Group, Groups};
use crate::common::distinct;
use crate::common::units::format_bytes;
use crate::communicator::is_baseline;
use crate::experiments::results_file::{BETTER, NO_DIFFERENCE, Ratio, TOO_FEW_ROUNDS, WORSE};
use crate::log::figures::P50;
use crate::measure::interval::Interval;
use crate::measure::ranks::ratio_of_groups;

/// The contestant with which others are compared if there is no results file.
const BASE: &str = "gantry";
/// The settings that must be equal for a comparison of two latencies.
const ALIKE: [&str; 2] = ["rate_hz", "execution_strategy"];
/// The number of names that a sentence lists at most. The number of further names is given instead.
const MOST_NAMES: usize = 4;

/// A sentence at the top of the page.
#[derive(Debug)]
pub struct Headline {
    /// The name of the experiment.
    pub experiment: String,
    /// The sentence.
    pub sentence: String,
    /// Whether the ratios compare runs of the same round. This is so for ratios from a results file.
    pub is_paired: bool,
}

/// The sentences of a folder. In each experiment, the sentence about the largest message comes first.
pub fn headlines(folder: &Folder, groups: &Groups) -> Vec<Headline> {
    let of = |experiment: &str, ratios: &[Ratio], is_paired| {
        let sentences = sentences(ratios).into_iter();
        sentences
            .map(|sentence| Headline { experiment: experiment.to_owned(), sentence, is_paired })
            .collect::<Vec<_>>()
    };
    let of_file = |(file, ratios): &(String, Vec<Ratio>)| of(&folder.experiments.folder(file), ratios, true);
    let mut found: Vec<Headline> = folder.ratios.iter().flat_map(of_file).collect();
    for experiment in groups.experiments() {
        if !found.iter().any(|headline| headline.experiment == experiment) {
            found.extend(of(experiment, &unpaired(groups, experiment).unwrap_or_default(), false));
        }
    }
    found
}

/// The sentences for these ratios, one for each case and base.
fn sentences(ratios: &[Ratio]) -> Vec<String> {
    let latencies: Vec<&Ratio> =
        ratios.iter().filter(|ratio| ratio.figure == "latency" && !ratio.has_baseline()).collect();
    let mut keys = distinct(latencies.iter().map(|ratio| (&ratio.case, &ratio.base)));
    let cases: Vec<&Option<String>> = keys.iter().map(|(case, _)| *case).collect();
    keys.sort_by_key(|(case, _)| cases.iter().position(|other| other == case));
    let of_key = |key| sentence(latencies.iter().copied().filter(|ratio| (&ratio.case, &ratio.base) == key).collect());
    keys.into_iter().filter_map(of_key).collect()
}

/// The ratios for the largest message of an experiment without a results file. Of each contestant, the settings with
/// the lowest latency are used; the settings in [`ALIKE`] must equal the base's.
fn unpaired(groups: &Groups, experiment: &str) -> Option<Vec<Ratio>> {
    let p50 = |group: &&Group| group.interval(&P50).map(|found| found.median);
    let is_middleware = |group: &Group| group.experiment() == experiment && !is_baseline(&group.contestant());
    let known = || groups.groups.iter().filter(|group| is_middleware(group) && p50(group).is_some());
    let largest = known().map(|group| group.conditions().message.bytes).max()?;
    let mut sorted: Vec<&Group> = known().filter(|group| group.conditions().message.bytes == largest).collect();
    sorted.sort_by(|one, other| p50(one).unwrap_or(f64::MAX).total_cmp(&p50(other).unwrap_or(f64::MAX)));
    let is_base = |group: &&&Group| group.conditions().communicator.to_lowercase() == BASE;
    let base = *sorted.iter().find(is_base).or(sorted.first())?;
    let is_alike = |group: &Group| ALIKE.iter().all(|name| group.settings.get(*name) == base.settings.get(*name));
    let mut fastest = vec![base];
    for group in sorted {
        let is_new = |other: &&Group| other.conditions().communicator != group.conditions().communicator;
        if is_alike(group) && fastest.iter().all(is_new) {
            fastest.push(group);
        }
    }
    let latencies = |group: &Group| group.good().filter_map(|run| run.values.get(&P50)).collect::<Vec<f64>>();
    let case = format!("{} messages", format_bytes(largest as u64));
    let ratio = |other: &&Group| {
        let (interval, _) = ratio_of_groups(&latencies(other), &latencies(base))?;
        Some(Ratio::of_interval(&base.contestant(), &other.contestant(), Some(&case), "latency", interval))
    };
    Some(fastest.iter().skip(1).filter_map(ratio).collect())
}

/// The factor by which the faster contestant is faster, with its interval, as text.
fn factor(ratio: &Ratio) -> String {
    let Interval { median, low, high, .. } = ratio.interval;
    let of_slower = [1.0 / median, 1.0 / high, 1.0 / low];
    let [median, low, high] = if median < 1.0 { of_slower } else { [median, low, high] }.map(digits);
    format!("{median} × [{low}, {high}]")
}

/// The sentence about the ratios of one base; `None` if there are none.
fn sentence(mut ratios: Vec<&Ratio>) -> Option<String> {
    ratios.sort_by(|one, other| other.interval.median.total_cmp(&one.interval.median));
    let Ratio { case, base, .. } = ratios.first()?;
    let of = |finding: &'static str| ratios.iter().copied().filter(move |ratio| ratio.base_is == finding);
    let mut parts = Vec::new();
    let slower: Vec<&Ratio> = of(BETTER).collect();
    if let Some(nearest) = slower.first() {
        let rest = match slower.len() - 1 {
            0 => String::new(),
            1 => format!(", and faster than {}", slower[1].other),
            count => format!(", and faster than {count} others"),
        };
        parts.push(format!("{base} is {} faster than {}{rest}", factor(nearest), nearest.other));
    }
    parts.extend(of(WORSE).map(|ratio| format!("{} is {} faster than {base}", ratio.other, factor(ratio))));
    let names = |finding| list(of(finding).map(|ratio| ratio.other.as_str()));
    parts.extend(names(NO_DIFFERENCE).map(|names| format!("no difference to {names} is shown")));
    parts.extend(names(TOO_FEW_ROUNDS).map(|names| format!("too few runs to say more of {base} beside {names}")));
    let case = case.as_ref().map_or(String::new(), |case| format!("{case}: "));
    Some(format!("{case}{}.", parts.join("; ")))
}

/// The names as a list in words; `None` if there are no names.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => None,
        [name] => Some((*name).to_owned()),
        [first @ .., last] if names.len() <= MOST_NAMES => Some(format!("{} and {last}", first.join(", "))),
        names => Some(format!("{} and {} others", names[..MOST_NAMES - 1].join(", "), names.len() + 1 - MOST_NAMES)),
    }
}

/// A factor as text, with two or three digits.
fn digits(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.2}") } else { format!("{factor:.0}") }
}
