//! Resource usage of a process or a thread, as the kernel counts it (`getrusage`).
//!
//! All fields count from the start of the process or thread. Only `maxrss` is a peak instead of a count.

use nix::sys::resource::{Usage as Account, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

use crate::clock::{now_ns, thread_cpu_ns};

/// The names of [`Usage::fields`], as in getrusage(2).
pub const FIELDS: [&str; 16] = [
    "utime", "stime", "maxrss", "ixrss", "idrss", "isrss", "minflt", "majflt", "nswap", "inblock", "oublock", "msgsnd",
    "msgrcv", "nsignals", "nvcsw", "nivcsw",
];

/// The resource usage of one process or thread, or the sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields have the meanings and names of getrusage(2)")]
pub struct Usage {
    /// The time of the reading, nanoseconds of CLOCK_MONOTONIC.
    pub taken_ns: i64,
    /// CPU time in user space, nanoseconds.
    pub utime_ns: i64,
    /// CPU time in the kernel, nanoseconds.
    pub stime_ns: i64,
    /// Peak of the resident memory, KiB. Shared pages count in every process that touched them.
    pub maxrss_kib: i64,
    pub ixrss: i64,
    pub idrss: i64,
    pub isrss: i64,
    /// Page faults that needed no input or output.
    pub minflt: i64,
    /// Page faults that had to read from a file or from swap.
    pub majflt: i64,
    pub nswap: i64,
    pub inblock: i64,
    pub oublock: i64,
    pub msgsnd: i64,
    pub msgrcv: i64,
    pub nsignals: i64,
    /// Context switches because the process waited.
    pub nvcsw: i64,
    /// Context switches that were forced on the process.
    pub nivcsw: i64,
}

impl Usage {
    /// The usage of this process, including all its threads.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel refuses.
    pub fn of_this_process() -> Result<Usage, String> {
        Usage::read("process", UsageWho::RUSAGE_SELF)
    }

    /// The usage of the calling thread.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel refuses.
    pub fn of_this_thread() -> Result<Usage, String> {
        let account = Usage::read("thread", UsageWho::RUSAGE_THREAD)?;
        // getrusage counts the CPU time of a running thread only up to the last tick. The thread's CPU clock counts up
        // to the present.
        let cpu_ns = thread_cpu_ns();
        let stime_ns = account.stime_ns.min(cpu_ns);
        Ok(Usage { stime_ns, utime_ns: cpu_ns - stime_ns, ..account })
    }

    fn read(what: &str, who: UsageWho) -> Result<Usage, String> {
        let account = getrusage(who)
            .map_err(|error| format!("the resource usage of this {what} cannot be read (getrusage: {error})"))?;
        Ok(Usage::from(&account))
    }

    /// All values in the order of [`FIELDS`]: times in ns, `maxrss` in KiB, and counts.
    #[must_use]
    pub fn fields(&self) -> [i64; 16] {
        let mut copy = *self;
        copy.fields_mut().map(|field| *field)
    }

    fn fields_mut(&mut self) -> [&mut i64; 16] {
        [
            &mut self.utime_ns,
            &mut self.stime_ns,
            &mut self.maxrss_kib,
            &mut self.ixrss,
            &mut self.idrss,
            &mut self.isrss,
            &mut self.minflt,
            &mut self.majflt,
            &mut self.nswap,
            &mut self.inblock,
            &mut self.oublock,
            &mut self.msgsnd,
            &mut self.msgrcv,
            &mut self.nsignals,
            &mut self.nvcsw,
            &mut self.nivcsw,
        ]
    }

    /// CPU time in user space and in the kernel, nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> i64 {
        self.utime_ns + self.stime_ns
    }

    /// Adds the usage of another process. `taken_ns` becomes the later of the two times.
    pub fn add(&mut self, other: &Usage) {
        self.taken_ns = self.taken_ns.max(other.taken_ns);
        for (ours, theirs) in self.fields_mut().into_iter().zip(other.fields()) {
            *ours += theirs;
        }
    }

    /// The usage since `earlier`. The peak of memory is the peak in `self`.
    #[must_use]
    pub fn since(&self, earlier: &Usage) -> Usage {
        self.without(earlier)
    }

    /// The usage minus `part`, for example the usage of a process without some of its threads. The peak of memory does
    /// not change.
    ///
    /// The kernel counts CPU time exactly, but splits it into user and system time by sampling. Therefore the user and
    /// system times of a difference are less exact than their sum. Neither of them is negative.
    #[must_use]
    pub fn without(&self, part: &Usage) -> Usage {
        let mut difference = *self;
        for (ours, theirs) in difference.fields_mut().into_iter().zip(part.fields()) {
            *ours -= theirs;
        }
        let cpu_ns = difference.cpu_ns();
        let stime_ns = difference.stime_ns.clamp(0, cpu_ns.max(0));
        Usage { maxrss_kib: self.maxrss_kib, stime_ns, utime_ns: cpu_ns - stime_ns, ..difference }
    }

    /// This usage, but each value that is lower than in `earlier` is raised to the value in `earlier`. The kernel's
    /// counts never fall, but a difference of two counts may seem to fall because they are read at different moments.
    #[must_use]
    pub fn at_least(&self, earlier: &Usage) -> Usage {
        let mut risen = *self;
        for (ours, theirs) in risen.fields_mut().into_iter().zip(earlier.fields()) {
            *ours = (*ours).max(theirs);
        }
        // Only the sum of user and system time is exact. The sum is therefore raised first and then divided between
        // user and system time.
        let cpu_ns = self.cpu_ns().max(earlier.cpu_ns());
        risen.stime_ns = self.stime_ns.clamp(earlier.stime_ns, cpu_ns - earlier.utime_ns);
        Usage { utime_ns: cpu_ns - risen.stime_ns, ..risen }
    }

    /// The CPU time from `earlier` to `self`, in percent of one core; 0 if no time passed.
    #[must_use]
    pub fn core_percent_since(&self, earlier: &Usage) -> f64 {
        let elapsed_ns = self.taken_ns - earlier.taken_ns;
        if elapsed_ns <= 0 {
            return 0.0;
        }
        (self.cpu_ns() - earlier.cpu_ns()) as f64 / elapsed_ns as f64 * 100.0
    }
}

