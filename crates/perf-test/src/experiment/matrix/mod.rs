//! Every combination of lists of values, from performance_test's YAML or from the command line (`perf_test experiment
//! matrix`).
//!
//! A matrix is a list of argument vectors. Each is parsed as the command line of a single run, so errors and meanings
//! are the same; a run that its middleware refuses is a row that says so.

mod text;
mod yaml;

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use super::{Cell, Kind, Results, folder, run_rounds};
use crate::{
    batch::{ALL, Batch, Contestant, contestants, file_name, refuse},
    cli::{self, Axis, Choice, MatrixOptions},
    error::Failure,
    interrupt::Interrupt,
    report::outputs::Outputs,
};

/// The format of `matrix.json`.
const SCHEMA: &str = "gantry.perf_test.matrix/1";
/// Seconds of warm-up and of measurement without a file.
const LENGTHS: [(&str, &str); 2] = [("warmup", "1"), ("max-runtime", "3")];
const COMMUNICATOR: &str = "communicator";
/// Switches, and the options whose value they are.
const SWITCHES: [(&str, &str); 3] =
    [("reliable", "reliability"), ("transient", "durability"), ("keep-last", "history")];
/// The most runs of a matrix: months of measurement.
const MOST_RUNS: usize = 100_000;
/// The longest name of a log before its suffix, of the 255 bytes that file systems have.
const LONGEST_NAME: usize = 180;

/// The options of a run by their long names, with their values as they are shown.
type Options = Vec<(String, String)>;

/// The contestants by their spellings. Each is found once: that may start its worker program, which describes itself.
type Known = HashMap<String, Result<Contestant, String>>;

/// The results; serialises as `matrix.json`.
#[derive(Debug, Serialize)]
struct Matrix {
    schema: &'static str,
    rounds: u32,
    runs: Vec<Row>,
}

/// A run and its results.
#[derive(Debug, Serialize)]
struct Row {
    /// The contestant as it is spelt.
    contestant: String,
    /// Its options by their long names, as they are shown.
    options: Options,
    /// The arguments of the same single run, without `-c`.
    arguments: Vec<String>,
    #[serde(flatten)]
    cell: Cell,
}

/// A combination: one choice of each axis.
#[derive(Debug, PartialEq, Eq)]
struct Combination {
    contestant: String,
    options: Options,
    arguments: Vec<String>,
}

/// Measures; without a folder of results the figures are kept in no file.
///
/// # Errors
/// [`Failure::Usage`]: the file or an option is wrong, or there are too many runs.
pub fn measure(options: &MatrixOptions) -> Result<Results, Failure> {
    let combinations = planned(options).map_err(Failure::Usage)?;
    let varied = text::varied(&combinations.iter().map(|one| &one.options).collect::<Vec<_>>());
    let mut known = Known::new();
    let kinds: Result<Vec<Kind>, String> = combinations.iter().map(|one| one.kind(&varied, &mut known)).collect();
    let kinds = kinds.map_err(Failure::Usage)?;
    let batch = Batch::open(options.batch.results.clone(), options.batch.again, Interrupt::install()?)?;
    let (cells, end) = run_rounds(&batch, &kinds, options.batch.rounds)?;
    let row = |(combination, cell): (Combination, Cell)| {
        let Combination { contestant, options, arguments } = combination;
        Row { contestant, options, arguments, cell }
    };
    let runs = combinations.into_iter().zip(cells).map(row).collect();
    let found = Matrix { schema: SCHEMA, rounds: options.batch.rounds, runs };
    let results = Results { heading: "Every combination", tables: vec![found.table()], end };
    results.write(&batch, "matrix", &found)?;
    Ok(results)
}

/// All combinations in order, each once.
fn planned(options: &MatrixOptions) -> Result<Vec<Combination>, String> {
    let given = &options.axes;
    let experiments = match &options.file {
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
            yaml::experiments(&text).map_err(|why| format!("{name}: {why}"))?
        }
        None => vec![LENGTHS.map(|(option, value)| Axis::of_values(option, [value.to_owned()])).into()],
    };
    let mut found: Vec<Combination> = Vec::new();
    for experiment in experiments {
        let axes = axes(experiment, given)?;
        let count = axes.iter().map(|axis| axis.choices.len()).try_fold(found.len().max(1), usize::checked_mul);
        if count.is_none_or(|count| count > MOST_RUNS) {
            return Err(format!("these lists have more than {MOST_RUNS} combinations: give fewer values"));
        }
        for combination in combinations(&axes) {
            if !found.contains(&combination) {
                found.push(combination);
            }
        }
    }
    Ok(found)
}

