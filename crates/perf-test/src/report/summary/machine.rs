//! The second half of the printed summary: CPU time and memory of the run, the calibration of the machine, and the cost
//! of measuring.

use super::text::labelled;
use crate::common::units::format_ns;
use crate::log::figures::{Figure, PEAK_MEMORY, PSS};
use crate::log::{Summary, WorkerEntry};
use crate::measure::daemon::DaemonUsage;
use perf_worker::backend::DeviceMemory;
use perf_worker::measure::calibration::Calibration;
use perf_worker::measure::histogram::Latencies;
use perf_worker::measure::memory::{Footprint, Resident};
use perf_worker::measure::tally::TALLIES;
use perf_worker::measure::threads::ThreadUsage;
use perf_worker::run_spec::RunSpec;
use perf_worker::worker::{KEEPER_THREAD, ORDERS_THREAD};

/// The largest number of workers that are shown one by one. With more workers, only sums are shown; the full log has
/// each worker.
const MAX_SHOWN_WORKERS: usize = 8;
/// A thread is shown if it used at least this fraction of its process's CPU time.
const MIN_SHOWN_FRACTION: f64 = 0.01;
/// The ratio of latency to copy cost is shown only if two copies cost more than this number of wake-ups. Otherwise the
/// variation of wake-ups would decide the ratio.
const MIN_COPIES_PER_WAKE_UP: f64 = 5.0;
/// The names of perf_test's own threads in a worker, besides the main thread.
const INSTRUMENTS: [&str; 2] = [ORDERS_THREAD, KEEPER_THREAD];

/// Whether a thread of the worker `pid` is one of perf_test's own threads, which do not handle messages. The main
/// thread, whose thread ID is the process ID, is one of them.
pub fn is_instrument(thread: &ThreadUsage, pid: u32) -> bool {
    thread.tid == pid || INSTRUMENTS.contains(&&*thread.name)
}

impl Summary {
    pub(crate) fn machine_lines(&self, spec: &RunSpec) -> Vec<String> {
        let mut lines = self.cpu_lines(spec);
        lines.extend(self.memory_lines());
        if self.workers.len() <= MAX_SHOWN_WORKERS {
            lines.extend(self.workers.iter().flat_map(worker_lines));
        }
        lines.extend(self.daemons.iter().map(daemon_line));
        lines.extend(self.calibration_lines(spec));
        lines.extend(self.copy_path_lines(spec));
        lines
    }

    fn cpu_lines(&self, spec: &RunSpec) -> Vec<String> {
        let measured = &self.used;
        let (without, with) = if self.daemons.is_empty() { ("", "") } else { (" without daemons", " with daemons") };
        let per_message =
            self.cpu_per_message_ns.map_or(String::new(), |ns| format!(", {} per message{with}", format_ns(ns)));
        let all = self.core_percent / self.cores as f64;
        let mut lines = vec![
            labelled!(
                "CPU",
                "{:.2} % of one core, {all:.2} % of all {}{without}{per_message}",
                self.core_percent,
                self.cores
            ),
            labelled!(
                "",
                "{} during measurement (user {}, system {}), {} with set-up; coordinator separately: {}",
                format_ns(measured.cpu_ns() as f64),
                format_ns(measured.user_ns as f64),
                format_ns(measured.system_ns as f64),
                format_ns(self.workers.iter().map(|worker| worker.used.cpu_ns()).sum::<i64>() as f64),
                format_ns(self.coordinator_used.cpu_ns() as f64)
            ),
            labelled!(
                "",
                "context switches {} voluntary, {} involuntary; page faults {} without I/O, {} with I/O",
                measured.voluntary_switches,
                measured.involuntary_switches,
                measured.minor_faults,
                measured.major_faults
            ),
        ];
        if spec.check_memory {
            let (sent, received) = (&self.total.sent, &self.total.received);
            let per = |count: u64, messages: u64| count as f64 / messages.max(1) as f64;
            lines.push(labelled!(
                "allocations",
                "{} in publish ({:.3} per message), {} in take ({:.3} per message), after the warm-up",
                sent.allocations,
                per(sent.allocations, sent.samples),
                received.allocations,
                per(received.allocations, received.samples)
            ));
        }
        lines
    }

    fn memory_lines(&self) -> Vec<String> {
        let of_run = |figure: &Figure| figure.show_or_dash(figure.value(self));
        let mut lines = vec![labelled!(
            "memory",
            "{} peak, sum of all workers and daemons; {} at the end (PSS, without perf_test's counters)",
            of_run(&PEAK_MEMORY),
            of_run(&PSS)
        )];
        let mut footprint = Footprint::default();
        let ended: Vec<&Footprint> = self.workers.iter().filter_map(|worker| worker.footprint.as_ref()).collect();
        ended.iter().for_each(|of| footprint.add(of));
        if ended.is_empty() {
            return lines;
        }
        let kind = |(name, Resident { rss_kib, pss_kib })| format!("{name} {rss_kib} ({pss_kib})");
        let Footprint { heap, stack, shared, file, other } = footprint;
        let kinds = [("heap", heap), ("stack", stack), ("shared", shared), ("file", file), ("other", other)].map(kind);
        lines.push(labelled!("", "{} KiB of the workers: RSS (PSS)", kinds.join(", ")));
        lines
    }

