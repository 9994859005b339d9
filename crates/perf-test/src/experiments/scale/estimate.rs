//! An estimate of a topology's CPU time and memory from its load. The estimate is fitted to measured topologies. It
//! gives the size of topology that a machine can run.

use serde::Serialize;

use super::{fit::fit, load::Load};
use crate::measure::least_squares::weighted_sum;

/// The CPU time and memory of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// CPU time, percent of one core.
    pub cpu_percent: f64,
    /// Resident memory (PSS) of the workers without perf_test's own counters, KiB.
    pub pss_kib: f64,
}

/// The cost of each component of a load, fitted to measured topologies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The CPU time of a process, a wake-up of an executor, an endpoint, a sent message, a received message, and a sent
    /// byte. Each is in percent of one core, for a rate of one per second.
    cpu: Vec<f64>,
    /// The memory, in KiB, of the program's files, a process, a publisher and a subscription. The last two elements are
    /// per byte of a publisher's message: for small messages, and for large messages.
    memory: Vec<f64>,
}

/// The fraction of a machine that the nodes of a robot may use. The rest is kept free for bursts, and for the work that
/// real callbacks do.
pub const FULL: f64 = 0.7;

/// The quantities of a load that cause CPU time, in the order of `Estimate::cpu`.
fn for_cpu(load: &Load) -> Vec<f64> {
    let endpoints = load.publishers + load.subscriptions;
    vec![load.processes, load.wake_ups_hz, endpoints, load.sent_hz, load.received_hz, load.sent_bytes_per_s]
}

/// The quantities of a load that cause memory, in the order of `Estimate::memory`. The first quantity is 1, because the
/// program's files are in memory once.
fn for_memory(load: &Load) -> Vec<f64> {
    vec![1.0, load.processes, load.publishers, load.subscriptions, load.small_bytes, load.large_bytes]
}

impl Estimate {
    /// Fits the estimate to the measured topologies; `None` if there are none.
    #[must_use]
    pub fn fitted(measured: &[(Load, Cost)]) -> Option<Estimate> {
        let of = |row: fn(&Load) -> Vec<f64>, value: fn(&Cost) -> f64| {
            let rows: Vec<Vec<f64>> = measured.iter().map(|(load, _)| row(load)).collect();
            fit(&rows, &measured.iter().map(|(_, cost)| value(cost)).collect::<Vec<f64>>())
        };
        Some(Estimate { cpu: of(for_cpu, |of| of.cpu_percent)?, memory: of(for_memory, |of| of.pss_kib)? })
    }

    /// The estimated cost of a topology.
    #[must_use]
    pub fn cost(&self, load: &Load) -> Cost {
        Cost {
            cpu_percent: weighted_sum(&for_cpu(load), &self.cpu),
            pss_kib: weighted_sum(&for_memory(load), &self.memory),
        }
    }

    /// The factor by which a load can grow until it uses the fraction [`FULL`] of the machine's cores or of its memory
    /// (KiB). Processes and wake-ups stay constant while the load grows.
    #[must_use]
    pub fn held(&self, load: &Load, cores: u32, memory_kib: Option<u64>) -> Held {
        let all = self.cost(load);
        let once = self.cost(&Load { processes: load.processes, wake_ups_hz: load.wake_ups_hz, ..Load::default() });
        let times = |room: f64, of_one: f64| if of_one > 0.0 { (room / of_one).max(0.0) } else { f64::INFINITY };
        let by_cpu = times(FULL * f64::from(cores) * 100.0 - once.cpu_percent, all.cpu_percent - once.cpu_percent);
        let of_one_kib = all.pss_kib - once.pss_kib;
        let by_memory = memory_kib.map_or(f64::INFINITY, |kib| times(FULL * kib as f64 - once.pss_kib, of_one_kib));
        Held { cores, times: by_cpu.min(by_memory), is_limited_by_memory: by_memory < by_cpu }
    }

