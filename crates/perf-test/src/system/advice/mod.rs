//! Advice: settings that make latencies on this machine longer or noisier, and the commands that change them.
//!
//! The most important advice comes first. The pieces of advice are independent of each other, and an unreadable value
//! gives no advice.

mod processor;
mod surroundings;

use serde::Serialize;

use super::System;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The finding, with its values.
    pub finding: String,
    /// The effect on a measurement, in one sentence.
    pub why: String,
    /// The command that changes the setting; `None` if no command on this machine changes it.
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
    // In a container the commands are for its host, and the user of the host is not known.
    if system.machine.root_user == Some(true) && system.container.kind.is_none() {
        for command in advice.iter_mut().filter_map(|piece| piece.command.as_mut()) {
            *command = for_root(command);
        }
    }
    advice
}

/// A command without sudo, which small systems lack and root does not need.
fn for_root(command: &str) -> String {
    match command.split_once(" | sudo tee ") {
        Some((echo, file)) if !file.contains([' ', '*', '[']) => format!("{echo} > {file}"),
        _ => command.replace("sudo ", ""),
    }
}
