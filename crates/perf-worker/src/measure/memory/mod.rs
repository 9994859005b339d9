//! Resident memory of a process: its total, read every second, and its division into kinds of mappings, read once at
//! the end.
//!
//! The sources are `/proc/<pid>/status` and `/proc/<pid>/smaps`. Two properties of these figures may surprise:
//! - A page of shared memory counts once in the RSS of every mapping through which it was touched. It counts twice in a
//!   process that both publishes and subscribes. In a sum of PSS over all processes, the page counts once (less the
//!   share of processes that were not measured).
//! - The kernel does not mark the stacks of threads other than the main thread. Only the main thread's stack counts as
//!   `stack`; the other stacks count as `heap`.

use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};
use procfs::{ProcError, ProcResult};
use serde::{Deserialize, Serialize};

const KIB: u64 = 1024;

/// Memory of a process at one time, KiB, or the sum over several processes. The kernel keeps a count for each CPU and
/// rarely adds these counts up, so the figures have an error of some hundred KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// All resident memory.
    pub rss_kib: u64,
    /// Resident private memory: heap, stacks, and pages of files that were written to.
    pub anonymous_kib: u64,
    /// Resident pages of files.
    pub file_kib: u64,
    /// Resident shared memory: tmpfs (`/dev/shm`), memfd, System V.
    pub shared_kib: u64,
    /// The peak of resident memory. For several processes this is the sum of their peaks, which may have occurred at
    /// different times.
    pub peak_rss_kib: u64,
    /// The size of the address space, of which a large part may not be resident; 0 in logs of older versions.
    #[serde(default)]
    pub virtual_kib: u64,
}

impl Memory {
    /// Reads the memory of this process. Takes tens of microseconds; allocates.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the memory.
    pub fn of_this_process() -> Result<Memory, String> {
        Memory::read(&Process::myself().map_err(|error| unreadable("this process", &error))?, "this process")
    }

    /// Reads the memory of process `pid`.
    ///
    /// # Errors
    /// The reason, as a sentence, if the process has exited or the kernel does not report its figures.
    pub fn of_process(pid: u32) -> Result<Memory, String> {
        let name = format!("process {pid}");
        Memory::read(&open(pid).map_err(|error| unreadable(&name, &error))?, &name)
    }

    fn read(process: &Process, name: &str) -> Result<Memory, String> {
        let status = process.status().map_err(|error| unreadable(name, &error))?;
        let known = |field: Option<u64>| {
            field
                .ok_or_else(|| format!("the memory of {name} is not in /proc: it has exited, or the kernel is too old"))
        };
        Ok(Memory {
            rss_kib: known(status.vmrss)?,
            anonymous_kib: known(status.rssanon)?,
            file_kib: known(status.rssfile)?,
            shared_kib: known(status.rssshmem)?,
            peak_rss_kib: known(status.vmhwm)?,
            virtual_kib: known(status.vmsize)?,
        })
    }

    /// Adds the memory of another process.
    pub fn add(&mut self, other: &Memory) {
        self.rss_kib += other.rss_kib;
        self.anonymous_kib += other.anonymous_kib;
        self.file_kib += other.file_kib;
        self.shared_kib += other.shared_kib;
        self.peak_rss_kib += other.peak_rss_kib;
        self.virtual_kib += other.virtual_kib;
    }
}

/// Resident memory of one kind, KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resident {
    /// All resident pages of the mappings.
    pub rss_kib: u64,
    /// The same pages, but each page is divided by the number of mappings that contain it.
    pub pss_kib: u64,
}

impl Resident {
    /// Adds the memory of another mapping, kind or process.
    pub fn add(&mut self, other: Resident) {
        self.rss_kib += other.rss_kib;
        self.pss_kib += other.pss_kib;
    }
}

/// Resident memory of a process by kind of mapping, or the sum over several processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Footprint {
    /// The heap and all other private memory without a file, including the stacks of all threads but the main thread.
    pub heap: Resident,
    /// The main thread's stack.
    pub stack: Resident,
    /// Shared memory: tmpfs (`/dev/shm`), memfd, System V, shared anonymous mappings.
    pub shared: Resident,
    /// Files: the program, its libraries, and other mapped files.
    pub file: Resident,
    /// Mappings of the kernel and of drivers.
    pub other: Resident,
}

