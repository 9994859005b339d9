//! The settings of a condition that can be changed without a reboot: a check whether this machine and user can change
//! them, and the change.
//!
//! Files of the kernel are changed through the journal, which can undo them after a kill. The limit on wake-up times
//! and the scheduling need no journal: the kernel drops the limit when the device file is closed, and the scheduling
//! ends with the process.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use super::journal::Journal;
use super::plan::{Chrt, Condition, RtPolicy};
use crate::{
    common::idle::Awake,
    system::{
        container::{cpuset_mount, own_group},
        cpu::CPUS,
        cpu_idle::LATENCY_DEVICE,
        frequency::{POLICIES, policies},
        root::{Root, list_text},
    },
};
use perf_worker::worker::placement::{Scheduling, run_on};

/// The prefix of the control group that contains the isolated CPUs.
const GROUP: &str = "perf_test";

/// Checks whether the settings of a condition can be changed, without changing them. Returns the reason if this machine
/// does not have a setting; `None` if all can be changed.
///
/// # Errors
/// The reason, as a sentence: a value is not valid on this machine, or this user may not change the setting.
pub fn check(condition: &Condition, root: &Root) -> Result<Option<String>, String> {
    let name = &condition.name;
    let wrong = |why: String| format!("condition {name}: {why}");
    let online = root.list(&format!("{CPUS}/online")).unwrap_or_default();
    for (key, cpus) in [("taskset", &condition.taskset), ("isolate", &condition.isolate), ("pin", &condition.pin)] {
        if let Some(cpu) = cpus.iter().find(|cpu| !online.contains(cpu)) {
            return Err(wrong(format!("{key}: there is no CPU {cpu}: online are {}", list_text(&online))));
        }
    }
    let found = [
        governor_missing(condition, root).map_err(wrong)?,
        partition_missing(condition, root, &online).map_err(wrong)?,
        limit_missing(condition, root).map_err(wrong)?,
    ];
    if let Some(chrt) = condition.chrt {
        let tried = std::thread::scope(|scope| scope.spawn(|| realtime(chrt)).join());
        tried.unwrap_or_else(|_| Err("the check of priorities panicked".to_owned())).map_err(wrong)?;
    }
    let missing: Vec<String> = found.into_iter().flatten().collect();
    Ok((!missing.is_empty()).then(|| missing.join("; ")))
}

fn governor_missing(condition: &Condition, root: &Root) -> Result<Option<String>, String> {
    let Some(governor) = &condition.governor else { return Ok(None) };
    let found = policies(root);
    if found.is_empty() {
        return Ok(Some(format!(
            "no governor can be chosen: the kernel shows no frequency policy in /{POLICIES} (a virtual machine, a container, or a \
             machine without frequency control)"
        )));
    }
    for policy in found {
        let folder = format!("{POLICIES}/{}", policy.name);
        let available = root.line(&format!("{folder}/scaling_available_governors")).unwrap_or_default();
        if !available.is_empty() && !available.split_whitespace().any(|one| one == governor) {
            return Err(format!("{} has no governor `{governor}`: it has {available}", policy.name));
        }
        writable(root, &format!("{folder}/scaling_governor"))?;
    }
    Ok(None)
}

fn partition_missing(condition: &Condition, root: &Root, online: &[u32]) -> Result<Option<String>, String> {
    let cpus = &condition.isolate;
    if cpus.is_empty() {
        return Ok(None);
    }
    if online.iter().all(|cpu| cpus.contains(cpu)) {
        return Err(format!("isolate: {} are all CPUs: leave one for the rest of the machine", list_text(cpus)));
    }
    let Some(mount) = cpuset_mount(root) else {
        let list = list_text(cpus);
        return Ok(Some(format!(
            "CPUs cannot be isolated while the machine runs: no control groups of version 2 with the controller cpuset are at \
             /sys/fs/cgroup (boot with `isolcpus={list} nohz_full={list}`, and give the condition `boot` instead)"
        )));
    };
    if own_group(root).is_none() {
        return Err("isolate: /proc/self/cgroup names no control group of version 2".to_owned());
    }
    writable(root, &format!("{mount}/cgroup.subtree_control"))?;
    Ok(None)
}

fn limit_missing(condition: &Condition, root: &Root) -> Result<Option<String>, String> {
    if condition.cpu_dma_latency_us.is_none() {
        return Ok(None);
    }
    if !root.exists(LATENCY_DEVICE) {
        return Ok(Some(format!(
            "/{LATENCY_DEVICE} does not exist (in a container: --device /{LATENCY_DEVICE}; elsewhere boot with \
             `idle=poll`, and give the condition `boot` instead)"
        )));
    }
    writable(root, LATENCY_DEVICE)?;
    Ok(None)
}

fn writable(root: &Root, path: &str) -> Result<(), String> {
    let Err(error) = OpenOptions::new().write(true).open(root.path(path)) else { return Ok(()) };
    let way = match error.kind() {
        ErrorKind::PermissionDenied => "run perf_test as root, as with sudo",
        ErrorKind::ReadOnlyFilesystem => "run perf_test outside of the container, or in a privileged one",
        _ => "this kernel does not allow it: leave the condition out",
    };
    Err(format!("/{path} cannot be written: {error}. To change it, {way}"))
}

