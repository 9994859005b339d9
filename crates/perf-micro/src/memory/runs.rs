//! The builds, one after the other, and the runs beside them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{
    build::build,
    image::{self, Sizes, StackArea},
    run::{Runner, Used},
    target::Target,
    variant::Variant,
};
use perf_test::{common::interrupt::Interrupt, experiments::batch::Progress};

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

/// The parts of the experiment that all runs share.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The folder of the firmware.
    pub firmware: &'a Path,
    /// The machine.
    pub target: Target,
    /// The program of the agent.
    pub agent: &'a Path,
    /// The user's wish to end.
    pub interrupt: &'a Interrupt,
}

/// A program that is built and is to run.
struct Built {
    index: usize,
    program: PathBuf,
    stack: Option<StackArea>,
}

impl Surroundings<'_> {
    /// Builds and runs programs. Ends early, with fewer of them, if the user wants it.
    ///
    /// # Errors
    /// A sentence: a program cannot be built.
    pub fn measure(&self, variants: &[Variant]) -> Result<Vec<Measured>, String> {
        let scratch =
            tempfile::tempdir().map_err(|error| format!("cannot make a folder for temporary files: {error}"))?;
        let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_LANES);
        let (sender, receiver) = sync_channel(lanes);
        let (receiver, used) = (Mutex::new(receiver), Mutex::new(Vec::new()));
        let mut measured = std::thread::scope(|scope| {
            for lane in 0..lanes {
                let domain_id = HIGHEST_DOMAIN - u32::try_from(lane).unwrap_or(0);
                let rig = Runner {
                    agent: self.agent,
                    target: self.target,
                    domain_id,
                    scratch: scratch.path(),
                    interrupt: self.interrupt,
                };
                let (receiver, used) = (&receiver, &used);
                scope.spawn(move || run_all(&rig, variants, receiver, used));
            }
            // Dropped at the end of the builds, which ends the runs.
            let sender = sender;
            let mut progress = Progress::new(variants.iter().map(|_| Some(0)));
            let mut measured = Vec::new();
            for (index, variant) in variants.iter().enumerate() {
                if self.interrupt.is_requested() {
                    break;
                }
                let begin = Instant::now();
                progress.begin(index, &variant.title(), None);
                let program = scratch.path().join(index.to_string());
                let (sizes, stack) = self.build(variant, &program)?;
                let (stack_bytes, heap_bytes, failure) = (None, None, None);
                measured.push(Measured { variant: variant.clone(), sizes, stack_bytes, heap_bytes, failure });
                if variant.has_session {
                    // Fails only if all runs have ended, which they do after this.
                    let _ = sender.send(Built { index, program, stack });
                }
                progress.end(index, &variant.title(), None, begin.elapsed().max(Duration::from_millis(1)));
            }
            progress.finish(variants.len() - measured.len());
            Ok::<_, String>(measured)
        })?;
        for (index, outcome) in used.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if let Some(of) = measured.get_mut(index) {
                match outcome {
                    Ok(Used { stack_bytes, heap_bytes }) => {
                        (of.stack_bytes, of.heap_bytes) = (Some(stack_bytes), Some(heap_bytes));
                    }
                    Err(sentence) => of.failure = Some(sentence),
                }
            }
        }
        Ok(measured)
    }

    /// Builds a program and keeps it as `place`.
    fn build(&self, variant: &Variant, place: &Path) -> Result<(Sizes, Option<StackArea>), String> {
        let built = build(self.firmware, self.target, variant)?;
        std::fs::copy(&built, place).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
        image::read(place)
    }
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
