//! Runs without and with zero copy (`perf_test sweep zero-copy`), and the ratio between the two in each round.

use super::{
    preset::{Finding, defaults, messages_of},
    table::varied_table,
};
use crate::{
    cli::{self, Axis, Choice, RunOptions},
    experiments::{
        batch::Contestant,
        results_file::{CPU, LATENCY, Ratio, RunResults, rounds_suffix},
    },
    log::figures::{CPU_PER_MESSAGE, Figure, MEAN, P50, USAGE},
};
use perf_worker::run_spec::RunSpec;
use perf_worker_gantry::messages;

/// The default message.
const MESSAGE: &str = "Array4m";
/// The option that distinguishes the two kinds of run, and its two values. The names are from the result analysis of
/// performance_test.
const METHOD: &str = "Communication Method";
const COPY: &str = "Non-\"zero-copy\"";
const ZERO_COPY: &str = "\"zero-copy\"";

pub fn axes(given: &[Axis]) -> Result<Vec<Axis>, String> {
    if given.iter().any(|axis| axis.option == "zero-copy") {
        return Err("`sweep zero-copy` does runs with and without zero copy: leave out --zero-copy".to_owned());
    }
    let message = messages_of(given, |layout| messages::find(MESSAGE, layout, 0).into_iter().collect())?;
    let method = |shown: &str, arguments: &[&str]| Choice {
        shown: shown.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    let methods =
        Axis { option: METHOD.to_owned(), choices: vec![method(COPY, &[]), method(ZERO_COPY, &["--zero-copy"])] };
    Ok([message].into_iter().chain(defaults("100", "0", "30")).chain([methods]).collect())
}

/// The run without or with zero copy. If the contestant's settings have no zero copy, its best settings are used.
pub fn spec(contestant: &Contestant, run: &RunOptions) -> Result<RunSpec, String> {
    let zero_copy = run.messages.zero_copy;
    let mut run = run.clone();
    run.messages.zero_copy = false;
    let with = |spec: RunSpec| {
        let is_there = spec.zero_copy == zero_copy;
        if is_there { Ok(spec) } else { cli::with_zero_copy(&spec, zero_copy).map_err(|failure| failure.to_string()) }
    };
    let own = contestant.spec(&run).and_then(with);
    if zero_copy { own.or_else(|_| contestant.at_best().spec(&run).and_then(with)) } else { own }
}

/// The ratio of zero copy to copy for each contestant, and a table of resource usage with the columns of
/// performance_test.
pub fn finding(runs: &[RunResults], rounds: u32) -> Finding {
    let mut finding = Finding::default();
    for zero_copy in runs.iter().filter(|run| run.option(METHOD) == Some(ZERO_COPY)) {
        let Some(copy) = runs.iter().find(|run| is_pair(run, zero_copy)) else { continue };
        if copy.medians.is_none() || zero_copy.medians.is_none() {
            continue;
        }
        let name = &copy.contestant;
        if copy.settings != zero_copy.settings {
            // The settings differ between the two runs, so a ratio would not show the effect of zero copy alone.
            finding.sentences.push(format!(
                "{name}: no ratio, because it has zero copy with its best settings only; see {name}:best"
            ));
            continue;
        }
        let names = [format!("{name}, zero copy"), format!("{name}, copy")];
        let ratio = |figure| Ratio::new((&names[0], &zero_copy.rounds), (&names[1], &copy.rounds), None, figure);
        let ratios: Vec<Ratio> = [LATENCY, CPU].into_iter().filter_map(ratio).collect();
        if let [latency, cpu] = ratios.as_slice() {
            let (p50, message) = (P50.column, CPU_PER_MESSAGE.column);
            let sentence = format!("{name}: zero copy / copy: {p50} {}, {message} {}", latency.text(), cpu.text());
            finding.sentences.push(sentence);
        }
        finding.ratios.extend(ratios);
    }
    let figures: Vec<&Figure> = [&MEAN].into_iter().chain(&USAGE).collect();
    let title = format!("result analysis{}", rounds_suffix(rounds));
    let note = "All workers since each started, without the instrument's own threads.".to_owned();
    finding.tables = vec![varied_table(title, vec![note], &figures, runs)];
    finding
}

/// Whether `run` is the counterpart of `zero_copy` without zero copy: all other options are equal.
fn is_pair(run: &RunResults, zero_copy: &RunResults) -> bool {
    let of_others = |run: &RunResults| -> Vec<(String, String)> {
        run.options.iter().filter(|(option, _)| option != METHOD).cloned().collect()
    };
    run.option(METHOD) == Some(COPY) && run.contestant == zero_copy.contestant && of_others(run) == of_others(zero_copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{
            batch::contestants,
            sweep::{combination, presets},
        },
        log::figures::Values,
    };

    fn options(method: usize) -> RunOptions {
        let all = combination::combinations(&axes(&[]).unwrap());
        cli::run_options(&all[method].arguments()).unwrap()
    }

    #[test]
    fn a_pair_differs_in_zero_copy_alone() {
        for list in ["Gantry", "Gantry:best", "Gantry:zero-copy", "Mock"] {
            let one = &contestants(list).unwrap()[0];
            let [copy, zero_copy] = [0, 1].map(|method| spec(one, &options(method)).unwrap());
            assert!(!copy.zero_copy && zero_copy.zero_copy, "{list}");
            assert_eq!(RunSpec { zero_copy: true, ..copy.clone() }, zero_copy, "{list}");
            assert_eq!((copy.qos.to_string().as_str(), copy.max_runtime_s), ("RELIABLE, VOLATILE, KEEP_LAST 10", 30));
        }
        // By default, this experiment does the runs of performance_test's documentation of zero copy.
        let line = "perf_test --reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100 --max-runtime 30";
        let documented = cli::resolve(&cli::parse(line.split_whitespace().map(Into::into)).unwrap().options).unwrap();
        assert_eq!(spec(&contestants("Gantry").unwrap()[0], &options(0)).unwrap(), documented.spec);
        assert_eq!(presets::ZERO_COPY.name, "zero-copy");
    }

    #[test]
    fn ratios_are_those_of_zero_copy_to_copy_of_one_contestant() {
        let run = |contestant: &str, method: &str, p50s_ns: &[f64]| {
            let rounds: Vec<Option<Values>> = p50s_ns
                .iter()
                .map(|p50_ns| Some(Values::known([(&P50, *p50_ns), (&CPU_PER_MESSAGE, 2.0 * p50_ns)])))
                .collect();
            RunResults {
                contestant: contestant.to_owned(),
                options: vec![(METHOD.to_owned(), method.to_owned())],
                medians: rounds.first().cloned().flatten(),
                rounds,
                ..RunResults::default()
            }
        };
        let runs = [
            run("gantry", COPY, &[10.0, 20.0]),
            run("mock", COPY, &[10.0]),
            run("gantry", ZERO_COPY, &[5.0, 10.0]),
            run("mock", ZERO_COPY, &[]),
        ];
        let found = finding(&runs, 2);
        assert_eq!(
            found.sentences,
            [
                "gantry: zero copy / copy: p50 0.500 [0.500, 0.500] with 50.0 %, CPU/message 0.500 [0.500, 0.500] with 50.0 %"
            ]
        );
        assert_eq!(found.ratios.iter().map(|ratio| ratio.figure.as_str()).collect::<Vec<_>>(), ["latency", "cpu"]);
    }
}
