//! A preset: a matrix with defaults of its options, and a finding.

use super::combination::Combination;
use crate::{
    cli::{Axis, RunOptions},
    experiments::{
        batch::Contestant,
        results_file::{KneeEntry, Ratio, RunResults, Table},
    },
    report::plot::curves::Chart,
};
use perf_worker::{
    choice::Choice,
    run_spec::{Layout, RunSpec},
};
use perf_worker_gantry::messages::{self, MessageChoice};

/// A preset.
pub struct Preset {
    /// The name of its command, its files and the folder of its logs.
    pub name: &'static str,
    /// The heading of its Markdown.
    pub heading: &'static str,
    /// Every option that its runs have unless it is given. A wrong value is an error, a sentence.
    pub(super) axes: fn(&[Axis]) -> Result<Vec<Axis>, String>,
    /// The runs of a contestant in a combination.
    pub(super) variants: fn(&Contestant, &RunOptions, Combination) -> Vec<Combination>,
    /// The run of a contestant with these options, or the sentence of its refusal.
    pub(super) spec: fn(&Contestant, &RunOptions) -> Result<RunSpec, String>,
    /// Whether a contestant that is unknown, or there twice, is an error, and no row.
    pub(super) is_strict: bool,
    /// Whether the outputs of single runs and `--runs` apply.
    pub(super) has_outputs: bool,
    pub(super) finding: fn(&[RunResults], u32) -> Finding,
}

/// The finding of a preset.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// As sentences.
    pub sentences: Vec<String>,
    pub ratios: Vec<Ratio>,
    pub knees: Vec<KneeEntry>,
    /// Tables after the table of the runs.
    pub tables: Vec<Table>,
    /// The charts of its picture.
    pub charts: Vec<Chart>,
}

/// The axis of one value.
pub(super) fn of_value((option, value): (&str, &str)) -> Axis {
    Axis::of_values(option, [value.to_owned()])
}

/// The defaults of comparisons, with these seconds of warm-up and of measurement.
pub(super) fn defaults(rate_hz: &str, warmup_s: &str, measured_s: &str) -> Vec<Axis> {
    let axes = [
        ("reliability", "RELIABLE"),
        ("history", "KEEP_LAST"),
        ("history-depth", "10"),
        ("rate", rate_hz),
        ("warmup", warmup_s),
        ("max-runtime", measured_s),
    ];
    axes.map(of_value).into()
}

/// The axis of the message types: the ones that the user gave, or else all messages of the layout.
///
/// # Errors
/// A sentence: there is no message of a given name.
pub fn messages_of(given: &[Axis], of_layout: fn(Layout) -> Vec<MessageChoice>) -> Result<Axis, String> {
    let layout = layout(given);
    let Some(names) = given.iter().find(|axis| axis.option == "msg") else {
        return Ok(Axis::of_values("msg", of_layout(layout).iter().map(|message| message.name.to_owned())));
    };
    for name in &names.choices {
        messages::find(&name.shown, layout, 0)?;
    }
    Ok(names.clone())
}

/// The layout of the messages, or the default.
pub fn layout(given: &[Axis]) -> Layout {
    let axis = given.iter().find(|axis| axis.option == "message-layout");
    let name = axis.and_then(|axis| axis.choices.first()).map(|choice| choice.shown.as_str()).unwrap_or_default();
    let found = Layout::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(layout, ..)| *layout).unwrap_or_default()
}
