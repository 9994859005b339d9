//! The scheduling policy and the CPUs of a callback group's thread.

use crate::{
    error::{Error, Result},
    node::CallbackGroup,
};
use gantry_shm::SchedulingPolicy;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io::ErrorKind;

/// Applies the scheduling policy and the CPUs of a group to the calling thread.
pub(super) fn apply(group: &CallbackGroup) -> Result<()> {
    let options = group.group().thread();
    let refused = |property: String, why: String| {
        let node = group.node().fully_qualified_name();
        Error::GroupThread { node, property, why }
    };
    if !options.cpus.is_empty() {
        run_on(&options.cpus).map_err(|why| refused(format!("the CPUs {:?}", options.cpus), why))?;
    }
    if let Some(policy) = options.policy {
        schedule(policy).map_err(|why| refused(format!("the scheduling policy {policy:?}"), why))?;
    }
    Ok(())
}

fn run_on(cpus: &[usize]) -> std::result::Result<(), String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!("there is no CPU {cpu}; Linux numbers them 0 to {}", CpuSet::MAX_CPU - 1));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| format!("{error}; the CPUs must be online and allowed here (see `nproc` and `lscpu -e`)"))
}

fn schedule(policy: SchedulingPolicy) -> std::result::Result<(), String> {
    policy.apply().map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => "Linux has real-time priorities from 1 to 99".to_owned(),
        _ => format!(
            "{error}; raise the limit of real-time priorities (RLIMIT_RTPRIO, `ulimit -r`) or give the program \
             CAP_SYS_NICE"
        ),
    })
}
