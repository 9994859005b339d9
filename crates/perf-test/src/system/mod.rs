//! The machine: its description, advice on its settings, its noise, and its changes during a run.
//!
//! `perf_test system` prints description, noise and advice. Each run has a [`System`] in its log, and a [`Watch`],
//! whose [`Warning`]s are in the summary. Values are read from files below a root folder, which tests replace to
//! imitate other machines. An unreadable value is `None` and is printed as not known.
//!
//! ```text
//! root ─► machine, cpu, frequency, cpu_idle, kernel, memory, container, process, load ─► System ─► advice
//!                                                                    └──────► Watch ─► Warning
//! noise (measures)                                                            System, noise, advice ─► text
//! ```
//!
//! [`Warning`]: crate::common::warning::Warning

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
pub mod process;
pub(crate) mod root;
pub mod text;
mod watch;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use advice::Advice;
pub use noise::Noise;
pub use watch::Watch;

/// The environment variable with a folder that tests use instead of `/`.
const ROOT_VARIABLE: &str = "PERF_TEST_SYSTEM_ROOT";

/// The name of the file in a folder of results that contains a [`Description`].
pub const ENVIRONMENT: &str = "environment.json";

/// The machine and its current settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// The model of the machine.
    pub machine: machine::Machine,
    /// The CPUs of the machine.
    pub cpu: cpu::Cpu,
    /// The frequencies of the CPUs and their control.
    pub frequency: frequency::Frequency,
    /// The sleep states of the CPUs.
    pub cpu_idle: cpu_idle::CpuIdle,
    /// The kernel and its settings.
    pub kernel: kernel::Kernel,
    /// The memory of the machine.
    pub memory: memory::Memory,
    /// The sizes of socket buffers.
    pub sockets: memory::SocketBuffers,
    /// The container and the control groups of this process.
    pub container: container::Container,
    /// The scheduling and the limits of this process, which its workers inherit.
    pub process: process::Process,
    /// The load of the CPUs.
    pub load: load::Load,
}

/// The output of `perf_test system --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// The machine.
    pub system: System,
    /// The noise of the machine, if it was measured.
    pub noise: Option<Noise>,
    /// Changes of settings that are recommended before measurements.
    pub advice: Vec<Advice>,
}

impl System {
    /// Reads the machine from the files below `root`, which is `/` except in tests.
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
            process: process::Process::read(root),
            load: load::Load::read(root),
        }
    }
}

/// The scheduling and the limits of this process.
#[must_use]
pub fn own_process() -> process::Process {
    process::Process::read(&root::Root::new(&root_folder()))
}

/// The root folder of the machine's files: `/`, or in tests the value of `PERF_TEST_SYSTEM_ROOT`.
#[must_use]
pub fn root_folder() -> PathBuf {
    std::env::var_os(ROOT_VARIABLE).map_or_else(|| PathBuf::from("/"), PathBuf::from)
}
