//! The results of an experiment as a table with a row for each run.

use crate::{
    common::distinct,
    communicator::shown_contestant,
    experiments::{
        batch::{Options, value},
        results_file::{RunResults, Table, notes_of, rounds_suffix},
    },
    log::figures::{CPU_PER_MESSAGE, Figure, LOST, P50, P99, PEAK_MEMORY, RECEIVED_HZ},
};

/// The figures in the columns of the table.
static FIGURES: [&Figure; 6] = [&P50, &P99, &CPU_PER_MESSAGE, &PEAK_MEMORY, &RECEIVED_HZ, &LOST];

/// The table of these runs. Its notes begin with the sentences in `findings`.
pub fn table(runs: &[RunResults], rounds: u32, findings: Vec<String>) -> Table {
    let title = match runs.len() {
        1 => "one run".to_owned(),
        n => format!("{n} runs"),
    } + &rounds_suffix(rounds);
    let notes = findings.into_iter().chain(common(runs)).chain(notes(runs)).collect();
    varied_table(title, notes, &FIGURES, runs)
}

/// A table with a row for each run. The columns are the contestant, the options that differ between runs, the message
/// size if it differs, and these figures.
pub fn varied_table(title: String, notes: Vec<String>, figures: &[&Figure], runs: &[RunResults]) -> Table {
    let varied = varied_of(runs);
    let sizes = || runs.iter().filter(|run| run.message_bytes > 0).map(|run| run.message_bytes);
    let bytes = sizes().any(|bytes| Some(bytes) != sizes().next()).then_some("bytes");
    let conditions: Vec<&str> = ["contestant"].into_iter().chain(varied.iter().copied()).chain(bytes).collect();
    let rows = runs.iter().map(|run| {
        let RunResults { contestant, message_bytes, .. } = run;
        let options = varied.iter().map(|option| run.option(option).unwrap_or("-").to_owned());
        let shown = if *message_bytes > 0 { message_bytes.to_string() } else { "-".to_owned() };
        ([shown_contestant(contestant)].into_iter().chain(options).chain(bytes.map(|_| shown)).collect(), run)
    });
    Table::of_runs(title, notes, &conditions, figures, rows)
}

/// The notes about each contestant: its conditions, if all its runs have the same, and notes about its runs.
fn notes(runs: &[RunResults]) -> Vec<String> {
    let of_one = |name: &str| {
        let own = || runs.iter().filter(move |run| run.contestant == name);
        let measured = own().filter(|run| run.medians.is_some());
        let conditions = distinct(measured.map(|run| run.conditions("publishing")));
        let conditions = conditions.into_iter().take(2).map(|conditions| format!("{name}: {conditions}"));
        conditions.chain(notes_of(name, own())).collect::<Vec<String>>()
    };
    contestants(runs).into_iter().flat_map(of_one).collect()
}

/// The contestants, in the order of their first runs.
pub fn contestants(runs: &[RunResults]) -> Vec<&str> {
    distinct(runs.iter().map(|run| run.contestant.as_str()))
}

/// A sentence with the options that are equal in all runs; `None` if there are none.
fn common(runs: &[RunResults]) -> Option<String> {
    let varied = varied_of(runs);
    let same = runs.first()?.options.iter().filter(|(option, _)| !varied.contains(&option.as_str()));
    let same: Vec<String> = same.map(|(option, value)| format!("{option} {value}")).collect();
    (!same.is_empty()).then(|| format!("all runs: {}", same.join(", ")))
}

/// The options whose values differ between the runs.
pub fn varied_of(runs: &[RunResults]) -> Vec<&str> {
    varied(&runs.iter().map(|run| &run.options).collect::<Vec<_>>())
}

/// The options whose values differ, in the order of their first occurrence.
pub fn varied<'a>(runs: &[&'a Options]) -> Vec<&'a str> {
    let mut all = distinct(runs.iter().copied().flatten().map(|(option, _)| option.as_str()));
    let first = |option: &str| runs.first().and_then(|options| value(options, option));
    all.retain(|option| runs.iter().any(|options| value(options, option) != first(option)));
    all
}
