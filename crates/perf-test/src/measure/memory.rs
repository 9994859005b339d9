//! placeholder
use serde::{Deserialize, Serialize};

/// What a process has in memory now, KiB, or the sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident.
    pub rss_kib: u64,
    /// Of it, private memory without a file.
    pub anonymous_kib: u64,
    /// Of it, files.
    pub file_kib: u64,
    /// Of it, shared memory.
    pub shared_kib: u64,
    /// The most that ever was resident.
    pub peak_rss_kib: u64,
}

impl Memory {
    /// placeholder
    pub fn of_this_process() -> Result<Memory, String> {
        Ok(Memory::default())
    }
    /// placeholder
    pub fn add(&mut self, other: &Memory) {
        self.rss_kib += other.rss_kib;
        self.anonymous_kib += other.anonymous_kib;
        self.file_kib += other.file_kib;
        self.shared_kib += other.shared_kib;
        self.peak_rss_kib += other.peak_rss_kib;
    }
}
/// placeholder
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {}
impl Footprint {
    /// placeholder
    pub fn of_this_process() -> Result<Footprint, String> {
        Ok(Footprint::default())
    }
}
