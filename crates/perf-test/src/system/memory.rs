//! Memory: sizes, huge pages, limits, shared memory, and the buffers of sockets.

use serde::{Deserialize, Serialize};

use super::root::{Root, field};

pub(super) const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage";
pub(super) const SHARED_MEMORY: &str = "dev/shm";
pub(super) const SOCKETS: &str = "proc/sys/net/core";

/// The memory of the machine. An unreadable value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The whole main memory, KiB.
    pub total_kib: Option<u64>,
    /// The memory available to programs, KiB.
    pub available_kib: Option<u64>,
    /// The size of `/dev/shm`, KiB.
    pub shared_memory_kib: Option<u64>,
    /// The free part of `/dev/shm`, KiB.
    pub shared_memory_free_kib: Option<u64>,
    /// The mode of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The mode in which the kernel defragments memory for transparent huge pages.
    pub transparent_huge_pages_defrag: Option<String>,
    /// The mode of transparent huge pages for shared memory.
    pub transparent_huge_pages_shared: Option<String>,
    /// The number of reserved (explicit) huge pages.
    pub huge_pages: Option<u64>,
    /// The size of a reserved huge page, KiB.
    pub huge_page_kib: Option<u64>,
    /// The memory that this process may lock, bytes; [`u64::MAX`] means no limit.
    pub lock_limit_bytes: Option<u64>,
    /// The highest real-time priority that this process may use without root; [`u64::MAX`] means no limit.
    pub rt_priority_limit: Option<u64>,
}

/// The sizes of socket buffers, which matter to middlewares that use the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SocketBuffers {
    /// The largest allowed receive buffer, bytes.
    pub receive_max_bytes: Option<u64>,
    /// The default size of receive buffers, bytes.
    pub receive_default_bytes: Option<u64>,
    /// The largest allowed send buffer, bytes.
    pub send_max_bytes: Option<u64>,
    /// The default size of send buffers, bytes.
    pub send_default_bytes: Option<u64>,
}

impl Memory {
    pub(super) fn read(root: &Root) -> Memory {
        let info = root.text("proc/meminfo").unwrap_or_default();
        let figure = |name: &str| field(&info, name)?.split_whitespace().next()?.parse::<u64>().ok();
        let limits = root.text("proc/self/limits").unwrap_or_default();
        let pages = |file: &str| root.chosen_in(&format!("{HUGE_PAGES}/{file}"), ('[', ']'));
        let shared = rustix::fs::statvfs(root.path(SHARED_MEMORY)).ok();
        let kib = |blocks: u64, bytes: u64| blocks.saturating_mul(bytes) / 1024;
        Memory {
            total_kib: figure("MemTotal"),
            available_kib: figure("MemAvailable"),
            shared_memory_kib: shared.as_ref().map(|shared| kib(shared.f_blocks, shared.f_frsize)),
            shared_memory_free_kib: shared.as_ref().map(|shared| kib(shared.f_bavail, shared.f_frsize)),
            transparent_huge_pages: pages("enabled"),
            transparent_huge_pages_defrag: pages("defrag"),
            transparent_huge_pages_shared: pages("shmem_enabled"),
            huge_pages: figure("HugePages_Total"),
            huge_page_kib: figure("Hugepagesize"),
            lock_limit_bytes: soft_limit(&limits, "Max locked memory"),
            rt_priority_limit: soft_limit(&limits, "Max realtime priority"),
        }
    }
}

impl SocketBuffers {
    pub(super) fn read(root: &Root) -> SocketBuffers {
        let figure = |name: &str| root.number(&format!("{SOCKETS}/{name}"));
        SocketBuffers {
            receive_max_bytes: figure("rmem_max"),
            receive_default_bytes: figure("rmem_default"),
            send_max_bytes: figure("wmem_max"),
            send_default_bytes: figure("wmem_default"),
        }
    }
}

pub(super) fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        limit => limit.parse().ok(),
    }
}
