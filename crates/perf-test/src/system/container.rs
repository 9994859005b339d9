//! The container in which this process runs, and the control groups that limit its CPU time.
//!
//! Control groups of both versions are read. A quota of any group from the process's own group up to the root group
//! limits the process.

use serde::{Deserialize, Serialize};

use super::root::{Root, printable};

/// The possible mount points of cgroup v1's `cpu` controller.
const OLD_MOUNTS: [&str; 2] = ["sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/cpu"];
/// The possible mount points of cgroup v2: without cgroup v1, or beside it.
const NEW_MOUNTS: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];
/// Words in the path of a control group that show that it belongs to a container.
const GROUP_SIGNS: [&str; 6] = ["docker", "kubepods", "containerd", "libpod", "lxc", "garden"];
/// The greatest depth of nested control groups that is read.
const MAX_DEPTH: usize = 64;

/// The container and the control groups of this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Container {
    /// The kind of container; `None` if none was detected.
    pub kind: Option<String>,
    /// The control group that counts the CPU time of this process; `None` if it is unknown. Its quotas are then
    /// unknown, too.
    pub control_group: Option<String>,
    /// The tightest limit of CPU time; `None` if no limit was found.
    pub quota: Option<CpuQuota>,
}

/// A limit of CPU time. A process that has used up its quota stops until the period ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuQuota {
    /// The CPU time that is allowed in each period, microseconds.
    pub quota_us: u64,
    /// The length of a period, microseconds.
    pub period_us: u64,
    /// The file that sets the limit.
    pub file: String,
}

impl CpuQuota {
    /// The limit as a number of CPUs.
    #[must_use]
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us.max(1) as f64
    }
}

impl Container {
    pub(super) fn read(root: &Root) -> Container {
        let groups = groups(root);
        let quotas = folders(root).into_iter().filter_map(|folder| quota(root, &folder));
        Container {
            kind: kind(root),
            control_group: groups.new.or(groups.old),
            quota: quotas.min_by(|one, other| one.cpus().total_cmp(&other.cpus())),
        }
    }
}

/// The mount point of cgroup v2 with the `cpuset` controller, which can assign CPUs to groups; `None` if there is none.
pub(crate) fn cpuset_mount(root: &Root) -> Option<&'static str> {
    let has_cpuset = |mount: &&str| {
        let controllers = root.line(&format!("{mount}/cgroup.controllers"));
        controllers.is_some_and(|names| names.split_whitespace().any(|name| name == "cpuset"))
    };
    NEW_MOUNTS.into_iter().find(has_cpuset)
}

/// The CPUs of isolated cpuset partitions: from the kernel's list, or on older kernels from the groups directly below
/// the root.
pub(super) fn partition_cpus(root: &Root) -> Option<Vec<u32>> {
    let mount = cpuset_mount(root)?;
    if let Some(cpus) = root.list(&format!("{mount}/cpuset.cpus.isolated")) {
        return Some(cpus);
    }
    let of_group = |name: String| {
        let file = |file: &str| format!("{mount}/{name}/{file}");
        let is_isolated = root.line(&file("cpuset.cpus.partition")).is_some_and(|kind| kind == "isolated");
        root.list(&file("cpuset.cpus")).filter(|_| is_isolated)
    };
    let mut cpus: Vec<u32> = root.names(mount, "").into_iter().filter_map(of_group).flatten().collect();
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// The cgroup v2 group of this process, as a path below the mount point that starts with `/`.
pub(crate) fn own_group(root: &Root) -> Option<String> {
    let text = root.text("proc/self/cgroup")?;
    text.lines().find_map(|line| line.strip_prefix("0::")).and_then(printable)
}

/// How often an exhausted quota has stopped the control groups of this process; `None` if the kernel does not count
/// this.
pub(super) fn throttled(root: &Root) -> Option<u64> {
    let count = |folder: String| -> Option<u64> {
        let text = root.text(&format!("{folder}/cpu.stat"))?;
        text.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
    };
    folders(root).into_iter().filter_map(count).reduce(u64::saturating_add)
}

fn kind(root: &Root) -> Option<String> {
    let from_environment = ["proc/self/environ", "proc/1/environ"].iter().find_map(|path| {
        let text = root.text(path)?;
        printable(text.split('\0').find_map(|variable| variable.strip_prefix("container="))?)
    });
    let file = |path: &str, kind: &str| root.exists(path).then(|| kind.to_owned());
    from_environment
        .or_else(|| root.line("run/systemd/container"))
        .or_else(|| file(".dockerenv", "docker"))
        .or_else(|| file("run/.containerenv", "podman"))
        .or_else(|| {
            let text = root.text("proc/self/cgroup")?;
            GROUP_SIGNS.iter().find(|sign| text.contains(*sign)).map(|sign| (*sign).to_owned())
        })
}

/// The control groups of this process that count CPU time, in cgroup v1 and v2.
#[derive(Default)]
struct Groups {
    old: Option<String>,
    new: Option<String>,
}

fn groups(root: &Root) -> Groups {
    let mut groups = Groups::default();
    for line in root.text("proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next().and_then(printable)) else { continue };
        // A path with `..` is outside the cgroup namespace of this process, so it cannot be read.
        if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
            continue;
        }
        if controllers.is_empty() {
            groups.new = Some(path);
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            groups.old = Some(path);
        }
    }
    groups
}

/// The folders of this process's control groups and of all their parents, without duplicates.
fn folders(root: &Root) -> Vec<String> {
    let groups = groups(root);
    let mut folders = Vec::new();
    for (mounts, path) in [(NEW_MOUNTS, groups.new), (OLD_MOUNTS, groups.old)] {
        let Some(path) = path else { continue };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).take(MAX_DEPTH).collect();
        // In a container the mount point itself is the folder of the group, and the path from `/proc/self/cgroup` does
        // not exist below it.
        for mount in mounts {
            folders.extend((0..=parts.len()).map(|depth| {
                let below = parts[..depth].iter().map(|part| format!("/{part}")).collect::<String>();
                format!("{mount}{below}")
            }));
        }
    }
    folders.retain(|folder| root.exists(&format!("{folder}/cpu.stat")));
    // Removes duplicates, because one mount point may be a symbolic link to the other.
    let mut known = Vec::new();
    folders.retain(|folder| {
        let place = root.path(folder).canonicalize().unwrap_or_else(|_| root.path(folder));
        let new = !known.contains(&place);
        known.push(place);
        new
    });
    folders
}

fn quota(root: &Root, folder: &str) -> Option<CpuQuota> {
    let limit = |quota_us: u64, period_us: u64, file: String| {
        (period_us > 0 && quota_us > 0).then(|| CpuQuota { quota_us, period_us, file: format!("/{file}") })
    };
    let file = format!("{folder}/cpu.max");
    if let Some(line) = root.line(&file) {
        let (quota_us, period_us) = line.split_once(' ')?;
        return limit(quota_us.parse().ok()?, period_us.parse().ok()?, file);
    }
    let file = format!("{folder}/cpu.cfs_quota_us");
    let quota_us: i64 = root.number(&file)?;
    limit(u64::try_from(quota_us).ok()?, root.number(&format!("{folder}/cpu.cfs_period_us"))?, file)
}
