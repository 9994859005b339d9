//! The output of `perf_test system`: the machine, its noise and the advice, as aligned lines in groups.
//!
//! The last line of each group lists the labels whose values are unknown.

mod layout;
mod values;

use super::{Advice, Noise, System};
use crate::common::units::format_ns;

use layout::{Group, numbered};

/// The output of `perf_test system` as lines.
#[must_use]
pub fn lines(system: &System, noise: Option<&Noise>, advice: &[Advice]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in [machine(system), speed(system), kernel(system), load(system)] {
        lines.extend(group.lines());
    }
    if let Some(noise) = noise {
        lines.extend(noise_lines(noise));
    }
    lines.extend(advice_lines(system, advice));
    lines
}

fn machine(system: &System) -> Group {
    Group::new("machine")
        .line("model", system.machine.model.clone())
        .line("CPU", values::cpu(&system.cpu))
        .line("CPUs", values::cpus(&system.cpu))
        .line("caches", values::caches(&system.cpu))
        .line("memory", values::memory(&system.memory, system.cpu.numa_nodes))
        .line("/dev/shm", values::shared_memory(&system.memory))
        .line("hypervisor", system.machine.hypervisor.map(values::yes_or_no))
        .line("container", values::container(&system.container))
        .line("CPU quota", values::quota(&system.container))
}

fn speed(system: &System) -> Group {
    let limit = system.cpu_idle.latency_limit_us;
    let limit = limit.map(|us| format!("within {us} µs, by a program that holds /dev/cpu_dma_latency"));
    let partitions = system.cpu.partition_cpus.as_deref().filter(|cpus| !cpus.is_empty());
    Group::new("speed")
        .line("governor", values::policies(&system.frequency))
        .line("devices", values::devices(&system.frequency))
        .line("turbo", system.frequency.turbo.as_ref().map(|turbo| values::on_or_off(turbo.on)))
        .line("SMT", values::smt(&system.cpu))
        .line("C-states", values::sleep(&system.cpu_idle))
        .rare("wake-up", limit)
        .line("isolated", system.cpu.isolated_cpus.as_deref().map(values::cpu_list))
        .rare("partitions", partitions.map(values::cpu_list))
        .line("nohz_full", system.cpu.nohz_full_cpus.as_deref().map(values::cpu_list))
}

fn kernel(system: &System) -> Group {
    let kernel = &system.kernel;
    Group::new("kernel")
        .line("release", values::release(kernel))
        .line("preemption", kernel.preemption.clone())
        .line("scheduler", values::scheduler(kernel))
        .line("clock", values::clock(kernel))
        .line("huge pages", values::huge_pages(&system.memory))
        .line("scheduling", system.process.scheduling())
        .line("limits", values::limits(&system.memory))
        .line("sockets", values::sockets(&system.sockets))
        .line("options", kernel.command_line.clone())
}

fn load(system: &System) -> Group {
    Group::new("load")
        .line("average", values::load(&system.load))
        .line("CPU time", system.load.cpu_times.as_ref().and_then(values::cpu_times))
}

fn noise_lines(noise: &Noise) -> Vec<String> {
    let mut group = Group::new(&format!("noise floor, measured for {:.1} s", noise.length_s));
    let row = |cells: [String; 4]| Some(cells.iter().map(|cell| format!("{cell:<12}")).collect::<String>());
    group = group.line("", row(["p50", "p99", "max", "n"].map(str::to_owned)));
    for (label, spread) in [("timer late", &noise.timer_lateness), ("wake-up", &noise.wake_up)] {
        let [p50, p99, max] = [spread.p50_ns, spread.p99_ns, spread.max_ns].map(|ns| format_ns(ns as f64));
        group = group.line(label, row([p50, p99, max, spread.n.to_string()]));
    }
    let (cost, step) = (format_ns(noise.clock_cost_ns), format_ns(noise.clock_step_ns as f64));
    let clock = format!("{cost} to read, in steps of {step}");
    let stopped = format!(
        "a thread that never sleeps: up to {} at once, {:.2} % of the time",
        format_ns(noise.largest_gap_ns as f64),
        noise.stopped_part * 100.0
    );
    let group = group.line("clock", Some(clock)).line("stopped", Some(stopped));
    group.line("verdict", Some(noise.verdict.clone())).lines()
}

fn advice_lines(system: &System, advice: &[Advice]) -> Vec<String> {
    if advice.is_empty() {
        return vec!["advice: none. No known setting disturbs measurements".to_owned()];
    }
    let mut lines = vec!["advice, the most important first".to_owned()];
    if system.container.kind.is_some() {
        lines.push("  This is a container: run the commands on its host.".to_owned());
    }
    for (index, piece) in advice.iter().enumerate() {
        lines.extend(numbered(index + 1, piece));
    }
    lines
}