impl From<&Account> for Usage {
    fn from(account: &Account) -> Usage {
        Usage {
            taken_ns: now_ns(),
            utime_ns: account.user_time().num_microseconds() * 1000,
            stime_ns: account.system_time().num_microseconds() * 1000,
            maxrss_kib: account.max_rss(),
            ixrss: account.shared_integral(),
            idrss: account.unshared_data_integral(),
            isrss: account.unshared_stack_integral(),
            minflt: account.minor_page_faults(),
            majflt: account.major_page_faults(),
            nswap: account.full_swaps(),
            inblock: account.block_reads(),
            oublock: account.block_writes(),
            msgsnd: account.ipc_sends(),
            msgrcv: account.ipc_receives(),
            nsignals: account.signals(),
            nvcsw: account.voluntary_context_switches(),
            nivcsw: account.involuntary_context_switches(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_as_cpu_time_of_this_process() {
        let before = Usage::of_this_process().unwrap();
        let mut word = 1_u64;
        // The test runner's watchdog ends this loop if the kernel never counts anything.
        while Usage::of_this_process().unwrap().cpu_ns() == before.cpu_ns() {
            (0..100_000).for_each(|i| word = std::hint::black_box(word.wrapping_mul(31).wrapping_add(i)));
        }
        let after = Usage::of_this_process().unwrap();
        assert!(after.core_percent_since(&before) > 0.0);
        assert!(after.maxrss_kib > 0 && after.minflt >= before.minflt);
    }

    #[test]
    fn the_account_of_a_process_is_that_of_all_its_threads() {
        const WORK_NS: i64 = 20_000_000;
        let before = Usage::of_this_process().unwrap();
        let work = || {
            while thread_cpu_ns() < WORK_NS {
                std::hint::black_box(0);
            }
        };
        std::thread::spawn(work).join().unwrap();
        let used = Usage::of_this_process().unwrap().since(&before);
        assert!(used.cpu_ns() >= WORK_NS / 2, "{used:?}");
    }

    #[test]
    fn a_difference_is_exact_in_its_sum_and_has_no_negative_part() {
        // The kernel splits CPU time into user and system time by sampling, so a part may seem larger than the whole.
        let process = Usage { taken_ns: 9, utime_ns: 100, stime_ns: 10, maxrss_kib: 7, nvcsw: 5, ..Usage::default() };
        let thread = Usage { taken_ns: 8, utime_ns: 20, stime_ns: 30, nvcsw: 2, ..Usage::default() };
        let rest = process.without(&thread);
        assert_eq!((rest.utime_ns, rest.stime_ns, rest.nvcsw, rest.maxrss_kib), (60, 0, 3, 7));
        let now = Usage { taken_ns: 20, utime_ns: 70, stime_ns: 4, ..rest }.since(&rest);
        assert_eq!((now.utime_ns, now.stime_ns), (10, 4));
    }

    #[test]
    fn an_account_never_falls_and_its_sum_stays_exact() {
        let earlier = Usage { taken_ns: 5, utime_ns: 100, stime_ns: 50, minflt: 900, nvcsw: 3, ..Usage::default() };
        let now = Usage { taken_ns: 9, utime_ns: 90, stime_ns: 40, minflt: 40, nvcsw: 7, ..Usage::default() };
        let risen = now.at_least(&earlier);
        assert_eq!(risen, Usage { taken_ns: 9, nvcsw: 7, ..earlier });
        assert_eq!((risen.since(&earlier).minflt, risen.core_percent_since(&earlier)), (0, 0.0));
        // The sum grows by 30 ns, but the kernel's new split would make the system time fall.
        let later = Usage { utime_ns: 155, stime_ns: 25, ..now }.at_least(&earlier);
        assert_eq!((later.utime_ns, later.stime_ns), (130, 50));
        let later = Usage { utime_ns: 20, stime_ns: 160, ..now }.at_least(&earlier);
        assert_eq!((later.utime_ns, later.stime_ns), (100, 80));
    }

    #[test]
    fn workers_add_up_and_no_time_is_no_percentage() {
        let one = Usage { taken_ns: 5, utime_ns: 10, stime_ns: 1, maxrss_kib: 100, nvcsw: 3, ..Usage::default() };
        let mut sum = one;
        sum.add(&Usage { taken_ns: 7, ..one });
        assert_eq!((sum.cpu_ns(), sum.maxrss_kib, sum.nvcsw, sum.taken_ns), (22, 200, 6, 7));
        assert_eq!(one.core_percent_since(&one), 0.0);
    }
}
