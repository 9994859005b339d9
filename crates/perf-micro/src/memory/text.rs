//! The results as tables.

use super::{
    Memory, costs,
    costs::{Cost, memory_of, one_decimal},
    plan::{Program, Series},
    target::Target,
    variant::{HISTORY, Kind, MTU_BYTES, SERVICE_DEPTH, SUBSCRIPTION_DEPTH, Variant},
};
use crate::published::memory as published;
use perf_test::{
    experiments::results_file::Table,
    report::{plot::plain, tables::cells},
};

/// The columns of a program's memory, bytes.
const COLUMNS: [&str; 7] = ["", "text", "static", "stack", "heap", "total", "published total"];
const NONE: &str = "-";

impl Memory {
    /// The tables: one for each kind of entity, one of the costs, one of the history, and one for each claim.
    pub(super) fn tables(&self) -> Vec<Table> {
        let kinds = self.plan.kinds.iter().map(|(_, series)| self.programs_table(series));
        let mut tables: Vec<Table> = kinds.collect();
        tables.push(self.costs_table());
        tables.push(self.programs_table(&self.plan.histories));
        tables.extend(self.plan.claims.iter().map(|(series, reason)| {
            let mut table = self.programs_table(series);
            table.notes.push(self.verdict(series, reason));
            table
        }));
        if let Some(first) = tables.first_mut() {
            first.title = format!("{}: {}", self.title(), first.title);
            first.notes.extend(self.chosen.reason.iter().map(|why| format!("not a Cortex-M3, because {why}")));
        }
        if let Some(last) = tables.last_mut() {
            last.notes.extend(self.notes());
        }
        tables
    }

    /// The table of a series of programs.
    fn programs_table(&self, series: &Series) -> Table {
        let (mut rows, mut notes) = (vec![cells(COLUMNS)], Vec::new());
        for Program { name, variant, published, .. } in &series.programs {
            let Some(of) = self.program(variant) else { continue };
            let memory = memory_of(&self.programs, variant);
            let count = |value: fn(&costs::Memory) -> f64| memory.map_or(NONE.to_owned(), |of| plain(value(&of)));
            rows.push(vec![
                name.clone(),
                plain(of.sizes.text_bytes as f64),
                count(|of| of.static_bytes),
                count(|of| of.stack_bytes),
                count(|of| of.heap_bytes),
                count(costs::Memory::total),
                published.map_or(NONE.to_owned(), plain),
            ]);
            notes.extend(of.failure.iter().map(|sentence| format!("{} failed: {sentence}", variant.title())));
        }
        Table { title: series.name.clone(), rows, notes }
    }

    fn costs_table(&self) -> Table {
        let costs = &self.costs;
        let mut rows = vec![cells(["", "static", "heap", "total", "published", "of published", "stack of all"])];
        let mut row = |name: &str, cost: Option<Cost>, published: Option<f64>| {
            let Some(cost) = cost else { return };
            let [least, most] = cost.stack_bytes;
            rows.push(vec![
                name.to_owned(),
                plain(one_decimal(cost.static_bytes)),
                plain(one_decimal(cost.heap_bytes)),
                plain(one_decimal(cost.total())),
                published.map_or(NONE.to_owned(), plain),
                published.map_or(NONE.to_owned(), |bytes| format!("{:.0} %", 100.0 * cost.total() / bytes)),
                if least == most { plain(least) } else { format!("{} to {}", plain(least), plain(most)) },
            ]);
        };
        for kind in Kind::ALL {
            let queue = match kind {
                Kind::Publisher => "",
                Kind::Subscription => &format!(", with a queue of {SUBSCRIPTION_DEPTH}"),
                Kind::Service | Kind::Client => &format!(", with a queue of {SERVICE_DEPTH}"),
            };
            row(&format!("{}{queue}", kind.name()), costs.entity(kind), Some(kind.published().bytes));
        }
        row("place in a subscription's queue", costs.queue_place, None);
        row("slot of the session's history", costs.history_slot, Some(published::HISTORY_SLOT_BYTES));
        Table { title: "one more".to_owned(), rows, notes: Vec::new() }
    }

    /// A sentence that says whether the programs of a claim have the same memory.
    fn verdict(&self, series: &Series, reason: &str) -> String {
        let bytes = |memory: costs::Memory| memory.static_bytes + memory.heap_bytes;
        let variants = series.programs.iter().map(|program| &program.variant);
        let all: Vec<f64> = variants.filter_map(|variant| memory_of(&self.programs, variant)).map(bytes).collect();
        let (Some(first), true) = (all.first(), all.len() == series.programs.len()) else {
            return "not compared, because a program did not run".to_owned();
        };
        let most = all.iter().map(|bytes| (bytes - first).abs()).fold(0.0, f64::max);
        if most == 0.0 {
            return "The static memory and the heap are the same, as published.".to_owned();
        }
        format!("Static memory and heap differ by up to {} bytes: {reason}.", plain(most))
    }

    fn notes(&self) -> Vec<String> {
        let base = self.program(&Variant::BASE).map_or(0, |of| of.sizes.data_bytes + of.sizes.bss_bytes);
        let [stack, heap] = match self.chosen.target {
            Target::Thumbv7m => [
                "the emulator fills the stack with a pattern before the start, and reads from outside how much of it was overwritten",
                "0 because the program links: its allocator is a function that does not exist. Nothing is counted",
            ],
            Target::Host => [
                "of a thread on memory that is filled with a pattern; it has the frames of the system's library, too",
                "the sum of all allocations from the creation of the session to its end",
            ],
        };
        let slots = 2 * MTU_BYTES;
        vec![
            format!("text: code and constants, among them the letters of a String. static: .data and .bss without the {base} bytes of the board alone. total: static, stack and heap"),
            format!("stack: {stack}. All entities use the same stack, so one more has no part in it"),
            format!("heap: {heap}"),
            format!(
                "history: all entities of a session share its history, the reliable messages on their way in each direction: 2 × MTU = \
                 {slots} bytes and their lengths. A message that was received waits in the queue of its subscription. In micro-ROS it waits in \
                 one of the slots that all share, MTU × {HISTORY} = {} bytes (published: about {})",
                HISTORY * MTU_BYTES,
                published::HISTORY_SLOT_BYTES
            ),
            format!(
                "here: gantry-micro, MTU {MTU_BYTES}, history {HISTORY}, queues of {SUBSCRIPTION_DEPTH} (services and clients: {SERVICE_DEPTH}), \
                 Int32 and AddTwoInts, a serial line, no operating system"
            ),
            "published: micro-ROS (rclc, rcl, RMW) with the same MTU, history and messages on a Renesas EK-RA6M5 (Cortex-M33), FreeRTOS, UDP; \
             totals and the history were read from plots. Its heap is the sum of all requests; its code is not published"
                .to_owned(),
        ]
    }
}
