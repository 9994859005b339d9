//! Usage of each thread of a process: CPU time, context switches, page faults.
//!
//! The list of threads shows the background work of a middleware. The source is `/proc/<pid>/task`. It has user and
//! system time in the kernel's ticks (usually 10 ms). If the scheduler keeps `schedstat`, their sum is also known in
//! nanoseconds.

use procfs::process::{Process, Task};
use procfs::{ProcError, ProcResult};
use serde::{Deserialize, Serialize};

const SECOND_NS: u64 = 1_000_000_000;

/// Usage of one thread since its start, or between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadUsage {
    /// The kernel's id of the thread; the main thread has the id of the process.
    pub tid: u32,
    /// The name of the thread. The kernel keeps at most 15 bytes of it.
    pub name: String,
    /// CPU time, ns: the scheduler's own count if `exact`, otherwise `utime_ns + stime_ns`. For a running thread the
    /// value may be up to one tick old.
    pub cpu_ns: u64,
    /// Whether `cpu_ns` has a resolution of nanoseconds instead of ticks.
    pub exact: bool,
    /// CPU time in user space, ns, in whole ticks.
    pub utime_ns: u64,
    /// CPU time in the kernel, ns, in whole ticks.
    pub stime_ns: u64,
    /// Context switches because the thread waited.
    pub voluntary_switches: u64,
    /// Context switches that were forced on the thread.
    pub involuntary_switches: u64,
    /// Page faults that needed no input or output.
    pub minor_faults: u64,
    /// Page faults that had to read from a file or from swap.
    pub major_faults: u64,
}

impl ThreadUsage {
    /// All threads of this process, in the order of their ids.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the usage.
    pub fn all_of_this_process() -> Result<Vec<ThreadUsage>, String> {
        let found = Process::myself().and_then(|process| all_of(&process));
        found.map_err(|error| format!("the usage of this process's threads cannot be read: {error}"))
    }

    /// All threads of another process, in the order of their ids.
    ///
    /// # Errors
    /// The reason, as a sentence, if the process has exited or the kernel does not report its figures.
    pub fn all_of_process(pid: u32) -> Result<Vec<ThreadUsage>, String> {
        let number = i32::try_from(pid).map_err(|_| ProcError::NotFound(None));
        let found = number.and_then(Process::new).and_then(|process| all_of(&process));
        found.map_err(|error| match error {
            ProcError::NotFound(_) => format!("process {pid} does not exist (any more), so its threads are unknown"),
            error => format!("the usage of the threads of process {pid} cannot be read: {error}"),
        })
    }

    fn read(task: &Task) -> ProcResult<ThreadUsage> {
        let (stat, status) = (task.stat()?, task.status()?);
        let tick_ns = SECOND_NS / procfs::ticks_per_second();
        let (utime_ns, stime_ns) = (stat.utime * tick_ns, stat.stime * tick_ns);
        // Some kernels lack `schedstat`, and others fill it with zeros.
        let scheduled = task.schedstat().ok().filter(|scheduled| scheduled.pcount > 0);
        Ok(ThreadUsage {
            tid: u32::try_from(task.tid).unwrap_or_default(),
            name: stat.comm,
            cpu_ns: scheduled.as_ref().map_or(utime_ns + stime_ns, |scheduled| scheduled.sum_exec_runtime),
            exact: scheduled.is_some(),
            utime_ns,
            stime_ns,
            voluntary_switches: status.voluntary_ctxt_switches.unwrap_or_default(),
            involuntary_switches: status.nonvoluntary_ctxt_switches.unwrap_or_default(),
            minor_faults: stat.minflt,
            major_faults: stat.majflt,
        })
    }

    /// The usage since `earlier`; `None` if `earlier` belongs to another thread.
    fn since(&self, earlier: &ThreadUsage) -> Option<ThreadUsage> {
        if self.tid != earlier.tid {
            return None;
        }
        // Counts never fall: a lower count means that the kernel gave the id to another thread.
        let both = |count: fn(&ThreadUsage) -> u64| count(self).checked_sub(count(earlier));
        Some(ThreadUsage {
            tid: self.tid,
            name: self.name.clone(),
            cpu_ns: both(|thread| thread.cpu_ns)?,
            exact: self.exact && earlier.exact,
            utime_ns: both(|thread| thread.utime_ns)?,
            stime_ns: both(|thread| thread.stime_ns)?,
            voluntary_switches: both(|thread| thread.voluntary_switches)?,
            involuntary_switches: both(|thread| thread.involuntary_switches)?,
            minor_faults: both(|thread| thread.minor_faults)?,
            major_faults: both(|thread| thread.major_faults)?,
        })
    }
}

