//! Announcements: files under /dev/shm, one for each endpoint. An endpoint holds a lock on its file for its whole life.
//!
//! Invariant: a file gets its name only when it is complete and locked. So an unlocked file belongs to a dead process.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use perf_worker::{clock::now_ns, endpoint::EndpointPlan, run_spec::RunSpec};
use rustix::fs::{AtFlags, CWD, FlockOperation, OFlags, flock, linkat};
use rustix::io::Errno;

/// The folder of all files.
pub const FOLDER: &str = "/dev/shm";

/// The id of an endpoint; a publisher's id is the source of its messages.
pub type Id = [u8; 16];

/// The kind of an endpoint of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Publishers.
    Publisher,
    /// Subscriptions.
    Subscription,
}

/// A topic, as the common prefix of the names of its endpoints' files.
#[derive(Clone, Debug)]
pub struct Topic(String);

/// An announced endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The id of the endpoint.
    pub id: Id,
    /// The port of the endpoint; 0 if it has no port.
    pub port: u16,
    /// The name of the endpoint's file.
    pub name: String,
}

impl Announced {
    /// The path of the endpoint's file.
    pub fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(&self.name)
    }
}

/// A new id, made of the process id, a counter and the time.
pub fn new_id() -> Id {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: no other data depends on the counter.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = u128::from(std::process::id()) << 96 | u128::from(number) << 64 | u128::from(now_ns() as u64);
    id.to_be_bytes()
}

fn prefix(baseline: &str) -> String {
    format!("perf_test_{baseline}.")
}

impl Topic {
    /// The topic of an endpoint. Endpoints have the same topic only if their message sizes and qualities of service
    /// are the same.
    pub fn new(baseline: &str, spec: &RunSpec, plan: &EndpointPlan) -> Topic {
        let mut hash = DefaultHasher::new();
        (spec.domain_id, &plan.topic, plan.message.bytes, plan.qos.to_string()).hash(&mut hash);
        Topic(format!("{}{:016x}.", prefix(baseline), hash.finish()))
    }

    /// The announcement of an endpoint of this topic.
    pub fn announced(&self, side: Side, id: Id, port: u16) -> Announced {
        let side = if side == Side::Publisher { 'p' } else { 's' };
        let name = format!("{}{side}.{:032x}.{port}", self.0, u128::from_be_bytes(id));
        Announced { id, port, name }
    }

    /// Lists the living publishers or subscriptions of the topic.
    ///
    /// # Errors
    /// The reason, as a sentence: the folder cannot be read.
    pub fn living(&self, side: Side) -> Result<Vec<Announced>, String> {
        let mut found = Vec::new();
        for name in names(&self.0)? {
            let mut words = name.split('.').skip(3);
            let id = words.next().and_then(|id| u128::from_str_radix(id, 16).ok());
            let port = words.next().and_then(|port| port.parse().ok());
            let (Some(id), Some(port)) = (id, port) else { continue };
            let announced = self.announced(side, id.to_be_bytes(), port);
            if announced.name == name && is_locked(&announced.path()) {
                found.push(announced);
            }
        }
        Ok(found)
    }
}

/// The names of the files that begin with `prefix`.
fn names(prefix: &str) -> Result<Vec<String>, String> {
    let folder = std::fs::read_dir(FOLDER).map_err(|error| format!("cannot read the folder {FOLDER}: {error}"))?;
    let names = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.filter(|name| name.starts_with(prefix)).collect())
}

/// True if a living process holds the lock of the file. A file that was removed has no living owner.
fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}

/// Removes the files of dead processes.
///
/// # Errors
/// The reason, as a sentence: a file could not be removed.
pub fn clean_up(baseline: &str) -> Result<(), String> {
    for name in names(&prefix(baseline))? {
        let path = Path::new(FOLDER).join(name);
        if is_locked(&path) {
            continue;
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("cannot remove {}: {error}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The file of an endpoint of this process. When this value is dropped, the file is removed.
pub struct OwnFile {
    /// Holds the lock.
    file: File,
    path: PathBuf,
}

impl OwnFile {
    /// Announces an endpoint by a file of `bytes` zeros.
    ///
    /// # Errors
    /// The reason, as a sentence.
    pub fn create(announced: &Announced, bytes: usize) -> Result<OwnFile, String> {
        let path = announced.path();
        let create = || {
            let unnamed = i32::try_from(OFlags::TMPFILE.bits()).unwrap_or(0);
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).mode(0o600).custom_flags(unnamed).open(FOLDER)?;
            file.set_len(bytes as u64)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
            linkat(CWD, unnamed, CWD, &path, AtFlags::SYMLINK_FOLLOW)?;
            Ok(file)
        };
        let created: std::io::Result<File> = create();
        let file = created.map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(OwnFile { file, path })
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        // A failure means that the file is gone already, or that a later `clean_up` removes it.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_found_while_it_lives_and_a_dead_one_is_removed() {
        let topic = Topic(format!("{}0.", prefix("test_announcement")));
        let of_dead = topic.announced(Side::Publisher, new_id(), 0);
        std::fs::write(of_dead.path(), "").unwrap();
        let living = topic.announced(Side::Publisher, new_id(), 80);
        let file = OwnFile::create(&living, 10).unwrap();
        clean_up("test_announcement").unwrap();
        assert!(!of_dead.path().exists());
        assert_eq!(topic.living(Side::Publisher).unwrap(), std::slice::from_ref(&living));
        assert_eq!(topic.living(Side::Subscription).unwrap(), []);
        drop(file);
        assert_eq!((topic.living(Side::Publisher).unwrap(), living.path().exists()), (Vec::new(), false));
    }
}
