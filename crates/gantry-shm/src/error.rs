//! The errors of the engine: sentences with the values in them and advice.
//!
//! Every fallible call of this crate returns [`Error`]; `gantry` passes it on unchanged. The engine never logs.

use rustix::{
    io::Errno,
    process::{Resource, getrlimit},
};
use std::{io, path::PathBuf};

/// An error of the engine.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed. The sentence has the text of the kernel's error, and advice if a limit was reached.
    #[error("cannot {action}: {source}{}", advice(source))]
    System {
        /// The action that failed, for example "open /dev/shm/gantry-0".
        action: String,
        /// The kernel's error.
        source: io::Error,
    },

    /// The file system that holds the shared memory is full.
    #[error(
        "no room in shared memory for {what}: {needed_bytes} bytes were needed, {free_bytes} of {total_bytes} are free \
         in {directory}; free some memory, use fewer or smaller messages, enlarge the file system (docker: \
         --shm-size=1g; host: mount -o remount,size=50% /dev/shm) or set GANTRY_SHM_DIR to a larger tmpfs"
    )]
    NoRoom {
        /// The purpose of the memory.
        what: String,
        /// The bytes that were needed.
        needed_bytes: u64,
        /// The free bytes of the file system.
        free_bytes: u64,
        /// The size of the file system.
        total_bytes: u64,
        /// The directory of the domain.
        directory: PathBuf,
    },

    /// The file system that holds the shared memory has no room for one more file.
    #[error(
        "cannot {action}: there is no room for one more file, as a rule because the file system has no free inodes (df \
         -i); remove files from the file system, or allow more inodes (mount -o remount,nr_inodes=1000000 DIRECTORY)"
    )]
    NoInode {
        /// The action that failed.
        action: String,
    },

    /// The root of the shared memory lies on a disk, not in memory.
    #[error(
        "{} is on {file_system} and not on a tmpfs, so publishers would wait for the disk, and a full disk could end \
         them; set GANTRY_SHM_DIR to a tmpfs (mount -t tmpfs tmpfs DIRECTORY), or GANTRY_SHM_ALLOW_DISK=1 to use the \
         directory nevertheless",
        root.display()
    )]
    NotTmpfs {
        /// The root.
        root: PathBuf,
        /// The file system of the root.
        file_system: String,
    },

    /// The process may not map a file of shared memory.
    #[error("cannot map {bytes} bytes of {file}: {source}; raise the limit that is reached: {limits}")]
    NotMapped {
        /// The file.
        file: String,
        /// The number of bytes that the process tried to map.
        bytes: usize,
        /// The kernel's error.
        source: io::Error,
        /// The limits that may have caused the kernel's refusal, each with its value.
        limits: String,
    },

    /// No permission to use the directory of the shared memory.
    #[error(
        "no permission to {action}; Gantry needs a directory that user {uid} may write: correct its permissions or set \
         GANTRY_SHM_DIR to another directory (a tmpfs, the same for all programs that shall communicate)"
    )]
    NoPermission {
        /// The action that failed.
        action: String,
        /// The effective user of this process.
        uid: u32,
    },

    /// The directory exists but is not safe to use.
    #[error(
        "{} cannot be trusted: {why}; remove it (its owner or root can) or set GANTRY_SHM_DIR to another directory",
        path.display()
    )]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
        /// The check that the directory fails.
        why: String,
    },

    /// Another process holds the registry lock and does not release it.
    #[error(
        "the registry of {} has been locked by process {pid} for {waited_ms} ms; if that process is stopped \
         (SIGSTOP, a debugger), continue it or end it",
        directory.display()
    )]
    RegistryBusy {
        /// The directory of the domain.
        directory: PathBuf,
        /// The pid of the holder, if the holder has written it.
        pid: u32,
        /// The time that this process waited.
        waited_ms: u64,
    },

    /// A file or a directory of living processes was removed.
    #[error(
        "{} was removed while it is in use (it was needed for {what}); programs that have mapped the file continue to \
         use it, and programs that start now do not see it: restart the programs that use the file, and find out which \
         program removes files from shared memory",
        file.display()
    )]
    Removed {
        /// The file.
        file: PathBuf,
        /// The purpose for which the file was needed.
        what: String,
    },

    /// The handle was made before `fork`; only the parent process may use it.
    #[error("this handle belongs to the parent process: after fork, create a new node or call exec")]
    Forked,

    /// A file of another version or build.
    #[error(
        "{file} is not of this version of Gantry: {why}; use one version for all programs of a domain (files of programs that ended are removed)"
    )]
    Incompatible {
        /// The file.
        file: String,
        /// The difference.
        why: String,
    },

    /// Shared memory with bytes that no correct Gantry program writes.
    #[error(
        "corrupt shared memory in {what} at {location}: expected {expected}, found {found}; restart the process that \
         wrote this memory"
    )]
    Corrupt {
        /// The region or topic.
        what: String,
        /// The location in the region.
        location: String,
        /// The expected value.
        expected: String,
        /// The value that was found.
        found: String,
    },

    /// All the memory that a publisher may use is in use.
    #[error(
        "no memory for {needed_bytes} more bytes on topic {topic}: {used_bytes} of at most {limit_bytes} bytes are in use \
         ({holders}); {why}"
    )]
    OutOfMemory {
        /// The publisher's topic.
        topic: String,
        /// The bytes that were needed.
        needed_bytes: usize,
        /// The bytes that are in use.
        used_bytes: usize,
        /// The largest number of bytes that may be in use.
        limit_bytes: usize,
        /// The holders of the samples, each with its bytes.
        holders: String,
        /// The reason for the lack of memory, and the remedy.
        why: String,
    },

    /// The history is full, and slow readers have not taken its oldest sample.
    #[error(
        "could not publish on topic {topic} within {waited_ms} ms: the history is full with {kept} samples ({kept_bytes} bytes), \
         and sample {oldest} was not taken yet by slow readers: {slow_readers}; both sides are RELIABLE and KEEP_ALL, so the \
         publisher waits for them: take faster, raise max_blocking_time, max_kept_samples or max_kept_bytes, or use KEEP_LAST \
         on one side"
    )]
    PublishTimeout {
        /// The publisher's topic.
        topic: String,
        /// The time that the publisher waited.
        waited_ms: u64,
        /// The number of samples in the publisher's history.
        kept: usize,
        /// The bytes of these samples.
        kept_bytes: usize,
        /// The sequence of the oldest sample in the history.
        oldest: u64,
        /// The processes whose subscriptions have not taken the sample.
        slow_readers: String,
    },

    /// A subscription is at its limit of held samples.
    #[error(
        "the subscription to {topic} holds {limit} samples of one publisher, which is its limit; drop samples before \
         the next take, or raise the limit (set_max_held_samples)"
    )]
    TooManyHeld {
        /// The subscription's topic.
        topic: String,
        /// The limit of samples that the subscription may hold.
        limit: usize,
    },

    /// The reader records of a subscription cannot be mapped. The publisher reclaims nothing, because it cannot see the
    /// pins in these records.
    #[error("cannot map the reader records of topic {topic}, so no slot is reclaimed: {why}")]
    UnmappedReader {
        /// The publisher's topic.
        topic: String,
        /// The failure.
        why: String,
    },

    /// No publisher is matched: one could not be opened, mapped or joined, or a process that may have a publisher could
    /// not be read.
    #[error("no publisher of topic {topic} is matched: {why}")]
    UnmatchedPublisher {
        /// The subscription's topic.
        topic: String,
        /// The failure.
        why: String,
    },

    /// An endpoint of the opposite role on the topic has another type.
    #[error("{mismatch}")]
    TypeMismatch {
        /// The sentence about the mismatch: both types, their first difference, and advice.
        mismatch: String,
    },

    /// An endpoint of the opposite role on the topic has an incompatible QoS.
    #[error("{mismatch}")]
    IncompatibleQos {
        /// The policy, both values, and advice.
        mismatch: String,
    },

    /// An argument is out of range.
    #[error("{what} is {value}, which is out of range: {range}")]
    OutOfRange {
        /// The argument.
        what: &'static str,
        /// The value of the argument.
        value: String,
        /// The allowed values.
        range: String,
    },

    /// A loan was passed to a publisher that did not make it.
    #[error(
        "this loan belongs to another publisher (of topic {topic}); publish it with that publisher, or take a loan \
         from this publisher"
    )]
    ForeignLoan {
        /// The topic of the publisher to which the loan was passed.
        topic: String,
    },

    /// A subscription of one domain was passed to a wait set of another domain.
    #[error(
        "this wait set belongs to another domain than the subscription to {topic}; use one wait set for each domain"
    )]
    ForeignSubscription {
        /// The subscription's topic.
        topic: String,
    },
}

