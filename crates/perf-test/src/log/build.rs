//! The programs that measured a run, and the boot of the machine. Figures of other programs or another boot are not
//! comparable.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::{communicator::Communicator, system::root_folder};

/// The file with the kernel's id of the current boot, relative to the root folder.
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

/// The builds of the programs of a run (`perf_test` and the worker program) and the boot of the machine. A value that
/// is unknown is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Build {
    /// The kernel's id of the boot.
    pub boot_id: String,
    /// The program file of `perf_test`: its size in bytes, and the time of its last change, ns since 1970-01-01 UTC.
    pub perf_test: String,
    /// The worker's program file: its size in bytes, and the time of its last change, ns since 1970-01-01 UTC.
    pub worker: String,
}

impl Build {
    /// The current build of this program and of a middleware's worker program.
    #[must_use]
    pub fn now(communicator: &str) -> Build {
        let own = std::env::current_exe().ok();
        let worker = Communicator::find(communicator).ok().map(|found| found.worker());
        let boot_id = std::fs::read_to_string(root_folder().join(BOOT_ID)).unwrap_or_default().trim().to_owned();
        Build { boot_id, perf_test: state(own), worker: state(worker) }
    }

    /// The current build of this program alone.
    #[must_use]
    pub fn of_program() -> Build {
        Build { worker: String::new(), ..Build::now("") }
    }

    /// The reason why runs of this build and of the build `now` are not comparable; `None` if they are.
    #[must_use]
    pub fn difference(&self, now: &Build) -> Option<&'static str> {
        if self.perf_test != now.perf_test {
            Some("its log is of another build of perf_test")
        } else if self.worker != now.worker {
            Some("its log is of another build of the worker program")
        } else if self.boot_id != now.boot_id {
            Some("its log is from before the last boot, or of another machine")
        } else {
            None
        }
    }
}

fn state(program: Option<PathBuf>) -> String {
    let found = program.and_then(|path| path.metadata().ok());
    let state = found.and_then(|found| {
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} {}", found.len(), changed.as_nanos()))
    });
    state.unwrap_or_default()
}