impl Footprint {
    /// Reads the footprint of this process. Takes milliseconds, and longer with more memory, because the kernel visits
    /// every page.
    ///
    /// # Errors
    /// The reason, as a sentence, if the kernel does not report the mappings.
    pub fn of_this_process() -> Result<Footprint, String> {
        let found = Process::myself().and_then(|process| Footprint::read(&process));
        found.map_err(|error| unreadable("this process", &error))
    }

    /// Reads the footprint of another process. Only root and the user of that process may do so.
    ///
    /// # Errors
    /// The reason, as a sentence, if the process has exited or the kernel does not report its figures.
    pub fn of_process(pid: u32) -> Result<Footprint, String> {
        let found = open(pid).and_then(|process| Footprint::read(&process));
        found.map_err(|error| unreadable(&format!("process {pid}"), &error))
    }

    fn read(process: &Process) -> ProcResult<Footprint> {
        // The mounts are read for each process, because a process in a container may have its own.
        let mounts = process.mountinfo()?;
        let tmpfs = mounts.iter().filter(|mount| mount.fs_type == "tmpfs");
        let tmpfs: Vec<&str> = tmpfs.map(|mount| mount.majmin.as_str()).collect();
        Ok(Footprint::from_maps(&process.smaps()?.0, &tmpfs))
    }

    /// Adds up the mappings by kind. `tmpfs` lists the devices (`major:minor`) of tmpfs mounts, whose files are shared
    /// memory.
    fn from_maps(maps: &[MemoryMap], tmpfs: &[&str]) -> Footprint {
        let mut footprint = Footprint::default();
        for map in maps {
            let kib = |field: &str| map.extension.map.get(field).copied().unwrap_or(0) / KIB;
            footprint.kind_of(map, tmpfs).add(Resident { rss_kib: kib("Rss"), pss_kib: kib("Pss") });
        }
        footprint
    }

    fn kind_of(&mut self, map: &MemoryMap, tmpfs: &[&str]) -> &mut Resident {
        let is_shared = map.perms.contains(MMPermissions::SHARED);
        match &map.pathname {
            MMapPath::Stack | MMapPath::TStack(_) => &mut self.stack,
            MMapPath::Vsys(_) => &mut self.shared,
            MMapPath::Heap | MMapPath::Anonymous => &mut self.heap,
            // A mapping that the program named with prctl(2) has no file either.
            MMapPath::Other(name) if name.starts_with("anon:") => &mut self.heap,
            MMapPath::Other(name) if name.starts_with("anon_shmem:") => &mut self.shared,
            MMapPath::Path(path) => {
                // These names belong to the kernel's internal tmpfs, which is not mounted: memory of memfd_create(2),
                // and MAP_SHARED memory without a file.
                let name = path.to_string_lossy();
                let is_unnamed = name.starts_with("/dev/zero") || name.starts_with("/memfd:");
                let (major, minor) = map.dev;
                if is_shared && (is_unnamed || tmpfs.contains(&format!("{major}:{minor}").as_str())) {
                    &mut self.shared
                } else if name.starts_with('/') && !name.starts_with("/dev/") {
                    &mut self.file
                } else {
                    &mut self.other
                }
            }
            _ => &mut self.other,
        }
    }

    /// Adds the footprint of another process.
    pub fn add(&mut self, other: &Footprint) {
        self.heap.add(other.heap);
        self.stack.add(other.stack);
        self.shared.add(other.shared);
        self.file.add(other.file);
        self.other.add(other.other);
    }
}

fn open(pid: u32) -> ProcResult<Process> {
    Process::new(i32::try_from(pid).map_err(|_| ProcError::NotFound(None))?)
}

fn unreadable(name: &str, error: &ProcError) -> String {
    match error {
        ProcError::NotFound(_) => format!("the memory of {name} is unknown: it has exited, or /proc is not mounted"),
        ProcError::PermissionDenied(_) => {
            format!("the memory of {name} may be read by its user or root only; run as one of them")
        }
        error => format!("the memory of {name} cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests;
