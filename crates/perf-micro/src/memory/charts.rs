//! The charts of the results.

use super::{
    Memory,
    costs::{self, Cost, memory_of},
    plan::{Program, Series},
    variant::Kind,
};
use crate::published::memory as published;
use perf_test::report::plot::stacks::{Bar, Chart};

const PARTS: [&str; 3] = ["static", "stack", "heap"];
const MARK: &str = "published";

impl Memory {
    /// The charts: one for each kind of entity, one of the history, and one of the costs.
    pub(super) fn charts(&self) -> Vec<Chart> {
        let chart = |title: String, bars| Chart { title, parts: PARTS.into(), mark: MARK, bars };
        let bars = |series: &Series| {
            let bar = |of: &Program| {
                let parts = parts(memory_of(&self.programs, &of.variant)?);
                Some(Bar { name: of.name.clone(), parts, mark: of.published })
            };
            series.programs.iter().filter_map(bar).collect()
        };
        let of_kind =
            |(kind, series): &(Kind, Series)| chart(format!("bytes over the number of {}s", kind.name()), bars(series));
        let mut charts: Vec<Chart> = self.plan.kinds.iter().map(of_kind).collect();
        charts.push(chart("bytes over the history of the session".to_owned(), bars(&self.plan.histories)));
        let one_more = |name: &str, cost: Option<Cost>, published| {
            let Cost { static_bytes, heap_bytes, .. } = cost?;
            Some(Bar { name: name.to_owned(), parts: vec![static_bytes, 0.0, heap_bytes], mark: Some(published) })
        };
        let mut bars: Vec<Bar> = Kind::ALL
            .iter()
            .filter_map(|kind| one_more(kind.name(), self.costs.entity(*kind), kind.published().bytes))
            .collect();
        bars.extend(one_more("history", self.costs.history_slot, published::HISTORY_SLOT_BYTES));
        charts.push(chart("bytes of one more".to_owned(), bars));
        charts
    }
}

fn parts(memory: costs::Memory) -> Vec<f64> {
    vec![memory.static_bytes, memory.stack_bytes, memory.heap_bytes]
}
