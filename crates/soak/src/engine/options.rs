//! The command line.

use clap::Parser;
use gantry_shm::shared_memory_directory;
use std::{path::PathBuf, time::Duration};

/// Lets processes come, go, stall and die at random, and checks every sample.
#[derive(Debug, Parser)]
#[command(name = "soak", after_help = "Exit codes: 0 no error, 1 an error was found, 2 wrong usage.")]
pub struct Options {
    /// Duration of the run in minutes, from 1 to 100000 [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with = "seconds")]
    minutes: Option<u64>,
    /// Duration of the run in seconds, from 1 to 6000000
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=6_000_000))]
    seconds: Option<u64>,
    /// Seed of the random actions, as in --seed 7 [default: drawn, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Most workers at a time, from 1 to 64
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    processes: u16,
    /// Directory of the shared memory; the run creates a directory of its own in it [default: GANTRY_SHM_DIR, or
    /// /dev/shm]
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Root of the worker that this process is; the program itself starts workers
    #[arg(long, hide = true, requires = "seed")]
    worker: Option<PathBuf>,
}

/// The options of a run.
pub struct Run {
    /// The duration in which workers are started, killed and stopped.
    pub duration: Duration,
    /// The seed of the random actions. A run with the same seed is similar.
    pub seed: u64,
    /// The largest number of workers at one time.
    pub processes: usize,
    /// The directory in which the run's directory is created.
    pub directory: PathBuf,
}

/// The role of this process.
pub enum Role {
    /// The process that the user started.
    Coordinator(Run),
    /// A process that the coordinator started.
    Worker {
        /// The run's directory of shared memory.
        root: PathBuf,
        /// The seed of this worker.
        seed: u64,
    },
}

impl Options {
    /// Parses the command line. Ends the process after an error or `--help`.
    pub fn read() -> Options {
        Options::parse()
    }

    /// Returns the role that the options select.
    pub fn role(self) -> Role {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)); // short enough to type it
        match self.worker {
            Some(root) => Role::Worker { root, seed },
            None => Role::Coordinator(Run {
                duration: Duration::from_secs(self.seconds.unwrap_or(60 * self.minutes.unwrap_or(1))),
                seed,
                processes: self.processes.into(),
                directory: self.directory.unwrap_or_else(shared_memory_directory),
            }),
        }
    }
}
