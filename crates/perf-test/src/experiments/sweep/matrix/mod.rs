//! All combinations of lists of values, from a YAML file of performance_test or from the command line (`perf_test sweep
//! matrix` and its presets).
//!
//! Each combination becomes the command line of a single run, so options have the same meanings and errors. If a
//! middleware refuses a run, the row of the run has the reason.

mod yaml;

use std::collections::HashMap;
use std::path::Path;

use super::{
    Preset,
    combination::{COMMUNICATOR, Combination, axes, combinations},
    sizes,
    table::{table, varied},
};
use crate::{
    cli::{self, Axis, OutputOptions, RunOptions, SweepOptions, check_shared},
    common::{error::Failure, interrupt::Interrupt},
    experiments::{
        batch::{Batch, Contestant, Options, PlannedRun, RunOutcomes, contestants, file_name, refuse, value},
        results_file::{Results, ResultsFile, RunResults},
    },
    report::{outputs::Outputs, plot::curves},
};

/// The largest number of runs in a matrix. More runs would take months.
const MOST_RUNS: usize = 100_000;
/// The option for the number of repetitions of a single run.
const RUNS: &str = "runs";

/// The contestants that were already looked up, by the user's spelling. A look-up may start a worker program, so each
/// is done once.
type Known = HashMap<String, Result<Contestant, String>>;

/// Measures the combinations of a preset or of a file. Files are written only if the options give a folder of results.
///
/// # Errors
/// [`Failure::Usage`]: the file or an option is not valid, or there are too many runs.
pub fn measure(preset: &Preset, file: Option<&Path>, options: &SweepOptions) -> Result<Results, Failure> {
    let (given, rounds) = without_runs(preset, options).map_err(Failure::Usage)?;
    let runs = planned(preset, file, &given).and_then(|found| runs(preset, found, options.batch.results.is_some()));
    let runs = runs.map_err(Failure::Usage)?;
    let batch = Batch::open(options.batch.results.clone(), options.batch.again, Interrupt::install()?)?;
    let outcomes = batch.run_rounds(&runs, rounds, false, |_| Ok(()))?;
    let failure = RunOutcomes::failure(&outcomes, "no run was measured");
    let runs: Vec<RunResults> =
        runs.iter().zip(&outcomes).map(|(run, outcomes)| RunResults::new(run, outcomes)).collect();
    let finding = (preset.finding)(&runs, rounds);
    let tables = [vec![table(&runs, rounds, finding.sentences)], finding.tables].concat();
    let command = format!("sweep {}", preset.name);
    let (ratios, knees) = (finding.ratios, finding.knees);
    let file = ResultsFile { ratios, knees, ..ResultsFile::new(&command, rounds, runs, tables) };
    if let Some(folder) = batch.folder() {
        let mut others = vec![("md", file.markdown(preset.heading))];
        if !finding.charts.is_empty() {
            others.push(("svg", curves::draw(&finding.charts, sizes::LAYOUT).map_err(Failure::Measurement)?));
        }
        file.write(folder, preset.name, &others)?;
    }
    Ok(Results { lines: file.lines(), failure, ..Results::default() })
}

/// The axes from the command line, and the number of rounds. For some presets, `--runs` gives the number of rounds.
fn without_runs(preset: &Preset, options: &SweepOptions) -> Result<(Vec<Axis>, u32), String> {
    let (runs, given): (Vec<Axis>, Vec<Axis>) =
        options.axes.iter().cloned().partition(|axis| preset.has_outputs && axis.option == RUNS);
    let Some(runs) = runs.first() else { return Ok((given, options.batch.rounds)) };
    let [choice] = runs.choices.as_slice() else { return Err("--runs takes one number".to_owned()) };
    Ok((given, cli::run_options(&choice.arguments)?.time.runs.unwrap_or(1)))
}

