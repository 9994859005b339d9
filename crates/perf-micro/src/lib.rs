//! `perf_micro`: the benchmark that micro-ROS has published, and the recovery from faults, measured without a board.
//!
//! ```text
//! board (a thread with gantry-micro) ─► line (paced) ─► gantry-agent ─► a node of this host
//! ```
#![deny(unsafe_code)]

mod cli;
mod distribution;
mod experiment;
mod latency;
mod line;
mod memory;
mod options;
pub mod program;
mod published;
mod recovery;
mod rig;
mod throughput;
mod transport;
