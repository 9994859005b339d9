//! Groups of runs with equal settings. Each group is a row of the tables and a point of the plots.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::run::Run;
use super::settings::{EXPERIMENT, Settings, has_no_column, in_words, is_of_middleware, settings, without_message};
use crate::common::units::format_bytes;
use crate::communicator::shown_contestant;
use crate::log::figures::Figure;
use crate::measure::interval::Interval;
use perf_worker::choice::Choice;
use perf_worker::measure::cells::Cells;
use perf_worker::run_spec::RunSpec;

/// Runs with equal settings.
#[derive(Debug)]
pub struct Group<'a> {
    /// The runs of the group, ordered by the names of their logs.
    pub runs: Vec<&'a Run>,
    /// The settings that all runs of the group share.
    pub settings: Settings,
    /// The index of the group's curve in the plots over message size.
    pub series: usize,
    /// The merged latency histogram of all runs without a fault.
    pub cells: Cells,
}

impl<'a> Group<'a> {
    fn new(settings: Settings, runs: Vec<&'a Run>) -> Group<'a> {
        let mut cells = Cells::default();
        runs.iter().filter(|run| run.fault.is_none()).for_each(|run| cells.merge(&run.cells));
        Group { settings, series: 0, cells, runs }
    }

    /// The runs of the group without a fault.
    pub fn good(&self) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().copied().filter(|run| run.fault.is_none())
    }

    /// The median of a figure over the runs without a fault, with its confidence interval.
    pub fn interval(&self, figure: &Figure) -> Option<Interval> {
        figure.interval(self.good().map(|run| &run.values))
    }

    /// Whether one of the runs has too few samples for a figure.
    pub fn is_uncertain(&self, figure: &Figure) -> bool {
        self.good().any(|run| run.values.get(figure).is_some() && figure.is_uncertain(run.samples))
    }

    /// The contestant, spelt as on the command line.
    pub fn contestant(&self) -> String {
        self.runs[0].contestant()
    }

    /// The name of the experiment.
    pub fn experiment(&self) -> &'a str {
        &self.runs[0].experiment
    }

    /// The options of the group's first run.
    pub fn conditions(&self) -> &'a RunSpec {
        &self.runs[0].entry.spec
    }

    /// The message type and its size, as text.
    pub fn message(&self) -> String {
        let message = &self.conditions().message;
        format!("{}, {}", message.name, format_bytes(message.bytes as u64))
    }

    /// The name and size of the message, in the form of the page's URL.
    pub fn message_key(&self) -> String {
        let message = &self.conditions().message;
        format!("{}:{}", message.name, message.bytes)
    }

    /// The values by which the page filters the row of the group and its runs.
    pub fn filtered_by(&self) -> Vec<(&'static str, String)> {
        let middleware = self.conditions().communicator.to_lowercase();
        let (message, experiment) = (self.message_key(), self.experiment().to_owned());
        vec![("middleware", middleware), ("message", message), ("experiment", experiment)]
    }
}

/// A curve in the plots over message size. Its groups have the same settings except the message.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// The contestant, with the settings that distinguish it from the contestant's other curves in the experiment.
    pub label: String,
    /// The middleware in lower case.
    pub middleware: String,
    /// The name of the experiment.
    pub experiment: String,
    /// The index of the curve among the middleware's curves in the experiment.
    pub variant: usize,
}

/// All groups of a folder, or of one topology.
#[derive(Debug)]
pub struct Groups<'a> {
    /// The groups, ordered by message size, then by the other options, and last by the middleware. So the contestants
    /// of one case are neighbours.
    pub groups: Vec<Group<'a>>,
    /// The curves of the plots over message size.
    pub series: Vec<Series>,
    /// The settings that are equal in all groups.
    pub common: Settings,
    /// For each experiment, by name, the settings that are equal in all its groups.
    of_experiments: BTreeMap<String, Settings>,
}

