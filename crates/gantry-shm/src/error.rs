//! What can go wrong in the engine, as sentences with the values in them and what to do next.
//!
//! Every fallible call of this crate returns [`Error`]; `gantry` passes it on unchanged.
//! The engine never logs: what it cannot do, it returns.

use std::{io, path::PathBuf};

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed in a way that needs no advice of its own.
    #[error("cannot {action}: {source}")]
    System {
        /// What was being done, as "open /dev/shm/gantry-0".
        action: String,
        /// What the kernel said.
        source: io::Error,
    },

    /// The file system that holds the shared memory is full.
    #[error(
        "no room in shared memory for {what}: {needed_bytes} bytes were needed, {free_bytes} of {total_bytes} are free \
         in {directory}; free some, use fewer or smaller messages, enlarge it (docker: --shm-size=1g; host: \
         mount -o remount,size=50% /dev/shm) or set GANTRY_SHM_DIR to a roomier tmpfs"
    )]
    NoRoom {
        /// What the memory was for.
        what: String,
        /// How much was asked for.
        needed_bytes: u64,
        /// How much there was.
        free_bytes: u64,
        /// How large the file system is.
        total_bytes: u64,
        /// Where.
        directory: PathBuf,
    },

    /// No permission to use the directory of the shared memory.
    #[error(
        "no permission to {action}; Gantry needs a directory that user {uid} may write: mend its permissions or set \
         GANTRY_SHM_DIR to one (a tmpfs, the same for all programs that should meet)"
    )]
    NoPermission {
        /// What was being done.
        action: String,
        /// The user that this process runs as.
        uid: u32,
    },

    /// The directory exists but is not safe to use.
    #[error(
        "{} cannot be trusted: {why}; remove it (its owner or root can) or set GANTRY_SHM_DIR to another directory",
        path.display()
    )]
    ForeignDirectory {
        /// Which directory.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// Another process holds the registry lock and does not let go.
    #[error(
        "the registry of {} has been locked by process {pid} for {waited_ms} ms; if that process is stopped \
         (SIGSTOP, a debugger), let it go on or end it",
        directory.display()
    )]
    RegistryBusy {
        /// Which domain's directory.
        directory: PathBuf,
        /// Who holds it, as far as it said so.
        pid: u32,
        /// How long this process waited.
        waited_ms: u64,
    },

    /// Somebody removed a file, or the directory, of those who live.
    #[error(
        "{} was removed while it is in use (wanted: {what}); who has it goes on with what there is, and nobody new sees it: \
         restart the programs that use it, and find out who removes files from shared memory",
        file.display()
    )]
    Removed {
        /// Which file.
        file: PathBuf,
        /// What it was needed for.
        what: String,
    },

    /// The handle was made before `fork`; only the parent may use it.
    #[error("this handle belongs to the parent process: after fork, create a node of your own or call exec")]
    Forked,

    /// A file of another version or build.
    #[error(
        "{file} is not of this version of Gantry: {why}; use one version for all programs of a domain (what a version left that does not run any more is removed)"
    )]
    Incompatible {
        /// Which file.
        file: String,
        /// What differs.
        why: String,
    },

    /// Bytes that no correct Gantry program writes.
    #[error("corrupt shared memory in {what} at {place}: expected {expected}, found {found}")]
    Corrupt {
        /// Which region or topic.
        what: String,
        /// Where in it.
        place: String,
        /// What would have been right.
        expected: String,
        /// What is there.
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
        /// How much was asked for.
        needed_bytes: usize,
        /// How much is in use.
        used_bytes: usize,
        /// How much may be.
        limit_bytes: usize,
        /// Who holds how much.
        holders: String,
        /// Why there is not more, and what to do.
        why: String,
    },

    /// Subscriptions did not take what would have to go for one more sample.
    #[error(
        "could not publish on topic {topic} within {waited_ms} ms: {kept} samples ({kept_bytes} bytes) are kept, and sample \
         {oldest} was not taken by {slow_readers}; both sides are RELIABLE and KEEP_ALL, so the publisher waits for them: take \
         faster, raise max_blocking_time or what is kept, or use KEEP_LAST on one side"
    )]
    PublishTimeout {
        /// The publisher's topic.
        topic: String,
        /// How long it waited.
        waited_ms: u64,
        /// How many samples it keeps.
        kept: usize,
        /// How many bytes.
        kept_bytes: usize,
        /// The oldest of them.
        oldest: u64,
        /// Whose subscriptions did not take it.
        slow_readers: String,
    },

    /// The memory in which a reader pins samples cannot be mapped, so nothing it may hold is ever freed.
    #[error("cannot see what the readers of topic {topic} hold: {why}")]
    UnmappedReader {
        /// The publisher's topic.
        topic: String,
        /// What failed.
        why: String,
    },

    /// Whoever is there on the topic has another type.
    #[error("{mismatch}; build all programs of a topic with the same definition")]
    TypeMismatch {
        /// Both types, and where they part.
        mismatch: String,
    },

    /// An argument is out of range.
    #[error("{what} is {value}, which is out of range: {range}")]
    OutOfRange {
        /// Which argument.
        what: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        range: String,
    },

    /// A loan that was given to a publisher it did not come from.
    #[error("this loan belongs to another publisher (of topic {topic}); publish it there, or loan from this one")]
    ForeignLoan {
        /// Topic of the publisher that was asked.
        topic: String,
    },

    /// A subscription of one domain that was given to a wait set of another.
    #[error(
        "this wait set belongs to another domain than the subscription to {topic}; use one wait set for each domain"
    )]
    ForeignSubscription {
        /// The subscription's topic.
        topic: String,
    },
}

/// A result of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wraps what the kernel said, with what was being done; permission errors get their advice.
    pub(crate) fn system(action: impl Into<String>, source: impl Into<io::Error>) -> Error {
        let (action, source) = (action.into(), source.into());
        match source.kind() {
            io::ErrorKind::PermissionDenied => Error::NoPermission { action, uid: rustix::process::getuid().as_raw() },
            _ => Error::System { action, source },
        }
    }

    /// Whether something was not there: often somebody else removed it meanwhile.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Says that bytes of another process make no sense.
    pub(crate) fn corrupt(
        what: impl Into<String>,
        place: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Error {
        Error::Corrupt {
            what: what.into(),
            place: place.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}
