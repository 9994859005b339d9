//! The placement of a worker's threads (real-time priority and CPUs), from the options `--use-rt-prio`, `--use-rt-cpus`
//! and `--pin`.
//!
//! The coordinator checks the placement before any process starts.
//! - `rt_cpus` apply to all threads of a worker. They are set on the main thread; all other threads start later and
//!   inherit them.
//! - With the scope `process`, the middleware's own threads also have the real-time priority, and may run on all CPUs
//!   of `pins`. The main thread sets its priority and CPUs before it opens the middleware, so that threads that start
//!   then inherit them. When the endpoints' threads exist, the main thread returns to its own scheduling. Only then it
//!   starts the thread that reads orders, so no thread of `perf_test` keeps the priority. An endpoint's own thread is
//!   pinned to one CPU.
//! - With the scope `endpoints`, pins and the real-time priority apply only to the endpoints' own threads. They are set
//!   after the middleware was set up, so threads that the middleware started on an endpoint's thread do not inherit
//!   them. Threads that a middleware starts later, while messages flow, inherit both.
//! - With a real-time priority, pages are locked when they are touched (MCL_ONFAULT), not when they are mapped, because
//!   Gantry maps far more memory than it uses.

mod scheduling;

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, CpuSet, capabilities, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    Error as PriorityError, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::run_spec::{RtScope, RunSpec};
pub use scheduling::Scheduling;

/// The highest real-time priority in Linux.
const MAX_PRIORITY: u32 = 99;

/// The placement of a worker's threads. A priority of 0 means none; an empty list means no restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The real-time priority (SCHED_FIFO) of the threads in the scope, 1 to 99.
    pub rt_priority: u32,
    /// The threads to which the priority and the pins apply.
    pub rt_scope: RtScope,
    /// The CPUs that the workers' threads may use.
    pub rt_cpus: Vec<u32>,
    /// The CPUs of the endpoints' threads, one for each thread, publishers first. If there are more threads than CPUs,
    /// the list is repeated. The CPUs need not be in `rt_cpus`. With the scope `process`, the middleware's threads may
    /// run on all of these CPUs.
    pub pins: Vec<u32>,
}

impl Placement {
    /// The placement of a run.
    #[must_use]
    pub fn for_run(spec: &RunSpec) -> Placement {
        let RunSpec { rt_priority, rt_scope, rt_cpus, pins, .. } = spec;
        Placement { rt_priority: *rt_priority, rt_scope: *rt_scope, rt_cpus: rt_cpus.clone(), pins: pins.clone() }
    }

    /// Checks whether the machine allows the placement, by trying it on a temporary thread.
    ///
    /// # Errors
    /// The value that is refused, the reason and the remedy, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let attempt = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("placement".to_owned());
            let thread = thread.spawn_scoped(scope, || self.try_here());
            thread.map(std::thread::ScopedJoinHandle::join)
        });
        match attempt {
            Ok(Ok(checked)) => checked,
            Ok(Err(_)) => Err("the check of priorities and CPUs panicked; the message is on standard error".to_owned()),
            Err(error) => Err(format!("cannot start a thread to try priorities and CPUs on: {error}")),
        }
    }

    /// Tries the placement on the calling thread. The placement stays in effect on this thread.
    fn try_here(&self) -> Result<(), String> {
        for (option, cpus) in [("--use-rt-cpus", &self.rt_cpus), ("--pin", &self.pins)] {
            // The CPUs are tried one by one: the kernel accepts a list in which only one CPU is usable, and silently
            // ignores the others.
            cpus.iter().try_for_each(|&cpu| run_on(option, &[cpu]))?;
        }
        if self.rt_priority > 0 {
            may_lock_memory()?;
            become_realtime(self.rt_priority)?;
        }
        Ok(())
    }

    /// Applies the placement to a worker's main thread, before it opens the middleware and starts the endpoints'
    /// threads. If the scheduling changed, returns the previous one, which the main thread restores later.
    ///
    /// # Errors
    /// The same errors as [`Placement::check`].
    pub fn apply_to_process(&self) -> Result<Option<Scheduling>, String> {
        if !self.rt_cpus.is_empty() {
            run_on("--use-rt-cpus", &self.rt_cpus)?;
        }
        if self.rt_priority > 0 {
            may_lock_memory()?;
            lock_memory()?;
        }
        if self.rt_scope == RtScope::Endpoints || (self.rt_priority == 0 && self.pins.is_empty()) {
            return Ok(None);
        }
        let own = Scheduling::of_this_thread()?;
        if !self.pins.is_empty() {
            run_on("--pin", &self.pins)?;
        }
        if self.rt_priority > 0 {
            become_realtime(self.rt_priority)?;
        }
        Ok(Some(own))
    }

    /// Applies the placement to the thread of an endpoint, after the middleware was set up and before messages flow.
    /// `endpoint_index` counts all endpoints of the run from 0, publishers first.
    ///
    /// # Errors
    /// The same errors as [`Placement::check`].
    pub fn apply_to_thread(&self, endpoint_index: usize) -> Result<(), String> {
        if !self.pins.is_empty() {
            run_on("--pin", &[self.pins[endpoint_index % self.pins.len()]])?;
        }
        if self.rt_priority > 0 {
            become_realtime(self.rt_priority)?;
        }
        Ok(())
    }
}

