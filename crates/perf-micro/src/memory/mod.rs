//! The memory experiment (`perf_micro memory`): builds, links and runs variants of the program `firmware/benchmark`,
//! and compares their memory.
//!
//! ```text
//! plan ─► variant ─► build ─► image (static memory)
//!                         └─► run (emulator or host; agent, peer) ─► stack, heap ─► costs ─► text, charts
//! ```

mod build;
mod charts;
mod costs;
mod image;
mod options;
mod peer;
mod plan;
mod process;
mod run;
mod runs;
mod target;
mod text;
mod variant;

use std::collections::BTreeSet;

use perf_test::{common::error::Failure, experiments::results_file::Results, report::plot::stacks::draw};
use serde::Serialize;

use crate::experiment::{Experiment, Report};
use costs::Costs;
pub use options::{AFTER_HELP, MemoryOptions};
use plan::Plan;
use runs::{Measured, measure_all};
pub use target::Target;
use target::{Chosen, choose};
use variant::{HISTORY, MTU_BYTES, Variant};

/// The results.
#[derive(Debug, Serialize)]
struct Memory {
    /// The machine, and the reason why it was chosen.
    #[serde(flatten)]
    chosen: Chosen,
    /// The longest message of the transport, bytes.
    mtu_bytes: u32,
    /// The number of messages in the session's history, in the programs that do not vary it.
    history: u32,
    /// All programs.
    programs: Vec<Measured>,
    /// The memory of one more entity of each kind, and of one more slot of a history.
    costs: Costs,
    #[serde(skip)]
    plan: Plan,
}

/// Measures the memory.
///
/// # Errors
/// [`Failure::Usage`], if the options are wrong, the firmware, the agent or the requested target is missing, or the
/// folder of results cannot be used. [`Failure::Measurement`], if the files cannot be written.
pub fn measure(options: &MemoryOptions) -> Result<Results, Failure> {
    let plan = Plan::new(&sorted(&options.entities, "--entities")?, &sorted(&options.histories, "--histories")?);
    let firmware = build::find(options.firmware.clone())?;
    let chosen = choose(options.target, &firmware)?;
    let variants = plan.variants();
    let mut experiment = Experiment::begin("memory", &options.place, &vec![0; variants.len()])?;
    let programs = measure_all(&variants, &firmware, chosen.target, &mut experiment).map_err(Failure::Measurement)?;
    let failed: Vec<&str> = programs.iter().filter_map(|of| of.failure.as_deref()).collect();
    if let Some(first) = failed.first() {
        let (n, wanted) = (failed.len(), variants.len());
        experiment.fail(format!("{n} of {wanted} programs did not run to their end; the first: {first}"));
    }
    let costs = Costs::of_programs(&plan, &programs);
    let (mtu_bytes, history) = (MTU_BYTES, HISTORY);
    let memory = Memory { chosen, mtu_bytes, history, programs, costs, plan };
    let picture = Some(draw(&memory.title(), &memory.charts()).map_err(Failure::Measurement)?);
    experiment.finish(Report { tables: memory.tables(), figures: memory.figures(), details: memory, picture })
}

/// Sorts the numbers and removes duplicates. At least two numbers must be above 0, because a slope needs two points.
fn sorted(numbers: &[u32], option: &str) -> Result<Vec<u32>, Failure> {
    let numbers = BTreeSet::from_iter(numbers.iter().copied());
    if numbers.iter().filter(|number| **number > 0).count() < 2 {
        return Err(Failure::Usage(format!(
            "{option} needs two different numbers above 0: the cost of one more is a slope"
        )));
    }
    Ok(numbers.into_iter().collect())
}

impl Memory {
    fn title(&self) -> String {
        format!("memory of gantry-micro on {}, bytes", self.chosen.target.machine())
    }

    /// The results of a variant of the program, if it was measured.
    fn program(&self, variant: &Variant) -> Option<&Measured> {
        self.programs.iter().find(|of| of.variant == *variant)
    }
}
