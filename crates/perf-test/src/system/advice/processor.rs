//! Advice on the CPUs: frequency, sleep states, and CPUs that share a core.

use std::collections::BTreeSet;

use super::Advice;
use crate::system::System;
use crate::system::cpu_idle::disable_command;
use crate::system::frequency::{DEVICES, performance_command};
use crate::system::root::list_text;

/// The number of CPUs from which there is advice to isolate some. With fewer, no CPU can be spared for one thread.
const MIN_CPUS_TO_ISOLATE: usize = 4;

pub(super) fn governor(system: &System) -> Option<Advice> {
    let policies = &system.frequency.policies;
    let lowered: Vec<_> = policies.iter().filter(|policy| policy.is_lowered()).collect();
    let governors: BTreeSet<&str> = lowered.iter().filter_map(|policy| policy.governor.as_deref()).collect();
    if governors.is_empty() {
        return None;
    }
    let governors = governors.into_iter().collect::<Vec<_>>().join(" and ");
    let which = match (lowered.len(), policies.len()) {
        (few, all) if few < all => format!("{few} of {all} CPU frequency policies have"),
        _ => "the CPU frequency is controlled by".to_owned(),
    };
    Some(Advice::new(
        format!("{which} the governor {governors}, not performance"),
        "The CPUs slow down between messages, so the same work takes several times longer for the next message.",
        performance_command(policies),
    ))
}

pub(super) fn deep_sleep(system: &System) -> Option<Advice> {
    let deep: Vec<_> = system.cpu_idle.deep_states().collect();
    let longest_us = deep.iter().filter_map(|state| state.latency_us).max()?;
    let names: Vec<&str> = deep.iter().map(|state| state.label()).collect();
    Some(Advice::new(
        format!("idle CPUs may enter {}", names.join(", ")),
        format!(
            "A CPU takes up to {longest_us} µs to leave this state, which adds to the latency; \
             perf_test --prevent-cpu-idle avoids it for one run, idle=poll on the kernel's command line permanently."
        ),
        disable_command(deep.into_iter()),
    ))
}

pub(super) fn other_devices(system: &System) -> Option<Advice> {
    let lowered: Vec<_> = system.frequency.devices.iter().filter(|device| device.is_lowered()).collect();
    let files: Vec<String> = lowered.iter().map(|device| format!("/{DEVICES}/{}/governor", device.name)).collect();
    let found: Vec<String> = lowered
        .iter()
        .filter_map(|device| Some(format!("{} has the governor {}", device.name, device.governor.as_ref()?)))
        .collect();
    if found.is_empty() {
        return None;
    }
    Some(Advice::new(
        format!("{}, not performance", found.join(", ")),
        "Memory or a bus that slows down under low load makes copies of large messages slower.",
        format!("echo performance | sudo tee {}", files.join(" ")),
    ))
}

pub(super) fn turbo(system: &System) -> Option<Advice> {
    let turbo = system.frequency.turbo.as_ref().filter(|turbo| turbo.on)?;
    Some(Advice::new(
        "turbo is on",
        "The speed of a CPU then depends on heat and on the load of other CPUs, so equal runs differ.",
        format!("echo {} | sudo tee {}", turbo.off_value, turbo.file),
    ))
}

pub(super) fn smt(system: &System) -> Option<Advice> {
    let is_controlled = system.cpu.smt_control.as_deref() == Some("on");
    (system.cpu.smt_active == Some(true)).then(|| {
        Advice::new(
            "SMT is on: several CPUs share a core",
            "A program on the other CPU of a core takes up to half of its speed and all of its caches.",
            is_controlled.then(|| "echo off | sudo tee /sys/devices/system/cpu/smt/control".to_owned()),
        )
    })
}

pub(super) fn not_isolated(system: &System) -> Option<Advice> {
    let cpus = system.cpu.online_cpus.as_ref().filter(|cpus| cpus.len() >= MIN_CPUS_TO_ISOLATE)?;
    if !system.cpu.isolated_cpus.as_ref()?.is_empty() {
        return None;
    }
    let last = list_text(cpus.get(cpus.len() - 2..)?);
    let parameters = format!("isolcpus={last} nohz_full={last} rcu_nocbs={last}");
    let command = system.kernel.has_grub.then(|| {
        format!(
            "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{parameters} /' /etc/default/grub && sudo update-grub && sudo reboot"
        )
    });
    let why = format!(
        "The scheduler may run any program on the CPU of a thread that waits for a message, which p99.9 and the maximum \
         show; to run workers with --pin on CPUs {last}, add `{parameters}` to the kernel's command line."
    );
    Some(Advice::new("no CPU is isolated", why, command))
}
