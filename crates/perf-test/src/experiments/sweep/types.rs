//! All message types (`perf_test sweep types`).

use super::preset::defaults;
use crate::cli::Axis;
use perf_worker::{choice::Choice, run_spec::Layout};
use perf_worker_gantry::messages::{self, MessageChoice};

pub fn axes(given: &[Axis]) -> Result<Vec<Axis>, String> {
    let messages = messages_of(given, |layout| messages::list(layout, 0).collect())?;
    Ok(defaults("100", "1", "1").into_iter().chain([messages]).collect())
}

/// The messages that are given, or those of the layout.
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