/// Prints the same sentence as `Display`, because `main` prints a returned error by `Debug`.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// The limit that was reached, as the end of a sentence; empty for most errors.
fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE) => {
            "; raise the limit of open files (`ulimit -n`): Gantry keeps one file open for each process of the domain"
        }
        Some(Errno::NFILE) => "; raise the limit of open files of the system (`sysctl fs.file-max`)",
        Some(Errno::NOMEM | Errno::AGAIN) => {
            "; if there is memory, raise the limit of address space (`ulimit -v`), of locked memory (`ulimit -l`) or of mappings \
             (`sysctl vm.max_map_count`)"
        }
        _ => "",
    }
}

/// A result of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wraps an error of the kernel with the action that failed; errors of permissions and of missing inodes get
    /// their own advice.
    pub(crate) fn system(action: impl Into<String>, source: impl Into<io::Error>) -> Error {
        let (action, source) = (action.into(), source.into());
        match source.kind() {
            io::ErrorKind::PermissionDenied => Error::NoPermission { action, uid: rustix::process::geteuid().as_raw() },
            io::ErrorKind::StorageFull => Error::NoInode { action },
            _ => Error::System { action, source },
        }
    }

    /// The error of a file that cannot be mapped.
    pub(crate) fn not_mapped(file: &str, bytes: usize, errno: Errno) -> Error {
        let bytes_of = |of| getrlimit(of).current.map_or("unlimited".to_owned(), |limit| format!("{limit} bytes"));
        let locked = format!("locked memory (ulimit -l) of {}", bytes_of(Resource::Memlock));
        let limits = match errno {
            Errno::AGAIN => locked,
            Errno::NOMEM => {
                let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or("unknown".to_owned());
                let space = bytes_of(Resource::As);
                format!("address space (ulimit -v) of {space}, or {} mappings (sysctl vm.max_map_count)", maps.trim())
            }
            _ => return Error::system(format!("map {bytes} bytes of {file}"), errno),
        };
        Error::NotMapped { file: file.to_owned(), bytes, source: errno.into(), limits }
    }

    /// Whether the error is a missing file. Another process may have removed the file meanwhile.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// The error for bytes that no correct process writes.
    pub(crate) fn corrupt(
        what: impl Into<String>,
        location: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Error {
        let (expected, found) = (expected.to_string(), found.to_string());
        Error::Corrupt { what: what.into(), location: location.into(), expected, found }
    }

    /// The error of an argument that is out of range.
    pub(crate) fn out_of_range(what: &'static str, value: impl ToString, range: impl Into<String>) -> Error {
        Error::OutOfRange { what, value: value.to_string(), range: range.into() }
    }
}
