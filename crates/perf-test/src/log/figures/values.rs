//! The values of a run's figures, as they are in results files.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{COPIED, Figure, IN_DETAILS, KEPT, PHASES, USAGE};
use crate::{common::units::Unit, log::Summary};

/// The values of one run, or of several runs together: medians, but sums of losses and copies. An unknown value is null
/// in files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// Reads the values from the summary of a run.
    #[must_use]
    pub fn from_run(run: &Summary) -> Values {
        Values::known(Values::all().filter_map(|figure| Some((figure, figure.value(run)?))))
    }

    /// Creates the values of the given figures.
    #[must_use]
    pub fn known(values: impl IntoIterator<Item = (&'static Figure, f64)>) -> Values {
        Values(values.into_iter().map(|(figure, value)| (figure.key, value)).collect())
    }

    /// The values of several runs together; `None` if there are no runs.
    #[must_use]
    pub fn together(runs: &[&Values]) -> Option<Values> {
        let of_figure = |figure: &'static Figure| {
            let median = figure.interval(runs.iter().copied())?.median;
            let sum = runs.iter().filter_map(|run| run.get(figure)).sum();
            Some((figure, if figure.is_sum { sum } else { median }))
        };
        (!runs.is_empty()).then(|| Values::known(Values::all().filter_map(of_figure)))
    }

    /// The value of a figure; `None` if it is unknown.
    #[must_use]
    pub fn get(&self, figure: &Figure) -> Option<f64> {
        self.0.get(figure.key).copied()
    }

    /// The value of a figure as text, with its unit; `-` if it is unknown.
    #[must_use]
    pub fn show(&self, figure: &Figure) -> String {
        figure.show_or_dash(self.get(figure))
    }

    /// The figures in results files, without the phases.
    pub fn figures() -> impl Iterator<Item = &'static Figure> {
        KEPT.into_iter().chain(&USAGE)
    }

    /// All figures in results files, with the phases and the figures of the field `details`.
    pub fn all() -> impl Iterator<Item = &'static Figure> {
        Values::figures().chain(&PHASES).chain(IN_DETAILS)
    }

    /// The values of `figures` as a JSON object. The names are the figures' names in files.
    #[must_use]
    pub fn object<'a>(&self, figures: impl IntoIterator<Item = &'a Figure>) -> Map<String, Value> {
        let value = |figure: &Figure| match self.get(figure)? {
            count if figure.unit == Unit::Count && count.fract() == 0.0 => Some(Value::from(count as u64)),
            value => Some(value.into()),
        };
        let entry = |figure: &Figure| (figure.field.to_owned(), value(figure).unwrap_or_default());
        figures.into_iter().map(entry).collect()
    }

    /// The number of messages that were copied although loans were requested.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.get(&COPIED).unwrap_or(0.0) as u64
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = self.object(Values::figures());
        values.insert("phases_ns".to_owned(), PHASES.each_ref().map(|phase| self.get(phase)).to_vec().into());
        values.serialize(serializer)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Values {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Values".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = |figure: &'static Figure| {
            let kind = if figure.is_sum { "integer" } else { "number" };
            let of = format!("The {}; null if it is not known.", figure.name);
            (figure.field.to_owned(), serde_json::json!({"description": of, "type": [kind, "null"]}))
        };
        let mut properties: Map<String, Value> = Values::figures().map(value).collect();
        let phases =
            "The mean times to serialise, of transport, of the wake-up and to deserialise, ns; null if not known.";
        let times = serde_json::json!({"type": ["number", "null"]});
        properties.insert(
            "phases_ns".to_owned(),
            serde_json::json!({"description": phases, "type": "array", "items": times}),
        );
        let required: Vec<String> = properties.keys().cloned().collect();
        schemars::json_schema!({
            "description": "The values of one run, or of several together: medians, and sums of losses and copies.",
            "type": "object",
            "properties": properties,
            "required": required,
        })
    }
}
