//! `perf_test`: a benchmark of publish and subscribe between real processes.
//!
//! The program is the coordinator of a run. Its workers are `perf_test_gantry`, or a program that contains another
//! middleware or the mock, one process for all publishers and one for each subscription. The crate `perf_worker` is the
//! code of all workers. `perf_worker_gantry` has Gantry's back end and the benchmark messages. Measurements, rows and
//! reports are plain numbers, independent of the middleware.
//!
//! The modules are layers ("storeys"). Each layer imports only from the layers below it; `tests/storeys.rs` checks
//! this:
//!
//! ```text
//! program                     one verb of the command line, from arguments to exit code
//! experiments                 many runs: batch ◄─ sweep, middlewares, conditions, scale ─► results_file; page
//! run                         one run: runner, topology, check ─► coordinator
//! cli                         the command line, and its resolved options
//! judge                       requirements, changes, comparisons, spread, warnings
//! report                      terminal, CSV, JSON, iRobot's files, plots
//! log                         the model of a run: its figures, its rows, its document
//! communicator, backend       middlewares; Gantry's is in this program, too
//! topology                    systems of nodes
//! system, measure, common     the machine, statistics, errors and units
//! ```
//! A run: `coordinator` gives orders to `perf_worker`s, merges their rows of each second into the `log`, and `report`
//! shows them. `log::figures` is the catalogue of a run's figures. `experiments::batch` does many runs of several
//! contestants into one folder, in rounds: `sweep` measures every combination of options and presets of them,
//! `middlewares` measures contestants side by side, `conditions` measures runs under several settings of the machine,
//! and `scale` measures topologies of many sizes. Each of these experiments writes a `results_file`; `page` shows a
//! folder of such files. `run::topology` runs a `topology`: the same coordinator, with endpoints in the middleware's
//! executors. `system` describes the machine and watches it during a run. Across hosts `perf_test` measures only round
//! trips, because a latency is a difference of two readings of one clock.
#![deny(unsafe_code)]

pub mod backend;
pub mod cli;
pub mod common;
mod communicator;
pub mod experiments;
mod judge;
pub mod log;
mod measure;
pub mod program;
pub mod report;
pub mod run;
pub mod system;
pub mod topology;
