//! The builds, one after the other, and the runs beside them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::{
    build::build,
    image::{self, Sizes, StackArea},
    run::{Runner, Used},
    target::Target,
    variant::Variant,
};
use crate::experiment::Experiment;

/// Domains of the runs, from the highest one downward, so that they meet no robot.
const HIGHEST_DOMAIN: u32 = gantry::MAX_DOMAIN_ID;
/// The most runs at once: the builds are slower.
const MOST_LANES: usize = 4;

/// The figures of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The program.
    #[serde(flatten)]
    pub variant: Variant,
    /// Its linked memory.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// The greatest depth of its stack; null of the board alone, which does not run, and of a run that failed.
    pub stack_bytes: Option<u64>,
    /// All memory that it allocated, as the stack.
    pub heap_bytes: Option<u64>,
    /// The reason why its run failed.
    pub failure: Option<String>,
}

/// A program that is built and is to run.
struct Built {
    index: usize,
    program: PathBuf,
    stack: Option<StackArea>,
}

/// Builds and runs programs of this folder of firmware. Ends early, with fewer of them, if the user wants it or one
/// cannot be built.
///
/// # Errors
/// A sentence: there is no folder for temporary files.
pub fn measure_all(
    variants: &[Variant],
    firmware: &Path,
    target: Target,
    experiment: &mut Experiment,
) -> Result<Vec<Measured>, String> {
    let scratch = tempfile::tempdir().map_err(|error| format!("cannot make a folder for temporary files: {error}"))?;
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_LANES);
    let (sender, receiver) = sync_channel(lanes);
    let (receiver, used) = (Mutex::new(receiver), Mutex::new(Vec::new()));
    let (agent, interrupt) = (experiment.agent.clone(), experiment.interrupt.clone());
    let mut measured = std::thread::scope(|scope| {
        for lane in 0..lanes {
            let domain_id = HIGHEST_DOMAIN - u32::try_from(lane).unwrap_or(0);
            let rig = Runner { agent: &agent, target, domain_id, scratch: scratch.path(), interrupt: &interrupt };
            let (receiver, used) = (&receiver, &used);
            scope.spawn(move || run_all(&rig, variants, receiver, used));
        }
        // Dropped at the end of the builds, which ends the runs.
        let sender = sender;
        let mut measured = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            let program = scratch.path().join(index.to_string());
            let built = experiment.step(&variant.title(), |_| {
                let built = build(firmware, target, variant)?;
                std::fs::copy(&built, &program).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
                image::read(&program)
            });
            let Some((sizes, stack)) = built else { break };
            let (stack_bytes, heap_bytes, failure) = (None, None, None);
            measured.push(Measured { variant: variant.clone(), sizes, stack_bytes, heap_bytes, failure });
            if variant.has_session {
                // Fails only if all runs have ended, which they do after this.
                let _ = sender.send(Built { index, program, stack });
            }
        }
        measured
    });
    for (index, outcome) in used.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let Some(of) = measured.get_mut(index) else { continue };
        match outcome {
            Ok(Used { stack_bytes, heap_bytes }) => {
                (of.stack_bytes, of.heap_bytes) = (Some(stack_bytes), Some(heap_bytes));
            }
            Err(sentence) => of.failure = Some(sentence),
        }
    }
    Ok(measured)
}

type Outcomes = Mutex<Vec<(usize, Result<Used, String>)>>;

/// Runs programs until no more are built.
fn run_all(rig: &Runner<'_>, variants: &[Variant], built: &Mutex<Receiver<Built>>, used: &Outcomes) {
    loop {
        let next = built.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Built { index, program, stack }) = next else { return };
        let Some(variant) = variants.get(index) else { continue };
        let outcome = rig.run(variant, &program, stack);
        used.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
    }
}
