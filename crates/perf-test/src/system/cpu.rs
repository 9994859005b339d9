//! The CPUs: models, numbers, and the cores, caches and memory nodes that they share.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::root::{Root, cpu_list, field};
use super::{container, cpu_model};

/// The kernel's folder with a subfolder for each CPU.
pub(crate) const CPUS: &str = "sys/devices/system/cpu";

/// The CPUs of the machine. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// The models of the CPUs, each with its number of CPUs.
    pub model: Option<String>,
    /// The architecture for which perf_test was built, which is also the kernel's.
    pub architecture: String,
    /// The CPUs that are online.
    pub online_cpus: Option<Vec<u32>>,
    /// The CPUs on which this process may run.
    pub usable_cpus: Option<Vec<u32>>,
    /// The number of CPU sockets.
    pub sockets: Option<usize>,
    /// The number of cores. With SMT, a core has several CPUs.
    pub cores: Option<usize>,
    /// The greatest number of CPUs in one core.
    pub threads_per_core: Option<usize>,
    /// Whether SMT is active: cores have several CPUs.
    pub smt_active: Option<bool>,
    /// The kernel's SMT setting: `on`, `off`, `forceoff` or `notsupported`.
    pub smt_control: Option<String>,
    /// The caches. Equal caches are one element with a count.
    pub caches: Vec<Cache>,
    /// The number of NUMA nodes.
    pub numa_nodes: Option<usize>,
    /// The CPUs to which the scheduler assigns no threads by itself (`isolcpus`).
    pub isolated_cpus: Option<Vec<u32>>,
    /// The CPUs without a periodic timer tick while they run only one thread (`nohz_full`).
    pub nohz_full_cpus: Option<Vec<u32>>,
    /// The CPUs of isolated cpuset partitions, which can be created without a reboot; `None` if the kernel does not
    /// show partitions.
    #[serde(default)]
    pub partition_cpus: Option<Vec<u32>>,
}

/// Several equal caches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    /// The level of the caches; 1 is nearest to the core.
    pub level: u8,
    /// The kind of the caches: `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// The size of each of these caches, KiB.
    pub size_kib: u64,
    /// The number of caches.
    pub count: usize,
}

impl Cpu {
    pub(super) fn read(root: &Root) -> Cpu {
        let names = root.numbered(CPUS, "cpu");
        let status = root.text("proc/self/status");
        let siblings = each(root, &names, "topology/thread_siblings_list");
        let sockets = each(root, &names, "topology/physical_package_id");
        let widest = siblings.iter().filter_map(|list| cpu_list(list)).map(|list| list.len()).max();
        Cpu {
            model: cpu_model::read(root),
            architecture: std::env::consts::ARCH.to_owned(),
            online_cpus: some(root.list(&format!("{CPUS}/online"))),
            usable_cpus: some(status.as_deref().and_then(|text| cpu_list(field(text, "Cpus_allowed_list")?))),
            sockets: (!sockets.is_empty()).then_some(sockets.len()),
            cores: (!siblings.is_empty()).then_some(siblings.len()),
            threads_per_core: widest.filter(|count| *count > 0),
            smt_active: root.flag(&format!("{CPUS}/smt/active")),
            smt_control: root.word(&format!("{CPUS}/smt/control")),
            caches: caches(root, &names),
            numa_nodes: some(root.list("sys/devices/system/node/online")).map(|nodes| nodes.len()),
            isolated_cpus: root.list(&format!("{CPUS}/isolated")),
            nohz_full_cpus: root.list(&format!("{CPUS}/nohz_full")),
            partition_cpus: container::partition_cpus(root),
        }
    }

    /// The number of CPUs that are online.
    #[must_use]
    pub fn online(&self) -> Option<usize> {
        self.online_cpus.as_ref().map(Vec::len)
    }
}

/// Returns the list, or `None` if it is empty: every machine has at least one such CPU, so an empty list was read
/// wrongly.
fn some(list: Option<Vec<u32>>) -> Option<Vec<u32>> {
    list.filter(|list| !list.is_empty())
}

/// The different contents of `file` in the folders of the CPUs `names`.
fn each(root: &Root, names: &[String], file: &str) -> BTreeSet<String> {
    names.iter().filter_map(|name| root.line(&format!("{CPUS}/{name}/{file}"))).collect()
}

fn caches(root: &Root, names: &[String]) -> Vec<Cache> {
    // A shared cache appears in the folder of each CPU that shares it. The list of these CPUs identifies the cache, so
    // it is counted once.
    let mut found: BTreeSet<(u8, String, u64, String)> = BTreeSet::new();
    for name in names {
        let folder = format!("{CPUS}/{name}/cache");
        found.extend(root.numbered(&folder, "index").iter().filter_map(|index| {
            let file = |file: &str| format!("{folder}/{index}/{file}");
            let kind =
                root.word(&file("type")).filter(|kind| ["Data", "Instruction", "Unified"].contains(&kind.as_str()))?;
            let size = root.word(&file("size"))?;
            let size_kib = size.strip_suffix('K')?.parse().ok()?;
            let shared = root.line(&file("shared_cpu_list")).unwrap_or_else(|| name.clone());
            Some((root.number(&file("level"))?, kind, size_kib, shared))
        }));
    }
    let mut counts: BTreeMap<(u8, String, u64), usize> = BTreeMap::new();
    for (level, kind, size_kib, _) in found {
        *counts.entry((level, kind, size_kib)).or_default() += 1;
    }
    counts.into_iter().map(|((level, kind, size_kib), count)| Cache { level, kind, size_kib, count }).collect()
}
