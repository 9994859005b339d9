//! The command line.

use clap::Parser;
use gantry_shm::{DEFAULT_ROOT, DIRECTORY_VARIABLE};
use std::{path::PathBuf, time::Duration};

/// Lets processes come, go, stall and die at random, and checks every sample.
#[derive(Debug, Parser)]
#[command(name = "soak", after_help = "Exit codes: 0 all was well, 1 something was not, 2 wrong usage.")]
pub struct Options {
    /// For how many minutes [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with = "seconds")]
    minutes: Option<u64>,
    /// For how many seconds
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=6_000_000))]
    seconds: Option<u64>,
    /// Decides what is tried [default: drawn, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// How many workers there are at most
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    processes: u16,
    /// Where the shared memory lies; the run makes a directory of its own there [default: GANTRY_SHM_DIR, or /dev/shm]
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Be a worker under this root; started by the program itself
    #[arg(long, hide = true, requires = "seed")]
    worker: Option<PathBuf>,
}

/// A run, as it was asked for.
pub struct Run {
    /// How long workers are let loose.
    pub duration: Duration,
    /// What the user may give to see the like again.
    pub seed: u64,
    /// The most workers at a time.
    pub processes: usize,
    /// Where the run's directory is made.
    pub directory: PathBuf,
}

/// What this process is.
pub enum Role {
    /// What the user started.
    Coordinator(Run),
    /// What the coordinator started.
    Worker {
        /// The run's own directory.
        root: PathBuf,
        /// The worker's own seed.
        seed: u64,
    },
}

impl Options {
    /// The command line; ends the process if it makes no sense, or asks for help.
    pub fn read() -> Options {
        Options::parse()
    }

    /// What it comes to.
    pub fn role(self) -> Role {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)); // short enough to be typed
        match self.worker {
            Some(root) => Role::Worker { root, seed },
            None => Role::Coordinator(Run {
                duration: Duration::from_secs(self.seconds.unwrap_or(60 * self.minutes.unwrap_or(1))),
                seed,
                processes: self.processes.into(),
                directory: self.directory.unwrap_or_else(default_directory),
            }),
        }
    }
}

fn default_directory() -> PathBuf {
    let named = std::env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty());
    named.map_or_else(|| DEFAULT_ROOT.into(), PathBuf::from)
}
