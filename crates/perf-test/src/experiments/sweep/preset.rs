//! The presets: a matrix with defaults of its options, and a finding.

use super::{combination::Combination, sizes, types, zero_copy};
use crate::{
    cli::{Axis, RunOptions},
    experiments::{
        batch::Contestant,
        results_file::{KneeEntry, Ratio, RunResults, Table},
    },
    messages,
    report::plot::sizes::Chart,
};
use perf_worker::run_spec::RunSpec;

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
    /// Tables after that of the runs.
    pub tables: Vec<Table>,
    /// The charts of its picture.
    pub charts: Vec<Chart>,
}

/// Every combination of lists of values.
pub static MATRIX: Preset = Preset {
    name: "matrix",
    heading: "Every combination",
    axes: |_| Ok([("warmup", "1"), ("max-runtime", "3")].map(of_value).into()),
    variants: |_, _, combination| vec![combination],
    spec: |contestant, run| contestant.exact_spec(run),
    is_strict: false,
    has_outputs: false,
    finding: |_, _| Finding::default(),
};

/// Latency over the size of the message.
pub static SIZES: Preset = Preset {
    name: "sizes",
    heading: "Latency over the size of the message",
    axes: sizes::axes,
    variants: sizes::variants,
    spec: nearest,
    is_strict: true,
    has_outputs: false,
    finding: sizes::finding,
};

/// All message types.
pub static TYPES: Preset = Preset {
    name: "types",
    heading: "Message types",
    axes: types::axes,
    variants: |_, _, combination| vec![combination],
    spec: nearest,
    is_strict: true,
    has_outputs: false,
    finding: |_, _| Finding::default(),
};

/// Without and with zero copy.
pub static ZERO_COPY: Preset = Preset {
    name: "zero-copy",
    heading: "Zero copy",
    axes: zero_copy::axes,
    variants: |_, _, combination| vec![combination],
    spec: zero_copy::spec,
    is_strict: true,
    has_outputs: true,
    finding: zero_copy::finding,
};

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

/// The run with these options, or with the nearest that the contestant has. The size of messages of unbounded size
/// applies to these alone.
fn nearest(contestant: &Contestant, run: &RunOptions) -> Result<RunSpec, String> {
    let layout = run.messages.message_layout.unwrap_or_default();
    let named = run.messages.msg.as_ref().and_then(|name| messages::find(name, layout, 0).ok());
    let mut run = run.clone();
    if named.is_some_and(|message| !message.content.is_unbounded()) {
        run.messages.unbounded_msg_size = None;
    }
    contestant.spec(&run)
}
