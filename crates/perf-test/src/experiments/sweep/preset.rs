//! A preset: a matrix with defaults for its options, and with a finding.

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
    /// The name of the preset's command, of its files and of the folder of its logs.
    pub name: &'static str,
    /// The heading of the Markdown file.
    pub heading: &'static str,
    /// The axes with the defaults of the preset, from the axes that the user gave. The error is the reason why a
    /// value is wrong, as a sentence.
    pub(super) axes: fn(&[Axis]) -> Result<Vec<Axis>, String>,
    /// The combinations that a contestant measures in place of one combination.
    pub(super) variants: fn(&Contestant, &RunOptions, Combination) -> Vec<Combination>,
    /// The run of a contestant with these options, or the sentence with which it is refused.
    pub(super) spec: fn(&Contestant, &RunOptions) -> Result<RunSpec, String>,
    /// Whether an unknown or repeated contestant is an error; otherwise it is a row with the reason.
    pub(super) is_strict: bool,
    /// Whether the options for outputs of a single run, and `--runs`, are allowed.
    pub(super) has_outputs: bool,
    pub(super) finding: fn(&[RunResults], u32) -> Finding,
}

/// The finding of a preset.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The finding as sentences.
    pub sentences: Vec<String>,
    pub ratios: Vec<Ratio>,
    pub knees: Vec<KneeEntry>,
    /// The tables that follow the table of the runs.
    pub tables: Vec<Table>,
    /// The charts of the preset's picture.
    pub charts: Vec<Chart>,
}

/// An axis with a single value.
pub(super) fn of_value((option, value): (&str, &str)) -> Axis {
    Axis::of_values(option, [value.to_owned()])
}

/// The axes with the defaults of comparisons, and with these seconds of warm-up and of measurement.
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

/// The axis of the message types: the types that the user gave, or else all types of the layout.
///
/// # Errors
/// The reason, as a sentence: no message has the given name.
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

/// The layout of the messages that the user gave, or the default layout.
pub fn layout(given: &[Axis]) -> Layout {
    let axis = given.iter().find(|axis| axis.option == "message-layout");
    let name = axis.and_then(|axis| axis.choices.first()).map(|choice| choice.shown.as_str()).unwrap_or_default();
    let found = Layout::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(layout, ..)| *layout).unwrap_or_default()
}
