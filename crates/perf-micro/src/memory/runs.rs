//! The builds of the variants in their order. During each build, the previously built program runs.

use std::{path::Path, thread::ScopedJoinHandle};

use serde::Serialize;

use super::{
    build::build,
    image::{self, Sizes},
    run::{Runner, Used},
    target::Target,
    variant::Variant,
};
use crate::experiment::Experiment;

/// The results of a variant of the program.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The program.
    #[serde(flatten)]
    pub variant: Variant,
    /// The sizes of the linked program.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// The greatest depth of the program's stack. Null after a failed run, and for the variant without a session, which
    /// does not run.
    pub stack_bytes: Option<u64>,
    /// The total of all allocations; null where `stack_bytes` is null.
    pub heap_bytes: Option<u64>,
    /// The reason why the program's run failed.
    pub failure: Option<String>,
}

/// Builds and runs the variants. Ends early, with fewer results, if the user interrupts or a variant cannot be built.
///
/// # Errors
/// The reason, as a sentence, if there is no folder for temporary files.
pub fn measure_all(
    variants: &[Variant],
    firmware: &Path,
    target: Target,
    experiment: &mut Experiment,
) -> Result<Vec<Measured>, String> {
    let scratch = tempfile::tempdir().map_err(|error| format!("cannot make a folder for temporary files: {error}"))?;
    let (agent, interrupt) = (experiment.agent.clone(), experiment.interrupt.clone());
    let runner = &Runner { agent: &agent, target, scratch: scratch.path(), interrupt: &interrupt };
    std::thread::scope(|scope| {
        let (mut measured, mut running): (Vec<Measured>, Option<ScopedJoinHandle<'_, _>>) = (Vec::new(), None);
        for (index, variant) in variants.iter().enumerate() {
            let program = scratch.path().join(index.to_string());
            let built = experiment.step(&variant.title(), |_| {
                let built = build(firmware, target, variant)?;
                std::fs::copy(&built, &program).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
                image::read(&program)
            });
            // The program of the previous build ran during this build; its run must end before the next one starts.
            measured.last_mut().zip(running.take()).into_iter().for_each(|(last, run)| last.finish(run));
            let Some((sizes, stack)) = built else { break };
            let (stack_bytes, heap_bytes, failure) = (None, None, None);
            measured.push(Measured { variant: variant.clone(), sizes, stack_bytes, heap_bytes, failure });
            running = variant.has_session.then(|| scope.spawn(move || runner.run(variant, &program, stack)));
        }
        measured.last_mut().zip(running).into_iter().for_each(|(last, run)| last.finish(run));
        Ok(measured)
    })
}

impl Measured {
    /// Waits for the end of the program's run.
    fn finish(&mut self, run: ScopedJoinHandle<'_, Result<Used, String>>) {
        match run.join().unwrap_or_else(|_| Err("its run panicked".to_owned())) {
            Ok(Used { stack_bytes, heap_bytes }) => {
                (self.stack_bytes, self.heap_bytes) = (Some(stack_bytes), Some(heap_bytes));
            }
            Err(sentence) => self.failure = Some(sentence),
        }
    }
}
