//! Advice on everything around the CPUs: quotas, other load, clocks, memory, limits and the network.

use super::Advice;
use crate::common::units::format_ns;
use crate::system::System;
use crate::system::kernel::{CLOCK_SOURCE, SYSCTL};
use crate::system::load::CpuTimes;
use crate::system::memory::{HUGE_PAGES, SHARED_MEMORY, SOCKETS};

/// There is advice if the hypervisor steals more than this fraction of the CPU time.
const STEAL_WARN_FRACTION: f64 = 0.01;
/// There is advice if the load average per CPU is above this value.
const LOAD_WARN_PER_CPU: f64 = 0.25;
/// There is advice if less shared memory is free. It would not suffice for a few topics with a history of images.
const MIN_FREE_SHARED_KIB: u64 = 512 * 1024;
const GIB_KIB: u64 = 1024 * 1024;
/// There is advice if the limit of socket buffers is smaller. One large message would not fit.
const MIN_BUFFER_BYTES: u64 = 4 << 20;
/// The limit of socket buffers that middlewares recommend.
const RECOMMENDED_BUFFER_BYTES: u64 = i32::MAX as u64;
/// The clock sources that a single instruction reads, the best first.
const FAST_CLOCKS: [&str; 2] = ["tsc", "arch_sys_counter"];

pub(super) fn cpu_quota(system: &System) -> Option<Advice> {
    let quota = system.container.quota.as_ref()?;
    let (none, how) = if quota.file.ends_with("cpu.max") { ("max", "cpu.max") } else { ("-1", "cpu.cfs_quota_us") };
    let stop_ms = quota.period_us as f64 / 1000.0;
    Some(Advice::new(
        format!("a control group limits this process to {:.2} CPUs ({how})", quota.cpus()),
        format!(
            "A process that exhausts the limit stops for the rest of a period of {stop_ms:.0} ms, which shows as latency; \
             start the container without --cpus or its CPU limit."
        ),
        format!("echo {none} | sudo tee {}", quota.file),
    ))
}

pub(super) fn steal(system: &System) -> Option<Advice> {
    let part =
        system.load.cpu_times.as_ref().and_then(CpuTimes::stolen_part).filter(|part| *part > STEAL_WARN_FRACTION)?;
    Some(Advice::new(
        format!("{:.1} % of the CPU time since the start was stolen by the hypervisor", part * 100.0),
        "The hypervisor ran other machines while this one had work, which shows as latencies of milliseconds; \
         measure on a host that is not overcommitted, or on dedicated CPUs.",
        None,
    ))
}

pub(super) fn other_load(system: &System) -> Option<Advice> {
    let (load, cpus) = (system.load.mean_1_min?, system.cpu.online()?);
    (load > LOAD_WARN_PER_CPU * cpus as f64).then(|| {
        Advice::new(
            format!("the load is {load:.2} on {cpus} CPUs"),
            "Other programs take CPU time from the run and evict its data from the caches: stop the programs that this lists.",
            "ps -eo pcpu,pid,user,comm --sort=-pcpu | head".to_owned(),
        )
    })
}

pub(super) fn clock_source(system: &System) -> Option<Advice> {
    let source = system.kernel.clock_source.as_deref().filter(|source| !FAST_CLOCKS.contains(source))?;
    let available = system.kernel.available_clock_sources.as_deref().unwrap_or_default();
    let faster = FAST_CLOCKS.iter().find(|fast| available.iter().any(|name| name == *fast));
    Some(Advice::new(
        format!("the time is read from {source}"),
        "The clock is read for each message, and this source costs more than the CPU's own counter: up to a microsecond \
         and a system call.",
        faster.map(|fast| format!("echo {fast} | sudo tee /{CLOCK_SOURCE}/current_clocksource")),
    ))
}

pub(super) fn small_shared_memory(system: &System) -> Option<Advice> {
    let free_kib = system.memory.shared_memory_free_kib.filter(|free_kib| *free_kib < MIN_FREE_SHARED_KIB)?;
    let total_kib = system.memory.shared_memory_kib?;
    let size_gib = total_kib.saturating_add(GIB_KIB).div_ceil(GIB_KIB);
    Some(Advice::new(
        format!("/{SHARED_MEMORY} has {} MiB free of {} MiB", free_kib / 1024, total_kib / 1024),
        "Publishers keep their messages there: large messages or a deep history do not fit, and the run fails; \
         start a container with --shm-size.",
        format!("sudo mount -o remount,size={size_gib}G /{SHARED_MEMORY}"),
    ))
}

pub(super) fn real_time_limit(system: &System) -> Option<Advice> {
    let kernel = &system.kernel;
    let (runtime_us, period_us) =
        (kernel.sched_rt_runtime_us.filter(|runtime| *runtime >= 0)?, kernel.sched_rt_period_us?);
    (runtime_us < period_us).then(|| {
        Advice::new(
            format!("real-time threads may run {runtime_us} of each {period_us} µs"),
            format!(
                "With --use-rt-prio, a thread that busy-waits is stopped for up to {}; without this limit, a thread that never \
                 sleeps keeps its CPU forever.",
                format_ns((period_us - runtime_us) as f64 * 1000.0)
            ),
            format!("echo -1 | sudo tee /{SYSCTL}/sched_rt_runtime_us"),
        )
    })
}

pub(super) fn huge_pages(system: &System) -> Option<Advice> {
    (system.memory.transparent_huge_pages.as_deref() == Some("always")).then(|| {
        Advice::new(
            "transparent huge pages are on for all programs",
            "The kernel stops a program while it clears or collects 2 MiB at once, which shows in the maximum.",
            format!("echo madvise | sudo tee /{HUGE_PAGES}/enabled"),
        )
    })
}

pub(super) fn hypervisor(system: &System) -> Option<Advice> {
    let why = "Wake-ups and timers go through the hypervisor and take tens of microseconds: compare runs on this machine \
               with each other, and measure absolute values on a real one.";
    (system.machine.hypervisor == Some(true)).then(|| Advice::new("this is a virtual machine", why, None))
}

pub(super) fn small_socket_buffers(system: &System) -> Option<Advice> {
    let sockets = &system.sockets;
    let (receive, send) = (sockets.receive_max_bytes?, sockets.send_max_bytes?);
    let small: Vec<&str> = [(receive, "rmem_max"), (send, "wmem_max")]
        .into_iter()
        .filter_map(|(bytes, name)| (bytes < MIN_BUFFER_BYTES).then_some(name))
        .collect();
    let files: Vec<String> = small.iter().map(|name| format!("/{SOCKETS}/{name}")).collect();
    (!small.is_empty()).then(|| {
        Advice::new(
            format!("sockets may buffer {} KiB on receive and {} KiB on send", receive / 1024, send / 1024),
            "Middlewares that use the network lose bursts and large messages; Gantry is not affected.",
            format!("echo {RECOMMENDED_BUFFER_BYTES} | sudo tee {}", files.join(" ")),
        )
    })
}
