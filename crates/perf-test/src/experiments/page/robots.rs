//! The runs of topologies in a folder: for each topology a table of contestants and their executors.

use std::collections::{BTreeMap, BTreeSet};

use super::run::{Ending, Run};
use super::settings::{Settings, has_no_column, in_words, is_of_middleware, of_run};
use crate::experiments::conditions::FIGURES;
use crate::log::{Log, Summary};
use crate::measure::interval::Interval;

/// The number of figures.
pub const COUNT: usize = FIGURES.len();
/// The setting that has a column here, besides those of all tables.
const EXECUTOR: &str = "executor";
/// The setting that names the middleware.
const MIDDLEWARE: &str = "communicator";

/// A run of a topology.
#[derive(Debug)]
pub struct RobotRun {
    /// As any run.
    pub run: Run,
    /// The values of [`FIGURES`]; none if it was killed.
    pub values: [Option<f64>; COUNT],
}

impl RobotRun {
    /// Of a log.
    pub fn of(log: Log, file: String) -> RobotRun {
        let value = |summary: &Summary, index: usize| FIGURES.get(index)?.value(summary);
        let values = std::array::from_fn(|index| value(log.summary.as_ref()?, index));
        RobotRun { values, run: Run::of(log, file) }
    }

    /// Its settings, the limits of late messages among them.
    fn settings(&self) -> Settings {
        let mut settings = of_run(&self.run);
        let nodes = self.run.entry.nodes.clone().unwrap_or_default();
        settings.insert("processes".to_owned(), nodes.processes);
        settings.extend(nodes.pass_by.map(|way| ("pass by".to_owned(), way)));
        settings.insert("late".to_owned(), nodes.late);
        settings
    }
}

/// Runs of a topology with equal settings.
#[derive(Debug)]
pub struct RobotGroup<'a> {
    /// The middleware.
    pub middleware: &'a str,
    /// The executor.
    pub executor: &'a str,
    /// The other settings in which the groups of the topology differ, in words.
    pub settings: String,
    /// Its runs, by the names of their logs.
    pub runs: Vec<&'a RobotRun>,
    /// The figures of its good runs, in the order of [`FIGURES`].
    pub values: [Option<Interval>; COUNT],
}

/// A topology.
#[derive(Debug)]
pub struct Robot<'a> {
    /// Its name: its files or names as they were given.
    pub name: &'a str,
    /// Its groups, by middleware and executor.
    pub groups: Vec<RobotGroup<'a>>,
}

/// The topologies of a folder, by their names.
pub fn robots(runs: &[RobotRun]) -> Vec<Robot<'_>> {
    let mut by_name: BTreeMap<&str, BTreeMap<Settings, Vec<&RobotRun>>> = BTreeMap::new();
    for run in runs {
        let of_name = by_name.entry(&run.run.entry.spec.topic).or_default();
        of_name.entry(run.settings()).or_default().push(run);
    }
    by_name.into_iter().map(|(name, groups)| Robot { name, groups: groups_of(groups) }).collect()
}

fn groups_of(by_settings: BTreeMap<Settings, Vec<&RobotRun>>) -> Vec<RobotGroup<'_>> {
    let names: BTreeSet<&String> = by_settings.keys().flat_map(Settings::keys).collect();
    let values = |name: &String| by_settings.keys().map(|of| of.get(name)).collect::<BTreeSet<_>>().len();
    // Settings of middlewares are compared among the runs of the same.
    let has_variants = |name: &String| {
        let found: BTreeSet<_> =
            by_settings.keys().filter_map(|of| Some((of.get(MIDDLEWARE)?, of.get(name)?))).collect();
        let middlewares: BTreeSet<_> = found.iter().map(|(middleware, _)| *middleware).collect();
        found.len() > middlewares.len()
    };
    let differs = |name: &&String| match name.as_str() {
        EXECUTOR => false,
        name_of if is_of_middleware(name_of) => has_variants(name),
        name_of => has_no_column(name_of) && values(name) > 1,
    };
    let differing: BTreeSet<String> = names.into_iter().filter(differs).cloned().collect();
    let words = |settings: &Settings| {
        let shown = settings.iter().filter(|(name, _)| differing.contains(*name));
        shown.map(|(name, value)| in_words(name, value)).collect::<Vec<String>>().join(", ")
    };
    let groups = by_settings.iter().map(|(settings, runs)| RobotGroup::of(words(settings), runs.clone()));
    let mut groups: Vec<RobotGroup<'_>> = groups.flatten().collect();
    groups.sort_by_cached_key(|group| {
        (group.middleware.to_lowercase(), group.executor.to_owned(), group.settings.clone())
    });
    groups
}

impl<'a> RobotGroup<'a> {
    fn of(settings: String, runs: Vec<&'a RobotRun>) -> Option<RobotGroup<'a>> {
        let spec = &runs.first()?.run.entry.spec;
        let good = || runs.iter().filter(|run| run.run.ending == Ending::Good);
        let value = |run: &&&RobotRun, index: usize| run.values.get(index).copied().flatten();
        let values = std::array::from_fn(|index| Interval::of(good().filter_map(|run| value(&run, index)).collect()));
        let executor = spec.executor.as_deref().unwrap_or_default();
        Some(RobotGroup { middleware: &spec.communicator, executor, settings, values, runs })
    }

    /// Its runs that measured.
    pub fn good(&self) -> usize {
        self.runs.iter().filter(|run| run.run.ending == Ending::Good).count()
    }

    /// Its names in a plot.
    pub fn label(&self) -> String {
        let parts = [self.middleware, self.executor, &self.settings];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join(", ")
    }
}