/// Changes the settings of the machine to a condition. Dropping this value restores the original settings.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    /// The condition that is applied now.
    condition: Option<Condition>,
    awake: Option<Awake>,
    journal: Journal,
    /// The scheduling of this thread before a condition was applied.
    scheduling: Option<Scheduling>,
}

impl Machine {
    /// Locks the settings of the machine: no other perf_test process changes them while this value exists.
    ///
    /// # Errors
    /// See [`Journal::open`].
    pub fn open(root: &Path) -> Result<Machine, String> {
        let journal = Journal::open(root)?;
        Ok(Machine { root: root.to_owned(), condition: None, awake: None, journal, scheduling: None })
    }

    /// Restores the settings of the applied condition, if any. Then applies `condition` to the machine and to this
    /// thread.
    ///
    /// # Errors
    /// The reason, as a sentence: a setting cannot be changed or restored. After an error no condition is applied.
    pub fn change_to(&mut self, condition: &Condition) -> Result<(), String> {
        if self.condition.as_ref() == Some(condition) {
            return Ok(());
        }
        self.restore()?;
        let applied = self.apply(condition);
        if applied.is_err() {
            self.restore()?;
        } else {
            self.condition = Some(condition.clone());
        }
        applied
    }

    fn apply(&mut self, condition: &Condition) -> Result<(), String> {
        if !condition.taskset.is_empty() || !condition.isolate.is_empty() || condition.chrt.is_some() {
            self.scheduling = Some(Scheduling::of_this_thread()?);
        }
        let root = &Root::new(&self.root);
        if let Some(governor) = &condition.governor {
            for policy in policies(root) {
                let folder = format!("{POLICIES}/{}", policy.name);
                // Some drivers (such as intel_pstate) change their energy preference together with the governor.
                let preference = format!("{folder}/energy_performance_preference");
                self.journal.write(&format!("{folder}/scaling_governor"), governor, &[preference])?;
            }
        }
        if !condition.isolate.is_empty() {
            self.isolate(&condition.isolate, root)?;
        }
        if let Some(limit_us) = condition.cpu_dma_latency_us {
            self.awake = Some(Awake::hold_by(&root.path(LATENCY_DEVICE), limit_us)?);
        }
        if !condition.taskset.is_empty() {
            run_on("taskset", &condition.taskset)?;
        }
        condition.chrt.map_or(Ok(()), realtime)
    }

    /// Restores the original settings.
    ///
    /// # Errors
    /// The reason, as a sentence: a setting could not be restored. It stays in the journal, and the next start of
    /// perf_test tries again.
    pub fn restore(&mut self) -> Result<(), String> {
        self.condition = None;
        self.awake = None;
        // The scheduling is restored first, because a control group may refuse a real-time thread. It is restored once
        // more afterwards, because leaving the group changes the CPU affinity.
        self.scheduling.as_ref().map(Scheduling::restore).into_iter().for_each(drop);
        let files = self.journal.restore();
        let own = self.scheduling.as_ref().map_or(Ok(()), Scheduling::restore);
        if own.is_ok() {
            self.scheduling = None;
        }
        files.and(own)
    }

    /// Creates an isolated cpuset partition and moves this process into it. Workers that start later are in it, too.
    fn isolate(&mut self, cpus: &[u32], root: &Root) -> Result<(), String> {
        let (Some(mount), Some(own)) = (cpuset_mount(root), own_group(root)) else {
            return Err("control groups of version 2 are no longer mounted".to_owned());
        };
        let home = format!("{mount}/{}", own.trim_start_matches('/'));
        let path = format!("{mount}/{GROUP}-{}", std::process::id());
        let list = list_text(cpus);
        self.journal.enable_controller(&format!("{mount}/cgroup.subtree_control"), "cpuset")?;
        let files = [("cpuset.cpus", list.as_str()), ("cpuset.cpus.partition", "isolated")];
        self.journal.enter_group(&path, home.trim_end_matches('/'), &files)?;
        let state = root.line(&format!("{path}/cpuset.cpus.partition")).unwrap_or_default();
        if state != "isolated" {
            return Err(format!(
                "CPUs {list} cannot be isolated: the kernel says `{state}` in /{path}/cpuset.cpus.partition"
            ));
        }
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // An error is ignored: the dropped journal tries once more, and reports a failure.
        drop(self.restore());
    }
}

fn realtime(chrt: Chrt) -> Result<(), String> {
    let policy = match chrt.policy {
        RtPolicy::Fifo => RealtimeThreadSchedulePolicy::Fifo,
        RtPolicy::Rr => RealtimeThreadSchedulePolicy::RoundRobin,
    };
    let refused = |error: &dyn std::fmt::Display| {
        let program = std::env::current_exe().map_or("perf_test".to_owned(), |path| path.display().to_string());
        format!(
            "chrt {chrt}: the kernel refuses the priority: {error}. Run perf_test as root, or give it the right once: sudo setcap \
             cap_sys_nice+ep {program}. In a container: --cap-add SYS_NICE"
        )
    };
    let value = ThreadPriorityValue::try_from(chrt.priority).map_err(|error| refused(&error))?;
    let policy = ThreadSchedulePolicy::Realtime(policy);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy)
        .map_err(|error| refused(&error))
}
