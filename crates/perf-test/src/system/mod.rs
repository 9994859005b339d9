//! The machine: what it is, what disturbs measurements on it, how much noise it makes, and what changed during a run.
//!
//! `perf_test system` prints it all; the coordinator holds a [`Watch`] over each run, whose [`Warning`]s it prints
//! with the summary, and puts the [`System`] into logs. Everything is read from files below a root, so that tests
//! can build machines. What cannot be read is `None` and said to be so; nothing is invented.
//!
//! ```text
//! root ─► machine, cpu, frequency, cpu_idle, kernel, memory, container, load ─► System ─► advice
//!                                                                    └──────► Watch ─► Warning
//! noise (measures)                                                            System, noise, advice ─► text
//! ```
//!
//! [`Warning`]: crate::warning::Warning

pub mod advice;
pub mod container;
pub mod cpu;
pub mod cpu_idle;
mod cpu_model;
pub mod frequency;
pub mod kernel;
pub mod load;
pub mod machine;
pub mod memory;
pub mod noise;
mod root;
pub mod text;
mod watch;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use advice::Advice;
pub use noise::Noise;
pub use watch::Watch;

/// Names a folder that stands for `/`. For tests.
const ROOT_VARIABLE: &str = "PERF_TEST_SYSTEM_ROOT";

/// The machine as it is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// Which machine.
    pub machine: machine::Machine,
    /// Its CPUs.
    pub cpu: cpu::Cpu,
    /// How fast they run.
    pub frequency: frequency::Frequency,
    /// How deep they sleep.
    pub cpu_idle: cpu_idle::CpuIdle,
    /// The kernel.
    pub kernel: kernel::Kernel,
    /// Its memory.
    pub memory: memory::Memory,
    /// The buffers of its sockets.
    pub sockets: memory::SocketBuffers,
    /// What encloses this process.
    pub container: container::Container,
    /// Who uses the CPUs.
    pub load: load::Load,
}

/// Everything that `perf_test system` says, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// The machine.
    pub system: System,
    /// Its noise, if it was measured.
    pub noise: Option<Noise>,
    /// What to change before measuring.
    pub advice: Vec<Advice>,
}

impl System {
    /// Reads what the files below `root` say; it is `/` but for tests.
    #[must_use]
    pub fn read(root: &Path) -> System {
        let root = &root::Root::new(root);
        System {
            machine: machine::Machine::read(root),
            cpu: cpu::Cpu::read(root),
            frequency: frequency::Frequency::read(root),
            cpu_idle: cpu_idle::CpuIdle::read(root),
            kernel: kernel::Kernel::read(root),
            memory: memory::Memory::read(root),
            sockets: memory::SocketBuffers::read(root),
            container: container::Container::read(root),
            load: load::Load::read(root),
        }
    }
}

/// Where this machine describes itself: `/`, or for tests what `PERF_TEST_SYSTEM_ROOT` names.
#[must_use]
pub fn root_folder() -> PathBuf {
    std::env::var_os(ROOT_VARIABLE).map_or_else(|| PathBuf::from("/"), PathBuf::from)
}
