//! The machine, the limits of this user's programs, and the file system of the shared memory.

use super::bytes_text;
use gantry_shm::shared_memory_directory;
use rustix::{
    fs::{statfs, statvfs},
    process::{Resource, getrlimit},
    system::uname,
};
use serde::Serialize;
use std::{fmt, fs, num::NonZero, thread};

/// `f_type` of a tmpfs.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// System and hardware.
#[derive(Debug, Serialize)]
pub struct Machine {
    kernel: String,
    architecture: String,
    /// The name of the CPU; `None` if it is not known.
    cpu: Option<String>,
    cpus: usize,
    memory_bytes: Option<u64>,
}

impl Machine {
    pub fn read() -> Machine {
        let uname = uname();
        let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let memory_kib =
            field("/proc/meminfo", "MemTotal").and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
        Machine {
            kernel: format!("{} {}", text(uname.sysname()), text(uname.release())),
            architecture: text(uname.machine()),
            cpu: field("/proc/cpuinfo", "model name"),
            cpus: thread::available_parallelism().map_or(1, NonZero::get),
            memory_bytes: memory_kib.map(|kib| kib * 1024),
        }
    }
}

/// The value of the first line `name: value` in a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "machine: {} {}, {} CPUs", self.kernel, self.architecture, self.cpus)?;
        self.cpu.iter().try_for_each(|cpu| write!(f, " ({cpu})"))?;
        self.memory_bytes.iter().try_for_each(|bytes| write!(f, ", {} of memory", bytes_text(*bytes)))?;
        writeln!(f)
    }
}

/// The file system of the shared memory.
#[derive(Debug, Serialize)]
pub struct SharedMemory {
    pub directory: String,
    /// `None` if the file system of the directory cannot be read.
    pub file_system: Option<FileSystem>,
}

/// Room in a file system.
#[derive(Debug, Serialize)]
pub struct FileSystem {
    pub is_tmpfs: bool,
    pub free_bytes: u64,
    pub total_bytes: u64,
    /// 0 if files are not counted.
    pub total_files: u64,
    pub free_files: u64,
}

impl SharedMemory {
    /// Reads the file system of the directory in `GANTRY_SHM_DIR`, or of `/dev/shm` if the variable is unset.
    pub fn read() -> SharedMemory {
        let directory = shared_memory_directory();
        let file_system = match (statvfs(&directory), statfs(&directory)) {
            (Ok(room), Ok(kind)) => Some(FileSystem {
                is_tmpfs: u64::try_from(kind.f_type).is_ok_and(|kind| kind == TMPFS_MAGIC),
                free_bytes: room.f_bavail * room.f_frsize,
                total_bytes: room.f_blocks * room.f_frsize,
                total_files: room.f_files,
                free_files: room.f_favail,
            }),
            _ => None,
        };
        SharedMemory { directory: directory.display().to_string(), file_system }
    }
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shared memory: {}", self.directory)?;
        match &self.file_system {
            Some(system) => writeln!(
                f,
                " ({}), {} of {} free",
                if system.is_tmpfs { "tmpfs" } else { "no tmpfs" },
                bytes_text(system.free_bytes),
                bytes_text(system.total_bytes)
            ),
            None => writeln!(f, " (the directory cannot be read)"),
        }
    }
}

/// The resource limits of this process. Other programs that were started from the same shell have the same limits.
/// `None` means no limit.
#[derive(Debug, Serialize)]
pub struct Limits {
    /// `ulimit -n`.
    pub open_files: Option<u64>,
    /// `ulimit -l`.
    locked_memory_bytes: Option<u64>,
    /// `ulimit -v`.
    pub address_space_bytes: Option<u64>,
    /// `ulimit -r`.
    realtime_priority: Option<u64>,
    /// `vm.max_map_count`: the largest number of memory mappings of a process.
    pub mappings: Option<u64>,
}

impl Limits {
    pub fn read() -> Limits {
        let soft = |resource| getrlimit(resource).current;
        let mappings = fs::read_to_string("/proc/sys/vm/max_map_count").ok();
        Limits {
            open_files: soft(Resource::Nofile),
            locked_memory_bytes: soft(Resource::Memlock),
            address_space_bytes: soft(Resource::As),
            realtime_priority: soft(Resource::Rtprio),
            mappings: mappings.and_then(|text| text.trim().parse().ok()),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
        let bytes = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), bytes_text);
        writeln!(
            f,
            "limits: open files {}, mappings {}, locked memory {}, address space {}, real-time priority {}",
            number(self.open_files),
            number(self.mappings),
            bytes(self.locked_memory_bytes),
            bytes(self.address_space_bytes),
            number(self.realtime_priority)
        )
    }
}