    /// The fitted costs as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let part = |coefficients: &[f64], index: usize| coefficients.get(index).copied().unwrap_or(0.0);
        // One percent of a core at one message per second is 10 ms per message.
        let [process_us, wake_up, endpoint, sent, received, byte] =
            [0, 1, 2, 3, 4, 5].map(|index| part(&self.cpu, index) * 1e4);
        let [program, process, publisher, subscription, small, large] =
            [0, 1, 2, 3, 4, 5].map(|index| part(&self.memory, index));
        vec![
            format!(
                "CPU: {process_us:.0} µs per second for a process, {endpoint:.2} µs per second for an endpoint, {wake_up:.1} µs for a \
                 wake-up of an executor, {sent:.2} µs for a message sent, {received:.2} µs for one received, {:.1} ns for a KiB sent",
                byte * 1e3 * 1024.0
            ),
            format!(
                "memory: {:.1} MiB for the program, {:.1} MiB for a process, {publisher:.1} KiB for a publisher and {:.1} times its message, \
                 {:.1} times a large one, {subscription:.1} KiB for a subscription",
                program / 1024.0,
                process / 1024.0,
                small * 1024.0,
                large * 1024.0
            ),
        ]
    }
}

/// The largest load that a machine can run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Held {
    /// The number of cores of the machine.
    pub cores: u32,
    /// The factor by which the load can grow until the machine is full.
    pub times: f64,
    /// Whether memory limits the load; otherwise the cores limit it.
    pub is_limited_by_memory: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(nodes: f64, rate_hz: f64, subscriptions: f64) -> Load {
        Load {
            processes: 2.0,
            wake_ups_hz: 2.0 * rate_hz,
            publishers: 4.0 * nodes,
            subscriptions: subscriptions * nodes,
            sent_hz: 4.0 * nodes * rate_hz,
            received_hz: subscriptions * nodes * rate_hz,
            sent_bytes_per_s: 400.0 * nodes * rate_hz,
            small_bytes: 400.0 * nodes,
            large_bytes: 0.0,
        }
    }

    /// The true cost in these tests. CPU: 3 µs per sent message and 5 µs per received message. Memory: 4 MiB for the
    /// program, 8 MiB per process, 20 KiB per publisher and 10 KiB per subscription.
    fn cost(load: &Load) -> Cost {
        Cost {
            cpu_percent: (3.0 * load.sent_hz + 5.0 * load.received_hz) / 1e4,
            pss_kib: 4096.0 + 8192.0 * load.processes + 20.0 * load.publishers + 10.0 * load.subscriptions,
        }
    }

    #[test]
    fn an_estimate_holds_for_a_load_that_it_has_not_seen() {
        let seen = [
            load(10.0, 10.0, 6.0),
            load(30.0, 10.0, 6.0),
            load(100.0, 10.0, 6.0),
            load(100.0, 50.0, 6.0),
            load(50.0, 10.0, 12.0),
            load(50.0, 20.0, 1.0),
        ];
        let measured: Vec<(Load, Cost)> = seen.iter().map(|load| (*load, cost(load))).collect();
        let estimate = Estimate::fitted(&measured).unwrap();
        let unseen = load(700.0, 20.0, 3.0);
        let (found, wanted) = (estimate.cost(&unseen), cost(&unseen));
        assert!((found.cpu_percent / wanted.cpu_percent - 1.0).abs() < 1e-3, "{found:?} {wanted:?}");
        assert!((found.pss_kib / wanted.pss_kib - 1.0).abs() < 1e-3, "{found:?} {wanted:?}");
        // A node sends 40 and receives 60 messages per second. This costs 420 µs of CPU time per second.
        let node = load(1.0, 10.0, 6.0);
        let held = estimate.held(&node, 4, None);
        assert!((held.times / (FULL * 4e6 / 420.0) - 1.0).abs() < 1e-2, "{held:?}");
        let small = estimate.held(&node, 4, Some(100 * 1024));
        assert!(small.is_limited_by_memory && small.times < 500.0 && small.times > 300.0, "{small:?}");
        assert_eq!(Estimate::fitted(&[]), None);
    }
}
