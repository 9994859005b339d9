//! `perf_test`: a benchmark of publish and subscribe between real processes.
//!
//! The program is the coordinator of a run. It starts one worker process for all publishers and one for each
//! subscription. A worker is `perf_test_gantry`, or a program that contains another middleware or the mock. The crate
//! `perf_worker` is the code of all workers. `perf_worker_gantry` has Gantry's back end and the benchmark messages.
//! Measurements, rows and reports are plain numbers, independent of the middleware.
//!
//! The modules are layers ("storeys"). Each layer imports only from the layers below it; the test `storeys` of
//! `test-support` checks this:
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
//! In a run, `coordinator` gives orders to `perf_worker`s and merges their rows of each second into the `log`; `report`
//! shows the log. `log::figures` is the catalogue of a run's figures. `experiments::batch` does many runs of several
//! contestants (middlewares with their settings). `sweep` measures combinations of options, `middlewares` compares
//! contestants side by side, `conditions` measures runs under several settings of the machine, and `scale` measures
//! topologies of many sizes. Each of these experiments writes a `results_file`; `page` shows a folder of such files.
//! `run::topology` measures a system of nodes, whose endpoints run in the middleware's executors. Across hosts
//! `perf_test` measures only round trips, because a latency is a difference of two readings of one clock.
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