impl<'a> Groups<'a> {
    /// Groups the runs by their settings.
    pub fn new(runs: impl IntoIterator<Item = &'a Run>) -> Groups<'a> {
        let mut by_settings: BTreeMap<Settings, Vec<&Run>> = BTreeMap::new();
        for run in runs {
            by_settings.entry(settings(run)).or_default().push(run);
        }
        let mut groups: Vec<Group> = by_settings.into_iter().map(|(key, runs)| Group::new(key, runs)).collect();
        groups.sort_by_cached_key(|group| {
            let spec = group.conditions();
            let of_message = (spec.message.bytes, spec.message.name.clone(), spec.rate_hz, spec.wait.name());
            let contestant = (group.contestant().to_lowercase(), spec.executor.clone());
            (of_message, contestant, spec.zero_copy, group.settings.clone())
        });
        let series = name_series(&mut groups);
        let mut by_experiment: BTreeMap<String, Vec<&Group>> = BTreeMap::new();
        for group in &groups {
            by_experiment.entry(group.experiment().to_owned()).or_default().push(group);
        }
        let of_experiments = by_experiment.into_iter().map(|(name, groups)| (name, common(&groups))).collect();
        let common = common(&groups.iter().collect::<Vec<_>>());
        Groups { groups, series, common, of_experiments }
    }

    /// The topologies, each with the groups of its runs, ordered by name.
    pub fn of_topologies(runs: &'a [Run]) -> Vec<(&'a str, Groups<'a>)> {
        let mut by_name: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        runs.iter().for_each(|run| by_name.entry(&run.entry.spec.topic).or_default().push(run));
        by_name.into_iter().map(|(name, runs)| (name, Groups::new(runs))).collect()
    }

    /// The names of the experiments.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.of_experiments.keys().map(String::as_str)
    }

    /// The settings of a group as text, the middleware's settings first. Settings with their own column, and settings
    /// that are equal in the whole experiment, are left out. If there are several experiments, the text ends with the
    /// name of the experiment.
    pub fn settings_in_words(&self, group: &Group) -> String {
        let of_middleware = group.settings.iter().filter(|(name, _)| is_of_middleware(name));
        let common = self.of_experiments.get(group.experiment());
        let is_common = |name: &String| common.is_some_and(|common| common.contains_key(name));
        let differing = group.settings.iter().filter(|(name, _)| has_no_column(name) && !is_common(name));
        let experiment = group.settings.get_key_value(EXPERIMENT).filter(|_| self.of_experiments.len() > 1);
        let all = of_middleware.chain(differing).chain(experiment);
        all.map(|(name, value)| in_words(name, value)).collect::<Vec<String>>().join(", ")
    }
}

/// The settings that are equal in all groups.
fn common(groups: &[&Group]) -> Settings {
    let mut common = groups.first().map(|group| group.settings.clone()).unwrap_or_default();
    common.retain(|name, value| groups.iter().all(|group| group.settings.get(name) == Some(value)));
    common
}

/// Assigns each group to a curve over message size by its field `series`. Returns the curves.
fn name_series(groups: &mut [Group]) -> Vec<Series> {
    let line_of = |group: &Group| {
        let middleware = group.conditions().communicator.clone();
        (group.experiment().to_owned(), middleware, group.contestant(), without_message(&group.settings))
    };
    let lines: Vec<_> = groups.iter().map(line_of).collect::<BTreeSet<_>>().into_iter().collect();
    for group in groups {
        group.series = lines.binary_search(&line_of(group)).unwrap_or_default();
    }
    let series =
        |(index, (experiment, middleware, contestant, settings)): (usize, &(String, String, String, Settings))| {
            let alike: Vec<&Settings> = lines
                .iter()
                .filter(|line| line.0 == *experiment && line.2 == *contestant)
                .map(|line| &line.3)
                .collect();
            let differing =
                settings.iter().filter(|(name, value)| alike.iter().any(|other| other.get(*name) != Some(value)));
            let words = differing.map(|(name, value)| in_words(name, value));
            let before = lines.iter().take(index).filter(|line| line.0 == *experiment && line.1 == *middleware);
            Series {
                label: std::iter::once(shown_contestant(contestant)).chain(words).collect::<Vec<String>>().join(", "),
                middleware: middleware.to_lowercase(),
                experiment: experiment.clone(),
                variant: before.count(),
            }
        };
    lines.iter().enumerate().map(series).collect()
}
