//! A run of a plan: a single run, or a run of a topology, which may be repeated with several executors.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Condition;
use crate::{
    cli,
    common::yaml::{Node, elements, entries, is_null, line, texts},
    communicator::Communicator,
    experiments::batch::{Contestant, contestants, refuse},
    run::topology::{TopologyRun, executor_name},
};
use perf_worker::run_spec::RunSpec;

/// The default seconds of warm-up and of measurement of a single run.
const LENGTHS_S: (u32, u32) = (1, 3);
/// The first argument of a topology's run.
const TOPOLOGY: &str = "topology";

/// A run of the plan, with its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LabelledRun {
    /// The label, for example `gantry` or `robot events`.
    pub label: String,
    /// The arguments with which `perf_test` does this run alone. If it measures a topology, the first one is
    /// `topology`.
    pub arguments: Vec<String>,
}

/// A run under a condition.
#[derive(Debug)]
pub struct ResolvedRun {
    /// The options of the run, or the reason why the middleware refuses them.
    pub spec: Result<RunSpec, String>,
    /// The topology, if the run measures one.
    pub robot: Option<Arc<TopologyRun>>,
}

impl LabelledRun {
    /// Checks and completes the options of the run under a condition.
    ///
    /// # Errors
    /// The reason, as a sentence: an argument is not valid, or contradicts the condition.
    pub fn resolve(&self, condition: &Condition) -> Result<ResolvedRun, String> {
        let resolved = match self.is_topology() {
            true => self.topology(condition),
            false => self.single(condition),
        };
        resolved.map_err(|why| format!("the run {}: {why}", self.label))
    }

    fn is_topology(&self) -> bool {
        self.arguments.first().is_some_and(|first| first == TOPOLOGY)
    }

    fn topology(&self, condition: &Condition) -> Result<ResolvedRun, String> {
        let options = cli::topology_options(&self.arguments)?.ok_or("it is no topology")?;
        if !condition.pin.is_empty() {
            return Err(format!(
                "the condition {} has `pin`, which places endpoints of single runs, and a topology runs in executors: give `taskset`",
                condition.name
            ));
        }
        if options.full_logfile.is_some() || options.irobot.has_files() {
            return Err("the logs are in the folder of results: leave --full-logfile and iRobot's files out".to_owned());
        }
        if options.target.is_some() {
            return Err("conditions are compared by their logs: leave --target out".to_owned());
        }
        let robot = TopologyRun::from_options(&options)?;
        Ok(ResolvedRun { spec: Ok(robot.spec().clone()), robot: Some(Arc::new(robot)) })
    }

    fn single(&self, condition: &Condition) -> Result<ResolvedRun, String> {
        let mut arguments = self.arguments.clone();
        if !condition.pin.is_empty() {
            let cpus: Vec<String> = condition.pin.iter().map(u32::to_string).collect();
            arguments.push(format!("--pin={}", cpus.join(",")));
        }
        let mut options = cli::run_options(&arguments)?;
        refuse(&options, "conditions")?;
        let spelling = options.endpoints.communicator.take().unwrap_or_else(|| "Gantry".to_owned());
        let mut found = contestants(&spelling)?;
        let Some(contestant) = found.pop().filter(|_| found.is_empty()) else {
            return Err(format!("-c {spelling} has several contestants: give each a run with a label of its own"));
        };
        options.time.warmup = options.time.warmup.or(Some(LENGTHS_S.0));
        options.time.max_runtime = options.time.max_runtime.or(Some(LENGTHS_S.1));
        Ok(ResolvedRun { spec: Contestant::exact_spec(&contestant, &options), robot: None })
    }
}

/// Parses the runs of a plan. Errors contain the line in the file.
pub(super) fn runs(node: &Node<'_>) -> Result<Vec<LabelledRun>, String> {
    let run = |(label, value): (String, &Node<'_>)| {
        let line = line(value);
        let words = |(text, _): (String, usize)| match elements(value) {
            Some(_) => vec![text],
            None => text.split_whitespace().map(str::to_owned).collect(),
        };
        let given = if is_null(value) { Some(Vec::new()) } else { texts(value) };
        let arguments = given.map(|texts| texts.into_iter().flat_map(words).collect());
        let arguments = arguments.ok_or_else(|| {
            format!("line {line}: the run {label} must be arguments of perf_test, as `-m Array1k -r 1000` or `topology cedar`")
        })?;
        let run = LabelledRun { label, arguments };
        let resolved = run.resolve(&Condition::default()).map_err(|why| format!("line {line}: {why}"))?;
        resolved.spec.map_err(|why| format!("line {line}: the run {}: {why}", run.label))?;
        Ok(run)
    };
    entries(node, "`runs`")?.into_iter().map(run).collect()
}

/// Parses the executors of a plan.
pub(super) fn executors(node: &Node<'_>) -> Result<Vec<String>, String> {
    let names = elements(node).and_then(|_| texts(node)).filter(|names| !names.is_empty());
    let wrong = || format!("line {}: `executors` must be a list of names, as `[single, events]`", line(node));
    Ok(names.ok_or_else(wrong)?.into_iter().map(|(name, _)| name).collect())
}

/// Repeats each run of a topology with each of `executors` that its middleware has. Single runs are not changed. Adds a
/// sentence to `notes` for each executor that a middleware does not have.
pub(super) fn in_executors(
    runs: Vec<LabelledRun>,
    executors: &[String],
    notes: &mut Vec<String>,
) -> Result<Vec<LabelledRun>, String> {
    if !runs.is_empty() && !runs.iter().any(LabelledRun::is_topology) {
        return Err("`executors` apply to runs of topologies, as `robot: topology cedar`: leave them out".to_owned());
    }
    let mut all = Vec::new();
    for run in runs {
        if !run.is_topology() {
            all.push(run);
            continue;
        }
        let label = &run.label;
        let options = cli::topology_options(&run.arguments)?.ok_or("it is no topology")?;
        if options.executor.is_some() {
            return Err(format!("the run {label} has -x, and the plan has `executors`: leave one of them out"));
        }
        let middleware = Communicator::find(&options.communicator)?;
        let has = middleware.describe()?.capabilities.executors;
        let (own, lacking): (Vec<&String>, Vec<&String>) =
            executors.iter().partition(|executor| has.iter().any(|name| name == executor_name(executor)));
        let known = has.join(", ");
        if own.is_empty() {
            let name = &middleware.name;
            return Err(format!(
                "the run {label}: {name} has none of the `executors`: it has {known}: add one of them"
            ));
        }
        let lack = |executor| format!("{label}: not in executor {executor}: {} has {known}", middleware.name);
        notes.extend(lacking.into_iter().map(lack));
        all.extend(own.into_iter().map(|executor| {
            let arguments = [run.arguments.clone(), vec!["-x".to_owned(), executor.clone()]].concat();
            LabelledRun { label: format!("{label} {executor}"), arguments }
        }));
    }
    let is_used = |executor: &String| all.iter().any(|run| run.arguments.last() == Some(executor));
    match executors.iter().find(|executor| !is_used(executor)) {
        Some(executor) => Err(format!("`executors`: no middleware of the runs has `{executor}`: {}", notes.join("; "))),
        None => Ok(all),
    }
}
