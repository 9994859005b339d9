//! The charts of the results.

use super::{
    Memory,
    costs::{self, Cost, memory_of},
    text::{published_entity, published_total},
    variant::{Kind, Variant},
};
use crate::published::memory as published;
use perf_test::report::plot::stacks::{Bar, Chart};

const PARTS: [&str; 3] = ["static", "stack", "heap"];
const MARK: &str = "published";

impl Memory {
    /// A chart for each kind of entity, one of the history, and one of the costs.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let bar = |variant: &Variant, number: u32, totals: &[(u32, f64)]| {
            let parts = parts(memory_of(&self.programs, variant)?);
            Some(Bar { name: number.to_string(), parts, mark: published_total(totals, number) })
        };
        let chart = |title: String, bars| Chart { title, parts: PARTS.into(), mark: MARK, bars };
        let mut charts: Vec<Chart> = self
            .plan
            .kinds
            .iter()
            .map(|(kind, variants)| {
                let totals = &published_entity(*kind).totals;
                let bars = variants.iter().filter_map(|variant| bar(variant, variant.count(*kind), totals));
                chart(format!("bytes over the number of {}s", kind.name()), bars.collect())
            })
            .collect();
        let bars =
            self.plan.histories.iter().filter_map(|of| bar(of, of.history, &published::HISTORY_TOTALS)).collect();
        charts.push(chart("bytes over the history of the session".to_owned(), bars));
        let one_more = |name: &str, cost: Option<Cost>, published| {
            let Cost { static_bytes, heap_bytes, .. } = cost?;
            Some(Bar { name: name.to_owned(), parts: vec![static_bytes, 0.0, heap_bytes], mark: Some(published) })
        };
        let mut bars: Vec<Bar> = Kind::ALL
            .iter()
            .filter_map(|kind| one_more(kind.name(), self.costs.entity(*kind), published_entity(*kind).bytes))
            .collect();
        bars.extend(one_more("history", self.costs.history_slot, published::HISTORY_SLOT_BYTES));
        charts.push(chart("bytes of one more".to_owned(), bars));
        charts
    }
}

fn parts(memory: costs::Memory) -> Vec<f64> {
    vec![memory.static_bytes, memory.stack_bytes, memory.heap_bytes]
}