/// The usage of the threads in `now` since `earlier`. A thread that started after `earlier` counts from zero. A thread
/// that has exited is not in the result.
#[must_use]
pub fn since(now: &[ThreadUsage], earlier: &[ThreadUsage]) -> Vec<ThreadUsage> {
    let used = |thread: &ThreadUsage| earlier.iter().find_map(|earlier| thread.since(earlier));
    now.iter().map(|thread| used(thread).unwrap_or_else(|| thread.clone())).collect()
}

fn all_of(process: &Process) -> ProcResult<Vec<ThreadUsage>> {
    let mut threads = Vec::new();
    for task in process.tasks()? {
        match task.and_then(|task| ThreadUsage::read(&task)) {
            Ok(thread) => threads.push(thread),
            Err(error) if has_ended(&error) => {}
            Err(error) => return Err(error),
        }
    }
    threads.sort_by_key(|thread| thread.tid);
    Ok(threads)
}

/// Whether an error means that the thread has exited. Threads may exit while the list is read.
fn has_ended(error: &ProcError) -> bool {
    match error {
        ProcError::NotFound(_) => true,
        ProcError::Io(error, _) => error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::sync::mpsc;

    fn thread(tid: u32, cpu_ns: u64, voluntary_switches: u64) -> ThreadUsage {
        ThreadUsage { tid, cpu_ns, voluntary_switches, exact: true, ..ThreadUsage::default() }
    }

    #[test]
    fn differences_are_by_thread() {
        let earlier = [thread(1, 100, 10), thread(2, 100, 10), thread(3, 100, 10)];
        // Thread 2 has exited, thread 4 is new, and id 3 now belongs to another thread.
        let now = [thread(1, 150, 12), thread(3, 20, 1), thread(4, 7, 3)];
        assert_eq!(since(&now, &earlier), [thread(1, 50, 2), thread(3, 20, 1), thread(4, 7, 3)]);
        assert_eq!(since(&earlier, &earlier)[0], thread(1, 0, 0));
        let by_ticks = [ThreadUsage { exact: false, ..thread(1, 0, 0) }];
        assert!(!since(&now, &by_ticks)[0].exact, "half of it is in ticks");
    }

    #[test]
    fn a_thread_that_works_and_waits_is_found_by_its_name() {
        let (ask, asked) = mpsc::channel::<u64>();
        let (answer, answered) = mpsc::channel();
        let worker = std::thread::Builder::new().name("publisher 7".to_owned()).spawn(move || {
            for turns in asked {
                let mut word = 1_u64;
                (0..turns).for_each(|i| word = black_box(word.wrapping_mul(31).wrapping_add(i)));
                answer.send(()).unwrap();
            }
        });
        let work = |turns| {
            ask.send(turns).unwrap();
            answered.recv().unwrap();
        };
        work(1);
        let earlier = ThreadUsage::all_of_this_process().unwrap();
        let find = || {
            let used = since(&ThreadUsage::all_of_this_process().unwrap(), &earlier);
            used.into_iter().find(|thread| thread.name == "publisher 7").unwrap()
        };
        let before = find();
        // The test runner's watchdog ends this loop if the kernel never counts anything.
        while find().cpu_ns == before.cpu_ns || find().voluntary_switches == before.voluntary_switches {
            work(100_000);
        }
        let after = find();
        assert!(after.exact || after.cpu_ns == after.utime_ns + after.stime_ns, "{after:?}");
        drop(ask);
        worker.unwrap().join().unwrap();
    }

    #[test]
    fn another_process_has_its_threads_until_it_ends() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let threads = ThreadUsage::all_of_process(pid).unwrap();
        assert_eq!(threads.iter().map(|thread| thread.tid).collect::<Vec<_>>(), [pid]);
        child.kill().unwrap();
        child.wait().unwrap();
        let sentence = ThreadUsage::all_of_process(pid).unwrap_err();
        assert!(sentence.contains(&format!("process {pid}")), "{sentence}");
    }
}
