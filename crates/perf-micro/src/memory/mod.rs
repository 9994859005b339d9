//! Memory of gantry-micro (`perf_micro memory`): the programs of `firmware/benchmark` are built, linked and run,
//! and compared.
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

use serde::Serialize;

use crate::{results::Results, rig};
use costs::{Costs, Figure};
pub use options::{AFTER_HELP, MemoryOptions};
use perf_test::{
    common::{error::Failure, interrupt::Interrupt},
    experiments::batch::Folder,
    report::plot::stacks::draw,
};
use plan::Plan;
use runs::{Measured, Surroundings};
pub use target::Target;
use target::{Chosen, choose};
use variant::{HISTORY, MTU_BYTES, Variant};

/// The format of `micro-memory.json`.
const SCHEMA: &str = "gantry.perf_test.micro_memory/1";
/// The name of the results in a folder, without the suffix.
const NAME: &str = "micro-memory";

/// The results; serialises as `micro-memory.json`.
#[derive(Debug, Serialize)]
struct Memory {
    schema: &'static str,
    /// The machine, and the reason for it.
    #[serde(flatten)]
    chosen: Chosen,
    /// The longest message of the transport, bytes.
    mtu_bytes: u32,
    /// The history of the session where it is not varied.
    history: u32,
    /// All programs.
    programs: Vec<Measured>,
    /// The memory of each entity and of each place of a history.
    costs: Costs,
    /// The figures that are compared with earlier ones.
    figures: Vec<Figure>,
    #[serde(skip)]
    plan: Plan,
}

/// Measures the memory.
///
/// # Errors
/// [`Failure::Usage`]: the options are wrong, the firmware, the agent or a target that was asked for is not there, or
/// the folder of results cannot be used. [`Failure::Measurement`]: a program cannot be built.
pub fn measure(options: &MemoryOptions) -> Result<Results, Failure> {
    let plan = Plan::new(&sorted(&options.entities, "--entities")?, &sorted(&options.histories, "--histories")?);
    let firmware = build::find(options.firmware.clone())?;
    let chosen = choose(options.target, &firmware)?;
    let agent = rig::find(options.agent.clone())?;
    let folder = Folder::open(options.results.clone()).map_err(Failure::Usage)?;
    folder.describe().map_err(Failure::Usage)?;
    let interrupt = Interrupt::install()?;
    let surroundings =
        Surroundings { firmware: &firmware, target: chosen.target, agent: &agent, interrupt: &interrupt };
    let variants = plan.variants();
    let programs = surroundings.measure(&variants).map_err(Failure::Measurement)?;
    let failure = failure(&programs, variants.len());
    let costs = Costs::of(&plan, &programs);
    let mut memory = Memory {
        schema: SCHEMA,
        chosen,
        mtu_bytes: MTU_BYTES,
        history: HISTORY,
        programs,
        costs,
        figures: Vec::new(),
        plan,
    };
    memory.figures = memory.all_figures();
    let picture = draw(&memory.title(), &memory.charts()).map_err(Failure::Measurement)?;
    Results::write(&folder, NAME, memory.lines(), &memory, Some(picture), failure).map_err(Failure::Measurement)
}

/// Numbers in ascending order, of which two or more differ and are above 0: through fewer goes no line.
fn sorted(numbers: &[u32], option: &str) -> Result<Vec<u32>, Failure> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.iter().filter(|number| **number > 0).count() < 2 {
        return Err(Failure::Usage(format!(
            "{option} needs two different numbers above 0: the cost of one more is a slope"
        )));
    }
    Ok(numbers)
}

/// The reason why not all was measured.
fn failure(programs: &[Measured], wanted: usize) -> Option<String> {
    let failed: Vec<&str> = programs.iter().filter_map(|of| of.failure.as_deref()).collect();
    match (failed.first(), wanted - programs.len()) {
        (None, 0) => None,
        (Some(first), 0) => {
            Some(format!("{} of {wanted} programs did not run to their end; the first: {first}", failed.len()))
        }
        (_, left) => Some(format!("ended early: {left} of {wanted} programs were not measured")),
    }
}

impl Memory {
    fn title(&self) -> String {
        format!("memory of gantry-micro on {}, bytes", self.chosen.target.machine())
    }

    /// A program, if it was measured.
    fn of(&self, variant: &Variant) -> Option<&Measured> {
        self.programs.iter().find(|of| of.variant == *variant)
    }
}
