//! The presets. Each is a matrix whose options have other defaults, and which reports a finding.

use super::{
    preset::{Finding, Preset, defaults, messages_of, single_value},
    sizes, zero_copy,
};
use crate::{
    cli::{Axis, RunOptions},
    experiments::batch::Contestant,
};
use perf_worker::run_spec::RunSpec;
use perf_worker_gantry::messages;

/// The plain matrix, without a finding: all combinations of lists of values.
pub const MATRIX: Preset = Preset {
    name: "matrix",
    heading: "Every combination",
    axes: |_| Ok([("warmup", "1"), ("max-runtime", "3")].map(single_value).into()),
    variants: |_, _, combination| vec![combination],
    spec: |contestant, run| contestant.exact_spec(run),
    is_strict: false,
    has_outputs: false,
    finding: |_, _| Finding::default(),
};

/// The preset that measures latency over message size.
pub const SIZES: Preset = Preset {
    name: "sizes",
    heading: "Latency over the size of the message",
    axes: sizes::axes,
    variants: sizes::variants,
    finding: sizes::finding,
    ..TYPES
};

/// The preset that measures all message types.
pub const TYPES: Preset =
    Preset { name: "types", heading: "Message types", axes: axes_of_types, spec: nearest, is_strict: true, ..MATRIX };

/// The preset that compares runs without and with zero copy.
pub const ZERO_COPY: Preset = Preset {
    name: "zero-copy",
    heading: "Zero copy",
    axes: zero_copy::axes,
    spec: zero_copy::spec,
    is_strict: true,
    has_outputs: true,
    finding: zero_copy::finding,
    ..MATRIX
};

fn axes_of_types(given: &[Axis]) -> Result<Vec<Axis>, String> {
    let messages = messages_of(given, |layout| messages::list(layout, 0).collect())?;
    Ok(defaults("100", "1", "1").into_iter().chain([messages]).collect())
}

/// The run of a contestant. An option that the middleware does not support gets the nearest supported value.
/// `--unbounded-msg-size` is ignored for messages of fixed size.
fn nearest(contestant: &Contestant, run: &RunOptions) -> Result<RunSpec, String> {
    let layout = run.messages.message_layout.unwrap_or_default();
    let named = run.messages.msg.as_ref().and_then(|name| messages::find(name, layout, 0).ok());
    let mut run = run.clone();
    if named.is_some_and(|message| !message.content.is_unbounded()) {
        run.messages.unbounded_msg_size = None;
    }
    contestant.spec(&run)
}