/// All combinations in order, without duplicates.
fn planned(preset: &Preset, file: Option<&Path>, given: &[Axis]) -> Result<Vec<Combination>, String> {
    if let Some(axis) = given.iter().find(|axis| preset.is_strict && axis.option == COMMUNICATOR) {
        let names: Vec<&str> = axis.choices.iter().map(|choice| choice.shown.as_str()).collect();
        contestants(&names.join(","))?;
    }
    let experiments = match file {
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
            yaml::experiments(&text).map_err(|why| format!("{name}: {why}"))?
        }
        None => vec![(preset.axes)(given)?],
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

/// The runs of these combinations.
///
/// # Errors
/// The reason, as a sentence: an argument is not valid, or an option does not apply to a batch.
fn runs(preset: &Preset, combinations: Vec<Combination>, has_folder: bool) -> Result<Vec<PlannedRun>, String> {
    let mut known = Known::new();
    let mut found: Vec<(Combination, RunOptions)> = Vec::new();
    for combination in combinations {
        let run = parsed(&combination)?;
        let find = |spelling: &String| contestants(spelling).map(|mut found| found.swap_remove(0));
        let one = known.entry(combination.contestant.clone()).or_insert_with_key(find);
        let variants = match one {
            Ok(one) => (preset.variants)(one, &run, combination),
            Err(_) => vec![combination],
        };
        for variant in variants {
            let run = parsed(&variant)?;
            found.push((variant, run));
        }
    }
    let options: Vec<Options> = found.iter().map(|(combination, _)| combination.options()).collect();
    let varied = varied(&options.iter().collect::<Vec<_>>());
    let has_several = known.len() > 1;
    let run_of = |(combination, run)| run_of(preset, &combination, run, &varied, &known, (has_folder, has_several));
    found.into_iter().map(run_of).collect()
}

/// Parses the combination as the options of a single run.
fn parsed(combination: &Combination) -> Result<RunOptions, String> {
    let arguments = combination.arguments();
    cli::run_options(&arguments).map_err(|why| format!("{}: {why}", arguments.join(" ")))
}

/// Plans the run of a combination. Its title contains the values of the options in `varied`.
fn run_of(
    preset: &Preset,
    combination: &Combination,
    mut run: RunOptions,
    varied: &[&str],
    known: &Known,
    (has_folder, has_several): (bool, bool),
) -> Result<PlannedRun, String> {
    let one = known.get(&combination.contestant).and_then(|one| one.as_ref().ok());
    let label = one.map_or_else(|| combination.contestant.to_lowercase(), |one| one.label.clone());
    let mut outputs = Outputs::default();
    if preset.has_outputs && !has_folder {
        outputs = outputs_of(&run, has_several.then_some(&label))?;
        run.output = OutputOptions::default();
    }
    refuse(&run, &format!("sweep {}", preset.name))?;
    if run.messages.msg_list {
        return Err("--msg-list lists messages and measures none: perf_test list shows them".to_owned());
    }
    if preset.is_strict {
        check_shared(&run).map_err(|failure| failure.to_string())?;
    }
    let options = combination.options();
    let shown = |option: &&str| Some(format!(", {option} {}", value(&options, option)?));
    let shown: String = varied.iter().filter_map(shown).collect();
    let spec = match known.get(&combination.contestant) {
        Some(Ok(one)) => (preset.spec)(one, &run),
        Some(Err(sentence)) => Err(sentence.clone()),
        None => Err(format!("{label} was not found")),
    };
    let log =
        Path::new(preset.name).join(file_name(&label)).join(combination.log_name(preset.is_strict.then_some(varied)));
    let arguments = combination.arguments();
    Ok(PlannedRun { options, arguments, outputs, ..PlannedRun::new(&label, format!("{label}{shown}"), log, spec) })
}

/// The outputs of a run. The names of its logs contain `zero-copy` or `copy`. If there are several contestants, `label`
/// is the contestant, which the names also contain.
fn outputs_of(run: &RunOptions, label: Option<&String>) -> Result<Outputs, String> {
    let outputs = cli::outputs_of_several(run).map_err(|failure| failure.to_string())?;
    if outputs == Outputs::default() {
        return Ok(outputs);
    }
    let of_one = label.map_or_else(|| outputs.clone(), |label| outputs.named(&file_name(label)));
    Ok(of_one.named(if run.messages.zero_copy { "zero-copy" } else { "copy" }))
}

#[cfg(test)]
mod tests;
