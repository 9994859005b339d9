//! Advice: settings of this machine that make latencies longer or noisier, and the commands that change them.
//!
//! The most important advice comes first. Each piece of advice depends on its own values only. If a value is
//! unreadable, there is no advice on it.

mod processor;
mod surroundings;

use serde::Serialize;

use super::System;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The finding, with its values.
    pub finding: String,
    /// The effect on measurements, as one sentence.
    pub why: String,
    /// The command that changes the setting; `None` if this machine has no such command.
    pub command: Option<String>,
}

impl Advice {
    fn new(finding: impl Into<String>, why: impl Into<String>, command: impl Into<Option<String>>) -> Advice {
        Advice { finding: finding.into(), why: why.into(), command: command.into() }
    }
}

/// All advice for this machine, the most important first.
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
    // Removes sudo from the commands if root runs perf_test. In a container sudo stays: the commands are for the host,
    // whose user is unknown.
    if system.machine.root_user == Some(true) && system.container.kind.is_none() {
        for command in advice.iter_mut().filter_map(|piece| piece.command.as_mut()) {
            *command = for_root(command);
        }
    }
    advice
}

/// The command without sudo, which root does not need and small systems do not have.
fn for_root(command: &str) -> String {
    match command.split_once(" | sudo tee ") {
        Some((echo, file)) if !file.contains([' ', '*', '[']) => format!("{echo} > {file}"),
        _ => command.replace("sudo ", ""),
    }
}
