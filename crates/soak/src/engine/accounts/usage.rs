//! The resources that this process uses, as the kernel counts them.

use crate::outcome::Result;
use std::{fmt, path::Path};

/// The numbers of descriptors and mappings, and the size of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub descriptors: usize,
    /// The number of all mappings.
    pub mappings: usize,
    /// The number of mapped files in the run's directory.
    pub shared_mappings: usize,
    pub resident_kb: u64,
}

impl Usage {
    /// Reads the current usage.
    pub fn now(root: &Path) -> Result<Usage> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"));
        let descriptors = std::fs::read_dir("/proc/self/fd").map_err(|e| format!("cannot list /proc/self/fd: {e}"))?;
        let (maps, status) = (read("/proc/self/maps")?, read("/proc/self/status")?);
        let root = root.to_string_lossy();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        Ok(Usage {
            descriptors: descriptors.count(),
            mappings: maps.lines().count(),
            shared_mappings: maps.lines().filter(|line| line.contains(&*root)).count(),
            resident_kb: resident.trim().trim_end_matches(" kB").parse().unwrap_or(0),
        })
    }

    /// True if all descriptors and shared mappings that were added since `before` are gone. Other mappings and memory
    /// are not compared, because the allocator may keep them.
    pub fn is_back_at(&self, before: &Usage) -> bool {
        self.descriptors <= before.descriptors && self.shared_mappings <= before.shared_mappings
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { descriptors, mappings, shared_mappings, resident_kb } = self;
        write!(
            f,
            "{descriptors} descriptors, {shared_mappings} shared mappings of {mappings}, {resident_kb} kB resident"
        )
    }
}
