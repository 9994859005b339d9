//! The charts of the results.

use super::{
    Memory,
    costs::memory_of,
    text::{published_entity, published_total},
    variant::Variant,
};
use crate::{
    micro::published::memory as published,
    report::plot::stacks::{Bar, Chart},
};

const PARTS: [&str; 3] = ["static", "stack", "heap"];
const MARK: &str = "published total";

impl Memory {
    /// A chart for each kind of entity, and one of the history.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let bar = |variant: &Variant, number: u32, totals: &[(u32, f64)]| {
            let memory = memory_of(&self.programs, variant)?;
            Some(Bar {
                name: number.to_string(),
                parts: vec![memory.static_bytes, memory.stack_bytes, memory.heap_bytes],
                mark: published_total(totals, number),
            })
        };
        let machine = self.chosen.target.machine();
        let chart = |title: String, bars| Chart { title, parts: PARTS.into(), mark: MARK, bars };
        let mut charts: Vec<Chart> = self
            .plan
            .kinds
            .iter()
            .map(|(kind, variants)| {
                let totals = &published_entity(*kind).totals;
                let bars = variants.iter().filter_map(|variant| bar(variant, variant.count(*kind), totals));
                chart(format!("number of {}s (bytes) on {machine}", kind.name()), bars.collect())
            })
            .collect();
        let bars =
            self.plan.histories.iter().filter_map(|of| bar(of, of.history, &published::HISTORY_TOTALS)).collect();
        charts.push(chart(format!("history of the session (bytes) on {machine}"), bars));
        charts
    }
}