    fn calibration_lines(&self, spec: &RunSpec) -> Vec<String> {
        let found = self.calibrations().mean();
        let own = &self.own_cost;
        let memory = self.instrument_memory(spec);
        vec![
            labelled!(
                "machine",
                "filling a message takes {}, a warm copy {}, a copy at the run's rate {},",
                format_ns(found.fill_ns),
                format_ns(found.warm_copy_ns),
                format_ns(found.paced_copy_ns)
            ),
            labelled!(
                "",
                "waking a thread {}, reading the clock {} (means of before and after the run)",
                format_ns(found.wake_up_ns),
                format_ns(found.clock_ns)
            ),
            labelled!(
                "instrument",
                "costs {} per message sent and {} per message received, included in the CPU time above;",
                format_ns(own.send_ns),
                format_ns(own.receive_ns)
            ),
            labelled!(
                "",
                "its reports took {} of CPU during measurement, not included in it;",
                format_ns(self.instrument_used.cpu_ns() as f64)
            ),
            labelled!("", "its memory is {memory}, included in the peak above"),
        ]
    }

    /// The memory of the workers that holds counters and histograms, as text.
    fn instrument_memory(&self, spec: &RunSpec) -> String {
        let known: Vec<u64> = self.workers.iter().filter_map(|worker| worker.instrument_bytes).collect();
        let endpoints = u64::from(spec.publishers) + u64::from(spec.subscriptions);
        if spec.executor.is_some() && known.len() == self.workers.len() {
            let bytes: u64 = known.iter().sum();
            return format!(
                "{} KiB, {:.1} KiB per endpoint",
                bytes / 1024,
                bytes as f64 / 1024.0 / endpoints.max(1) as f64
            );
        }
        // A publisher has one histogram and a subscription has two.
        let distribution_kib = TALLIES * Latencies::default().memory_bytes() / 1024;
        format!("up to {distribution_kib} KiB per publisher and {} KiB per subscription", 2 * distribution_kib)
    }

    /// The mean latency divided by the cost of two warm copies and one wake-up. `None` with zero copy, without samples,
    /// or if something else decides the ratio: several subscriptions that wait for each other, or copies that are
    /// cheaper than the variation of wake-ups.
    #[must_use]
    pub fn copy_ratio(&self, spec: &RunSpec) -> Option<f64> {
        let found = self.calibrations().mean();
        let copies_matter = 2.0 * found.warm_copy_ns > MIN_COPIES_PER_WAKE_UP * found.wake_up_ns;
        let possible = !spec.zero_copy && spec.subscriptions == 1 && copies_matter;
        self.total.latency.mean_ns.filter(|_| possible).map(|mean_ns| mean_ns / found.copy_path_ns())
    }

    fn copy_path_lines(&self, spec: &RunSpec) -> Vec<String> {
        let Some(ratio) = self.copy_ratio(spec) else { return Vec::new() };
        let found = self.calibrations().mean();
        let paced = self.total.latency.mean() / found.paced_copy_path_ns();
        let (warm_path, paced_path) = (format_ns(found.copy_path_ns()), format_ns(found.paced_copy_path_ns()));
        let mut lines = vec![
            labelled!("copy path", "mean latency is {ratio:.2} × (2 warm copies + 1 wake-up = {warm_path}),"),
            labelled!(
                "",
                "and {paced:.2} × the same with copies at the run's rate ({paced_path}); a run has more slots"
            ),
        ];
        for (what, figure) in [
            ("2 warm copies + 1 wake-up", Calibration::copy_path_ns as fn(&Calibration) -> f64),
            ("the same at the run's rate", Calibration::paced_copy_path_ns),
        ] {
            if let Some((before, after)) = self.calibrations().drift(figure) {
                let (before, after) = (format_ns(before), format_ns(after));
                lines.push(labelled!("", "{what}: {before} before the run, {after} after it; the mean is used"));
            }
        }
        lines
    }
}

fn daemon_line(daemon: &DaemonUsage) -> String {
    let DaemonUsage { name, pid, cpu_ns, core_percent, memory, started_by_run, .. } = daemon;
    let started = if *started_by_run { ", started by the run" } else { "" };
    let used = format!(
        "{} CPU during measurement, {core_percent:.2} % of one core, included in the cost of a message",
        format_ns(*cpu_ns as f64)
    );
    labelled!("daemon", "{name:<24} {:>8} KiB peak, {used}   pid {pid}{started}", memory.peak_rss_kib)
}

fn device_line(device: &DeviceMemory) -> String {
    let DeviceMemory { text_bytes, data_bytes, bss_bytes, stack_peak_bytes, heap_peak_bytes } = device;
    labelled!(
        "",
        "  device: text {text_bytes}, data {data_bytes}, bss {bss_bytes}, stack peak {stack_peak_bytes}, heap peak \
         {heap_peak_bytes} bytes"
    )
}

/// The lines about a worker: its process, the device that it measured, and its busy threads.
fn worker_lines(worker: &WorkerEntry) -> Vec<String> {
    let own = format!(
        "{:<24} {:>8} KiB peak {:>10} CPU",
        worker.label,
        worker.memory.peak_rss_kib,
        format_ns(worker.used.cpu_ns() as f64)
    );
    let mut lines = vec![labelled!("", "{own}   pid {}", worker.pid)];
    lines.extend(worker.device.as_ref().map(device_line));
    let all_ns: u64 = worker.threads.iter().map(|thread| thread.cpu_ns).sum();
    for thread in worker.threads.iter().filter(|thread| thread.cpu_ns as f64 > MIN_SHOWN_FRACTION * all_ns as f64) {
        let switches = format!("{} + {} switches", thread.voluntary_switches, thread.involuntary_switches);
        let is_instruments = worker.instrument_used.cpu_ns() > 0 && is_instrument(thread, worker.pid);
        let whose = if is_instruments { "   the instrument's, in no other figure" } else { "" };
        let cpu = format_ns(thread.cpu_ns as f64);
        lines.push(labelled!("", "  {:<22} {:>17} {cpu:>10} CPU   {switches}{whose}", thread.name, ""));
    }
    lines
}
