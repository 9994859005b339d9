//! The values of the output as text with units. Equal values are counted. A function returns `None` if no value is
//! known.

use std::collections::BTreeMap;

use crate::common::units::several;
use crate::system::container::Container;
use crate::system::cpu::Cpu;
use crate::system::cpu_idle::CpuIdle;
use crate::system::frequency::{Frequency, Policy};
use crate::system::kernel::Kernel;
use crate::system::load::{CpuTimes, Load};
use crate::system::memory::{Memory, SocketBuffers};
use crate::system::root::list_text;

pub(super) fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

pub(super) fn on_or_off(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

pub(super) fn cpu_list(cpus: &[u32]) -> String {
    if cpus.is_empty() { "none".to_owned() } else { list_text(cpus) }
}

/// The known parts, separated by commas; `None` if no part is known.
fn known(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

pub(super) fn cpu(cpu: &Cpu) -> Option<String> {
    known([cpu.model.clone(), Some(cpu.architecture.clone())])
}

pub(super) fn cpus(cpu: &Cpu) -> Option<String> {
    let usable = cpu.usable_cpus.as_deref().map(|usable| match cpu.online_cpus.as_deref() {
        Some(online) if online == usable => "all usable".to_owned(),
        _ => format!("usable {}", list_text(usable)),
    });
    known([
        cpu.online_cpus.as_deref().map(|cpus| format!("online {}", list_text(cpus))),
        usable,
        cpu.sockets.map(|sockets| several(sockets, "socket", "sockets")),
        cpu.cores.map(|cores| several(cores, "core", "cores")),
        cpu.threads_per_core.map(|threads| format!("{} each", several(threads, "thread", "threads"))),
    ])
}

pub(super) fn caches(cpu: &Cpu) -> Option<String> {
    known(cpu.caches.iter().map(|cache| {
        let kind = match cache.kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        let count = if cache.count > 1 { format!("{} × ", cache.count) } else { String::new() };
        Some(format!("L{}{kind} {count}{}", cache.level, size(cache.size_kib)))
    }))
}

/// A size in the largest of the units KiB, MiB and GiB in which it is at least 1.
fn size(size_kib: u64) -> String {
    match size_kib as f64 {
        kib if kib < 1024.0 => format!("{kib} KiB"),
        kib if kib < 1024.0 * 1024.0 => format!("{} MiB", rounded(kib / 1024.0)),
        kib => format!("{} GiB", rounded(kib / 1024.0 / 1024.0)),
    }
}

fn rounded(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

pub(super) fn memory(memory: &Memory, numa_nodes: Option<usize>) -> Option<String> {
    known([
        memory.total_kib.map(size),
        memory.available_kib.map(|kib| format!("{} available", size(kib))),
        numa_nodes.map(|nodes| several(nodes, "NUMA node", "NUMA nodes")),
    ])
}

pub(super) fn shared_memory(memory: &Memory) -> Option<String> {
    known([memory.shared_memory_kib.map(size), memory.shared_memory_free_kib.map(|kib| format!("{} free", size(kib)))])
}

pub(super) fn container(container: &Container) -> Option<String> {
    let none = || container.control_group.as_ref().map(|_| "none detected".to_owned());
    container.kind.clone().or_else(none)
}

pub(super) fn quota(container: &Container) -> Option<String> {
    let Some(quota) = &container.quota else {
        return container.control_group.as_ref().map(|_| "none found".to_owned());
    };
    Some(format!("{:.2} CPUs: {} of each {} µs ({})", quota.cpus(), quota.quota_us, quota.period_us, quota.file))
}

/// The frequency policies as text. Equal policies share a line.
pub(super) fn policies(frequency: &Frequency) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<&Policy>> = BTreeMap::new();
    for policy in &frequency.policies {
        let bounds =
            policy.min_khz.zip(policy.max_khz).map(|(min, max)| format!("{} to {} MHz", min / 1000, max / 1000));
        let preference = policy.energy_performance_preference.as_ref();
        let parts = [
            policy.governor.clone(),
            bounds,
            policy.driver.as_ref().map(|driver| format!("driver {driver}")),
            preference.map(|preference| format!("preference {preference}")),
        ];
        groups.entry(known(parts).unwrap_or_else(|| "not known".to_owned())).or_default().push(policy);
    }
    let line = |(values, policies): (&String, &Vec<&Policy>)| {
        let cpus: Option<Vec<Vec<u32>>> = policies.iter().map(|policy| policy.cpus.clone()).collect();
        let mut cpus = cpus.unwrap_or_default().concat();
        cpus.sort_unstable();
        let names = match policies.as_slice() {
            [one] => one.name.clone(),
            several => format!("{} policies", several.len()),
        };
        let which = if cpus.is_empty() { names } else { format!("{names}, CPUs {}", list_text(&cpus)) };
        format!("{values} ({which})")
    };
    groups.iter().map(line).collect()
}

pub(super) fn devices(frequency: &Frequency) -> Vec<String> {
    let line = |device: &crate::system::frequency::Device| {
        let bounds = device.min_hz.zip(device.max_hz);
        let bounds = bounds.map(|(min, max)| format!("{} to {} MHz", min / 1_000_000, max / 1_000_000));
        let values = known([device.governor.clone(), bounds]).unwrap_or_else(|| "not known".to_owned());
        format!("{values} ({})", device.name)
    };
    frequency.devices.iter().map(line).collect()
}

pub(super) fn smt(cpu: &Cpu) -> Option<String> {
    let control = cpu.smt_control.as_deref().filter(|control| !["on", "off"].contains(control));
    known([cpu.smt_active.map(on_or_off), control.map(|control| format!("control: {control}"))])
}

pub(super) fn sleep(idle: &CpuIdle) -> Option<String> {
    let states: Vec<String> = idle
        .states
        .iter()
        .map(|state| {
            let latency = state.latency_us.map(|latency_us| format!(" {latency_us} µs")).unwrap_or_default();
            let disabled = if state.disabled == Some(true) { " (disabled)" } else { "" };
            format!("{}{latency}{disabled}", state.label())
        })
        .collect();
    known([
        (!states.is_empty()).then(|| states.join(", ")),
        idle.driver.as_ref().map(|driver| format!("driver {driver}")),
        idle.governor.as_ref().map(|governor| format!("governor {governor}")),
    ])
}

pub(super) fn release(kernel: &Kernel) -> Option<String> {
    let words = [kernel.release.as_deref(), kernel.version.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

pub(super) fn scheduler(kernel: &Kernel) -> Option<String> {
    let limit = match (kernel.sched_rt_runtime_us, kernel.sched_rt_period_us) {
        (Some(-1), _) => Some("real-time threads without limit".to_owned()),
        (Some(runtime), Some(period)) => Some(format!("real-time threads {runtime} of each {period} µs")),
        _ => None,
    };
    let setting = |name: &str, label: &str| kernel.scheduler.get(name).map(|value| format!("{label} {value}"));
    known([
        limit,
        setting("sched_autogroup_enabled", "autogroup"),
        setting("base_slice_ns", "slice ns"),
        kernel.timer_slack_ns.map(|slack_ns| format!("timer slack {} µs", slack_ns as f64 / 1000.0)),
    ])
}

pub(super) fn clock(kernel: &Kernel) -> Option<String> {
    let source = kernel.clock_source.clone()?;
    let others = kernel.available_clock_sources.as_deref().unwrap_or_default().iter().filter(|name| **name != source);
    let others = others.map(String::as_str).collect::<Vec<_>>().join(", ");
    Some(if others.is_empty() { source } else { format!("{source} (others: {others})") })
}

pub(super) fn huge_pages(memory: &Memory) -> Option<String> {
    let explicit = memory.huge_pages.map(|pages| match memory.huge_page_kib {
        Some(size_kib) => format!("explicit {pages} × {}", size(size_kib)),
        None => format!("explicit {pages}"),
    });
    known([
        memory.transparent_huge_pages.as_ref().map(|mode| format!("transparent {mode}")),
        memory.transparent_huge_pages_defrag.as_ref().map(|mode| format!("defrag {mode}")),
        memory.transparent_huge_pages_shared.as_ref().map(|mode| format!("shared memory {mode}")),
        explicit,
    ])
}

pub(super) fn limits(memory: &Memory) -> Option<String> {
    let limit = |value: u64, text: String| if value == u64::MAX { "without limit".to_owned() } else { text };
    known([
        memory.lock_limit_bytes.map(|bytes| format!("locked memory {}", limit(bytes, size(bytes / 1024)))),
        memory
            .rt_priority_limit
            .map(|priority| format!("real-time priority {}", limit(priority, priority.to_string()))),
    ])
}

pub(super) fn sockets(sockets: &SocketBuffers) -> Option<String> {
    let buffer = |name: &str, largest: Option<u64>, default: Option<u64>| {
        let default = default.map(|bytes| format!(" (default {})", size(bytes / 1024))).unwrap_or_default();
        Some(format!("{name} up to {}{default}", size(largest? / 1024)))
    };
    known([
        buffer("receive", sockets.receive_max_bytes, sockets.receive_default_bytes),
        buffer("send", sockets.send_max_bytes, sockets.send_default_bytes),
    ])
}

pub(super) fn load(load: &Load) -> Option<String> {
    let means = [(load.mean_1_min, 1), (load.mean_5_min, 5), (load.mean_15_min, 15)];
    let means = means.map(|(mean, minutes)| mean.map(|mean| format!("{mean:.2} ({minutes} min)")));
    Some(format!("{} runnable threads", known(means)?))
}

pub(super) fn cpu_times(times: &CpuTimes) -> Option<String> {
    let total_ms = times.total_ms();
    let percent = |ms: u64| format!("{:.1} %", ms as f64 / total_ms as f64 * 100.0);
    (total_ms > 0).then(|| {
        format!(
            "since boot: programs {}, kernel {}, interrupts {}, idle {}, stolen {}",
            percent(times.user_ms.saturating_add(times.nice_ms)),
            percent(times.system_ms),
            percent(times.irq_ms.saturating_add(times.softirq_ms)),
            percent(times.idle_ms.saturating_add(times.iowait_ms)),
            percent(times.steal_ms)
        )
    })
}