/// Restricts the calling thread, and threads that it starts later, to these CPUs.
///
/// # Errors
/// The reason, as a sentence that begins with `option`, if none of the CPUs is usable or this program may not
/// choose its CPUs.
pub fn run_on(option: &str, cpus: &[u32]) -> Result<(), String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(format!("{option}: there is no CPU {cpu}; Linux numbers them 0 to {}", CpuSet::MAX_CPU - 1));
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|error| match error {
        Errno::INVAL => format!("{option}: no CPU of {cpus:?} is usable: {}", usable()),
        error => {
            format!("{option}: the kernel does not let this program choose its CPUs: {error}; run without the option")
        }
    })
}

/// The usable CPUs, as a part of an error sentence. The function finds them by allowing the calling thread all CPUs.
fn usable() -> String {
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
    match sched_setaffinity(None, &all).and_then(|()| sched_getaffinity(None)) {
        Ok(found) => {
            let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| found.is_set(cpu)).collect();
            format!("online and allowed here (cgroup cpuset, see `lscpu -e` and `nproc`) are {cpus:?}")
        }
        Err(error) => format!("the kernel does not report the usable CPUs: {error}"),
    }
}

fn become_realtime(priority: u32) -> Result<(), String> {
    let value = u8::try_from(priority).ok().filter(|&value| value > 0 && priority <= MAX_PRIORITY);
    let Some(value) = value.and_then(|value| ThreadPriorityValue::try_from(value).ok()) else {
        return Err(format!("--use-rt-prio {priority}: Linux has real-time priorities from 1 to {MAX_PRIORITY}"));
    };
    let (priority_value, fifo) = (ThreadPriority::Crossplatform(value), RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), priority_value, ThreadSchedulePolicy::Realtime(fifo)).map_err(
        |error| match error {
            PriorityError::OS(code) if code == Errno::PERM.raw_os_error() => no_realtime(priority),
            error => format!("--use-rt-prio {priority}: the kernel refuses the priority: {error}"),
        },
    )
}

/// The error sentence for a refused real-time priority: the reason and the remedy.
fn no_realtime(priority: u32) -> String {
    if has(CapabilitySet::SYS_NICE) {
        return format!(
            "--use-rt-prio {priority}: the kernel refuses real-time priorities although this program has CAP_SYS_NICE: its \
             cgroup has no real-time CPU time (cpu.rt_runtime_us), or the capability is a user namespace's only; run it \
             outside of the container or the service"
        );
    }
    let limit = getrlimit(Resource::Rtprio).current.map_or("unlimited".to_owned(), |limit| limit.to_string());
    format!(
        "--use-rt-prio {priority}: this user may not have real-time priority {priority} (SCHED_FIFO): its limit is {limit} \
         (RLIMIT_RTPRIO, `ulimit -r`), and the program lacks CAP_SYS_NICE. {}",
        way("rtprio 99", "rtprio=99", "SYS_NICE")
    )
}

/// Fails if the amount of locked memory is limited. With a limit, locking may succeed now, but a later mapping of
/// Gantry or of the allocator may fail.
fn may_lock_memory() -> Result<(), String> {
    let limit = getrlimit(Resource::Memlock).current;
    locking_refused(limit, has(CapabilitySet::IPC_LOCK)).map_or(Ok(()), Err)
}

fn locking_refused(limit_bytes: Option<u64>, is_capable: bool) -> Option<String> {
    let limit_kib = limit_bytes.filter(|_| !is_capable)? / 1024;
    Some(format!(
        "--use-rt-prio: memory cannot be locked, which real-time threads need to avoid page faults: this user may lock \
         {limit_kib} KiB (RLIMIT_MEMLOCK, `ulimit -l`), which counts all mapped memory, and the program lacks CAP_IPC_LOCK. {}",
        way("memlock unlimited", "memlock=-1", "IPC_LOCK")
    ))
}

fn lock_memory() -> Result<(), String> {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT).map_err(|error| {
        format!(
            "--use-rt-prio: memory cannot be locked (mlockall): {error}. {}",
            way("memlock unlimited", "memlock=-1", "IPC_LOCK")
        )
    })
}

fn has(capability: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

/// The ways to get a permission, as a part of an error sentence: a capability of the program, a limit of the user, or
/// options of Docker.
fn way(limit: &str, docker_limit: &str, capability: &str) -> String {
    let program = std::env::current_exe().map_or("perf_test".to_owned(), |path| path.display().to_string());
    format!(
        "Give it one of: `sudo setcap cap_sys_nice,cap_ipc_lock+ep {program}`; a line `@your_group - {limit}` in \
         /etc/security/limits.conf and a new login; root. In a container: `--cap-add {capability} --ulimit {docker_limit}`"
    )
}

#[cfg(test)]
mod tests;