/// The axes of an experiment with those of the command line, which replace its own. Contestants vary fastest, so that a
/// slow change of the machine concerns all.
fn axes(experiment: Vec<Axis>, given: &[Axis]) -> Result<Vec<Axis>, String> {
    if let Some(Axis { option, .. }) = given.iter().find(|axis| axis.choices.is_empty()) {
        return Err(format!("--{option} has no value: give one, or several with commas between them"));
    }
    let is_replaced = |axis: &Axis| {
        given.iter().any(|other| {
            other.option == axis.option || SWITCHES.contains(&(other.option.as_str(), axis.option.as_str()))
        })
    };
    let kept = experiment.into_iter().filter(|axis| !is_replaced(axis));
    let (mut last, mut axes): (Vec<Axis>, Vec<Axis>) =
        kept.chain(given.iter().cloned()).partition(|axis| axis.option == COMMUNICATOR);
    let names = last.pop().map_or_else(
        || vec!["Gantry".to_owned()],
        |axis| axis.choices.into_iter().map(|choice| choice.shown).collect(),
    );
    let mut all = Vec::new();
    for name in names {
        if name.eq_ignore_ascii_case(ALL) {
            all.extend(contestants(ALL)?.into_iter().map(|contestant| contestant.label));
        } else {
            all.push(name);
        }
    }
    axes.push(Axis::of_values(COMMUNICATOR, all));
    Ok(axes)
}

/// Every combination of one choice of each axis; the last axis varies fastest.
fn combinations(axes: &[Axis]) -> Vec<Combination> {
    let mut all: Vec<Vec<(&Axis, &Choice)>> = vec![Vec::new()];
    for axis in axes {
        let mut longer = Vec::new();
        for one in &all {
            longer.extend(axis.choices.iter().map(|choice| [one.as_slice(), &[(axis, choice)]].concat()));
        }
        all = longer;
    }
    all.iter().map(|choices| Combination::of(choices)).collect()
}

impl Combination {
    fn of(choices: &[(&Axis, &Choice)]) -> Combination {
        let of_run = || choices.iter().filter(|(axis, _)| axis.option != COMMUNICATOR);
        let contestant = choices.iter().find(|(axis, _)| axis.option == COMMUNICATOR);
        Combination {
            contestant: contestant.map_or_else(String::new, |(_, choice)| choice.shown.clone()),
            options: of_run().map(|(axis, choice)| (axis.option.clone(), choice.shown.clone())).collect(),
            arguments: of_run().flat_map(|(_, choice)| choice.arguments.clone()).collect(),
        }
    }

    /// Its run; `varied` are the options that its title tells.
    ///
    /// # Errors
    /// A sentence: an argument is wrong, or is that of a command that is no part of a batch.
    fn kind(&self, varied: &[&str], known: &mut Known) -> Result<Kind, String> {
        let line = self.arguments.join(" ");
        let run = cli::run_options(&self.arguments).map_err(|why| format!("{line}: {why}"))?;
        refuse(&run, "experiment matrix")?;
        if run.messages.msg_list {
            return Err("--msg-list lists messages and measures none: perf_test list shows them".to_owned());
        }
        let find = |spelling: &str| contestants(spelling).map(|mut found| found.swap_remove(0));
        let one = known.entry(self.contestant.clone()).or_insert_with_key(|spelling| find(spelling)).as_ref();
        let label = one.map_or_else(|_| self.contestant.to_lowercase(), |one| one.label.clone());
        let told = |option: &&str| Some(format!(", {option} {}", text::value(&self.options, option)?));
        let told: String = varied.iter().filter_map(told).collect();
        Ok(Kind {
            title: format!("{label}{told}"),
            log: folder("matrix", &label).join(log_name(&self.arguments)),
            contestant: label,
            outputs: Outputs::default(),
            spec: one.map_err(String::clone).and_then(|one| one.exact_spec(&run)),
        })
    }
}

/// The name of a log: the arguments, shortened to what a file system takes.
fn log_name(arguments: &[String]) -> PathBuf {
    let words: Vec<String> = arguments.iter().map(|argument| file_name(argument.trim_start_matches('-'))).collect();
    let name = words.join("_");
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    // FNV-1a: the names must be the same in every version, so that the experiment can go on.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", name.get(..LONGEST_NAME).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests;
