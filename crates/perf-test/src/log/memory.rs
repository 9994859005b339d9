//! The memory of a run: all workers, and the daemons of the middleware. The coordinator does not count, because it only
//! measures.

use perf_worker::measure::memory::Footprint;

use super::{Summary, WorkerEntry};
use crate::measure::daemon::DaemonUsage;

/// The memory of a run by two measures, and perf_test's own part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunMemory {
    /// The peak resident memory of each process, summed over all processes, KiB. A page that several processes share
    /// counts in each of them. perf_test's own counters and histograms are included.
    pub peak_kib: f64,
    /// The memory at the end of the run, KiB, without perf_test's own counters and histograms. A page that several
    /// processes share counts once (PSS). The mapped files (program, libraries) count as in the worker that maps most
    /// of them: the coordinator maps them, too, so a sum of PSS would lack the coordinator's share.
    pub pss_kib: f64,
    /// The memory of perf_test's own counters and histograms in the workers, KiB. It is exact in a topology and an
    /// upper bound in other runs.
    pub instrument_kib: f64,
}

impl Summary {
    /// The memory of the run. The sums saturate instead of overflowing, because a log may contain any numbers.
    #[must_use]
    pub fn memory(&self) -> RunMemory {
        let peaks = self.workers.iter().map(|worker| worker.memory.peak_rss_kib);
        let peaks = peaks.chain(self.daemons.iter().map(|daemon| daemon.memory.peak_rss_kib));
        let files = self.workers.iter().filter_map(|worker| Some(worker.footprint.as_ref()?.file.rss_kib)).max();
        // The PSS is unknown for a worker that exited early, and for another user's daemon.
        let of_worker =
            |worker: &WorkerEntry| worker.footprint.as_ref().map_or(worker.memory.rss_kib, without_files_kib);
        let of_daemon = |daemon: &DaemonUsage| {
            let whole_kib = |of: &Footprint| without_files_kib(of).saturating_add(of.file.pss_kib);
            daemon.footprint.as_ref().map_or(daemon.memory.rss_kib, whole_kib)
        };
        let now = self.workers.iter().map(of_worker).chain(files).chain(self.daemons.iter().map(of_daemon));
        let instrument_kib = sum(self.workers.iter().filter_map(|worker| worker.instrument_bytes)) as f64 / 1024.0;
        RunMemory { peak_kib: sum(peaks) as f64, pss_kib: (sum(now) as f64 - instrument_kib).max(0.0), instrument_kib }
    }
}

fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

/// The PSS of a process without its mapped files, KiB.
fn without_files_kib(footprint: &Footprint) -> u64 {
    let Footprint { heap, stack, shared, other, .. } = footprint;
    sum([heap, stack, shared, other].into_iter().map(|kind| kind.pss_kib))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::{daemon, summary};
    use perf_worker::measure::memory::{Memory, Resident};

    /// A run with two workers, whose peaks are 60,000 KiB each, and a daemon of 5000 KiB.
    fn run() -> Summary {
        let mut summary = summary("", 1000);
        summary.daemons = vec![daemon()];
        summary
    }

    #[test]
    fn the_memory_is_that_of_workers_and_daemons_without_the_counts() {
        let mut run = run();
        assert_eq!(run.memory().peak_kib, 125_000.0);
        let kind = |pss_kib| Resident { rss_kib: 2 * pss_kib, pss_kib };
        let footprint = Footprint { heap: kind(100), shared: kind(30), file: kind(7), ..Footprint::default() };
        for worker in &mut run.workers {
            (worker.footprint, worker.instrument_bytes) = (Some(footprint), Some(10 << 10));
        }
        run.daemons[0].footprint = Some(footprint);
        // The sum consists of 130 KiB for each worker, the workers' files once, and the daemon with its own files.
        let found = run.memory();
        assert_eq!((found.pss_kib, found.instrument_kib), (2.0 * 130.0 + 14.0 + 137.0 - 20.0, 20.0));
        run.daemons[0].footprint = None;
        run.daemons[0].memory = Memory { rss_kib: 400, ..Memory::default() };
        assert_eq!(run.memory().pss_kib, 2.0 * 130.0 + 14.0 + 400.0 - 20.0);
    }

    #[test]
    fn numbers_that_no_run_has_are_a_sum_nevertheless() {
        let mut run = run();
        run.workers.iter_mut().for_each(|worker| worker.memory.peak_rss_kib = u64::MAX);
        assert_eq!(run.memory().peak_kib, u64::MAX as f64);
    }
}
