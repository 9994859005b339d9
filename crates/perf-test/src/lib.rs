//! `perf_test`: a benchmark of publish and subscribe between real processes.
//!
//! The program is the coordinator of a run. Its workers are `perf_test_gantry`, or a program that contains another
//! middleware, one process for the publishers and one for each subscription; the crate `perf_worker` is their part.
//! Only `backend::gantry` and `messages` know a middleware. Measurements, rows and reports are plain numbers.
//!
//! ```text
//! cli ─► requirement ─► program ─► runner ─► coordinator ─► report ─► plot
//!                            │                   │    ▲ rows
//!                   repeat ◄─┘             orders▼    │
//!                                          perf_worker ─► backend ─► gantry (messages) │ mock
//! ```
//! `figures` is the catalogue of a run's figures. `batch` does many runs of several contestants into one folder, in
//! rounds: `experiment` every combination of options and the presets of it, `versus` contestants side by side,
//! `conditions` runs under several settings of the machine, `scale` topologies of many sizes. Each writes a
//! `results_file`. `comparison` compares the logs of several runs, `results` shows a folder of them as a page,
//! `conformance` checks a back end by short runs, `listing` shows the middlewares, messages and topologies.
//! `topology` reads systems of many nodes, and `robot` runs them: the same coordinator, with endpoints in the
//! middleware's executors. `system` describes the machine and watches it during a run. Across hosts it measures
//! only round trips, because latencies are differences of one clock.
#![deny(unsafe_code)]

mod answer;
pub mod backend;
pub mod batch;
pub mod change;
pub mod cli;
pub mod communicator;
pub mod comparison;
pub mod conditions;
pub mod conformance;
pub mod coordinator;
pub mod error;
pub mod experiment;
pub mod figures;
pub mod idle;
pub mod interrupt;
pub mod listing;
pub mod measure;
pub mod messages;
mod nearest;
pub mod program;
pub mod repeat;
pub mod report;
pub mod requirement;
pub mod results;
pub mod results_file;
pub mod robot;
pub mod row;
pub mod runner;
mod scalar;
pub mod scale;
pub mod system;
pub mod topic;
pub mod topology;
pub mod units;
pub mod verdict;
pub mod versus;
pub mod warning;
