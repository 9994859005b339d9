//! What makes latencies of this machine longer or noisier than they need be, and the command that changes it.
//!
//! Used by `perf_test system`. The order is the order of importance; each piece stands for itself, and what could
//! not be read gives no advice.

mod processor;
mod surroundings;

use serde::Serialize;

use super::System;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What was found, with its values.
    pub finding: String,
    /// What it does to a measurement, in one sentence.
    pub why: String,
    /// What to type; `None`: nothing on this machine changes it.
    pub command: Option<String>,
}

impl Advice {
    fn new(finding: impl Into<String>, why: impl Into<String>, command: impl Into<String>) -> Advice {
        Advice { finding: finding.into(), why: why.into(), command: Some(command.into()) }
    }
}

/// All advice for this machine, what matters most first.
#[must_use]
pub fn advice(system: &System) -> Vec<Advice> {
    let pieces = [
        surroundings::cpu_quota,
        processor::governor,
        processor::deep_sleep,
        surroundings::steal,
        surroundings::other_load,
        surroundings::clock_source,
        processor::other_devices,
        surroundings::small_shared_memory,
        surroundings::real_time_limit,
        processor::turbo,
        processor::smt,
        surroundings::huge_pages,
        processor::not_isolated,
        surroundings::hypervisor,
        surroundings::small_socket_buffers,
    ];
    let mut advice: Vec<Advice> = pieces.into_iter().filter_map(|piece| piece(system)).collect();
    // Commands for a container's host are typed by whoever is there.
    if system.machine.root_user == Some(true) && system.container.kind.is_none() {
        for command in advice.iter_mut().filter_map(|piece| piece.command.as_mut()) {
            *command = for_root(command);
        }
    }
    advice
}

/// A command without sudo, which small systems do not have and root does not need.
fn for_root(command: &str) -> String {
    match command.split_once(" | sudo tee ") {
        Some((echo, file)) if !file.contains([' ', '*', '[']) => format!("{echo} > {file}"),
        _ => command.replace("sudo ", ""),
    }
}
