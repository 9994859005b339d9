//! The sentences at the head of the page: each says how much faster a contestant is than the others, with intervals.
//!
//! The ratios in a file of results are paired by rounds, and the tables of the page have the same ones. An experiment
//! without such a file has the ratio of two groups that are not paired.

use super::folder::Folder;
use super::group::{Group, Groups};
use super::settings::size;
use crate::experiments::results_file::{Ratio, TOO_FEW_ROUNDS};
use crate::measure::interval::{CONFIDENCE, Interval};
use crate::measure::ranks::ratio_of_groups;

/// The contestant with which the others are compared, if no file of results names one.
const BASE: &str = "gantry";
/// The settings that contestants share if their latencies are compared.
const ALIKE: [&str; 2] = ["rate_hz", "execution_strategy"];
/// Names in a list before the rest is counted.
const MOST_NAMES: usize = 4;

/// A sentence.
#[derive(Debug)]
pub struct Headline {
    /// The experiment.
    pub experiment: String,
    /// The sentence.
    pub sentence: String,
    /// Whether a file of results has its ratios.
    pub is_paired: bool,
}

/// Another contestant beside the base.
struct Beside {
    name: String,
    /// The other's latency divided by the base's.
    times: f64,
    low: f64,
    high: f64,
    /// Whether there are enough runs to say more.
    is_enough: bool,
}

impl Beside {
    /// The factor with its interval, for the contestant that is the faster one.
    fn factor(&self) -> String {
        let [median, low, high] = match self.times < 1.0 {
            true => [1.0 / self.times, 1.0 / self.high, 1.0 / self.low],
            false => [self.times, self.low, self.high],
        };
        format!("{} × [{}, {}]", digits(median), digits(low), digits(high))
    }

    fn is_slower(&self) -> bool {
        self.is_enough && self.low > 1.0
    }

    fn is_faster(&self) -> bool {
        self.is_enough && self.high < 1.0
    }
}

/// The sentences of a folder, the largest message of each experiment first.
pub fn headlines(folder: &Folder, groups: &Groups) -> Vec<Headline> {
    let of_file = |(file, ratios): &(String, Vec<Ratio>)| {
        let experiment = folder.experiments.of(file);
        paired(ratios).into_iter().map(move |sentence| (experiment.clone(), sentence)).collect::<Vec<_>>()
    };
    let mut found: Vec<Headline> = folder
        .ratios
        .iter()
        .flat_map(of_file)
        .map(|(experiment, sentence)| Headline { experiment, sentence, is_paired: true })
        .collect();
    for experiment in experiments(groups) {
        if !found.iter().any(|headline| headline.experiment == experiment) {
            let sentence = unpaired(groups, &experiment);
            found.extend(sentence.map(|sentence| Headline { experiment, sentence, is_paired: false }));
        }
    }
    found
}

/// The experiments of all groups.
pub fn experiments(groups: &Groups) -> Vec<String> {
    let mut names: Vec<String> = groups.groups.iter().map(|group| group.experiment().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// A sentence for each case and each base of a file of results.
fn paired(ratios: &[Ratio]) -> Vec<String> {
    let latencies: Vec<&Ratio> = ratios.iter().filter(|ratio| ratio.figure == "latency").collect();
    let mut keys: Vec<(Option<&str>, &str)> = Vec::new();
    for ratio in &latencies {
        let key = (ratio.case.as_deref(), ratio.base.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let cases: Vec<Option<&str>> = keys.iter().map(|(case, _)| *case).collect();
    keys.sort_by_key(|(case, _)| cases.iter().position(|other| other == case));
    let of_key = |(case, base): (Option<&str>, &str)| {
        let of_base = latencies.iter().filter(|ratio| ratio.case.as_deref() == case && ratio.base == base);
        let others: Vec<Beside> = of_base.map(|ratio| beside(ratio)).collect();
        sentence(case.unwrap_or_default(), base, others)
    };
    keys.into_iter().filter_map(of_key).collect()
}

fn beside(ratio: &Ratio) -> Beside {
    let Interval { median, low, high, .. } = ratio.interval;
    Beside {
        name: ratio.other.clone(),
        times: 1.0 / median,
        low: 1.0 / high,
        high: 1.0 / low,
        is_enough: ratio.base_is != TOO_FEW_ROUNDS,
    }
}

/// The sentence on the largest message of an experiment. Of each contestant, the settings with the lowest latency are
/// compared, among those that are like the base's in [`ALIKE`].
fn unpaired(groups: &Groups, experiment: &str) -> Option<String> {
    let of_experiment = || groups.groups.iter().filter(|group| group.experiment() == experiment);
    let largest = of_experiment().filter_map(|group| p50(group).map(|_| group.conditions().message.bytes)).max()?;
    let mut sorted: Vec<&Group> =
        of_experiment().filter(|group| group.conditions().message.bytes == largest && p50(group).is_some()).collect();
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
    let others = fastest.into_iter().skip(1).filter_map(|other| {
        let (Interval { median, low, high, confidence, .. }, _) = ratio_of_groups(&latencies(base), &latencies(other))?;
        let name = other.contestant();
        Some(Beside { name, times: median, low, high, is_enough: confidence >= CONFIDENCE })
    });
    sentence(&format!("{} messages", size(largest as u64)), &base.contestant(), others.collect())
}

fn p50(group: &Group) -> Option<f64> {
    group.values[0].map(|found| found.median)
}

fn latencies(group: &Group) -> Vec<f64> {
    group.good().filter_map(|run| run.values[0]).collect()
}

/// The sentence on a base beside the others; none without another contestant.
fn sentence(case: &str, base: &str, mut others: Vec<Beside>) -> Option<String> {
    others.sort_by(|one, other| one.times.total_cmp(&other.times));
    let mut parts = Vec::new();
    let slower: Vec<&Beside> = others.iter().filter(|other| other.is_slower()).collect();
    if let Some(nearest) = slower.first() {
        let rest = match slower.len() - 1 {
            0 => String::new(),
            1 => format!(", and faster than {}", slower[1].name),
            count => format!(", and faster than {count} others"),
        };
        parts.push(format!("{base} is {} faster than {}{rest}", nearest.factor(), nearest.name));
    }
    let faster = others.iter().filter(|other| other.is_faster());
    parts.extend(faster.map(|other| format!("{} is {} faster than {base}", other.name, other.factor())));
    let equal = others.iter().filter(|other| other.is_enough && !other.is_slower() && !other.is_faster());
    let few = others.iter().filter(|other| !other.is_enough);
    let equal = list(equal.map(|other| other.name.as_str()));
    parts.extend(equal.map(|names| format!("no difference to {names} is shown")));
    let few = list(few.map(|other| other.name.as_str()));
    parts.extend(few.map(|names| format!("too few runs to say more of {base} beside {names}")));
    let case = if case.is_empty() { String::new() } else { format!("{case}: ") };
    (!parts.is_empty()).then(|| format!("{case}{}.", parts.join("; ")))
}

/// Names as a list; none without a name.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => None,
        [name] => Some((*name).to_owned()),
        [first @ .., last] if names.len() <= MOST_NAMES => Some(format!("{} and {last}", first.join(", "))),
        names => Some(format!("{} and {} others", names[..MOST_NAMES - 1].join(", "), names.len() + 1 - MOST_NAMES)),
    }
}

/// A factor with two or three digits.
fn digits(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.2}") } else { format!("{factor:.0}") }
}
