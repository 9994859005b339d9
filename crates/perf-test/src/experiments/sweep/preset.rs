//! A preset: a matrix whose options have other defaults, and which reports a finding.

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

/// A matrix whose options have other defaults, and which reports a finding.
pub struct Preset {
    /// The name of the preset's subcommand. Its files and the folder of its logs have the same name.
    pub name: &'static str,
    /// The heading of the Markdown file.
    pub heading: &'static str,
    /// Completes the axes that the user gave by the preset's defaults. The error is a sentence about a value that is
    /// not valid.
    pub(super) axes: fn(&[Axis]) -> Result<Vec<Axis>, String>,
    /// Replaces one combination of a contestant by several, for example with sync and async publishing.
    pub(super) variants: fn(&Contestant, &RunOptions, Combination) -> Vec<Combination>,
    /// The run of a contestant with these options, or the reason why it is refused.
    pub(super) spec: fn(&Contestant, &RunOptions) -> Result<RunSpec, String>,
    /// Whether an unknown or repeated contestant is an error. Otherwise it has a row with the reason.
    pub(super) is_strict: bool,
    /// Whether `--runs` and the options for outputs of a single run are allowed.
    pub(super) has_outputs: bool,
    pub(super) finding: fn(&[RunResults], u32) -> Finding,
}

/// The conclusions that a preset draws from its runs.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The conclusions as sentences.
    pub sentences: Vec<String>,
    pub ratios: Vec<Ratio>,
    pub knees: Vec<KneeEntry>,
    /// Tables that are printed after the table of the runs.
    pub tables: Vec<Table>,
    /// The charts of the preset's SVG.
    pub charts: Vec<Chart>,
}

/// Creates an axis with a single value.
pub(super) fn single_value((option, value): (&str, &str)) -> Axis {
    Axis::of_values(option, [value.to_owned()])
}

/// The axes with the defaults of comparisons, and with the given rate, warm-up and measuring time.
pub(super) fn defaults(rate_hz: &str, warmup_s: &str, measured_s: &str) -> Vec<Axis> {
    let axes = [
        ("reliability", "RELIABLE"),
        ("history", "KEEP_LAST"),
        ("history-depth", "10"),
        ("rate", rate_hz),
        ("warmup", warmup_s),
        ("max-runtime", measured_s),
    ];
    axes.map(single_value).into()
}

/// The axis of the message types: the types that the user gave, or all types of the layout.
///
/// # Errors
/// The reason, as a sentence: there is no message of the given name.
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

/// The message layout that the user gave, or the default layout.
pub fn layout(given: &[Axis]) -> Layout {
    let axis = given.iter().find(|axis| axis.option == "message-layout");
    let name = axis.and_then(|axis| axis.choices.first()).map(|choice| choice.shown.as_str()).unwrap_or_default();
    let found = Layout::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(layout, ..)| *layout).unwrap_or_default()
}
