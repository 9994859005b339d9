//! The transport of the mock: Unix datagram sockets, one for each endpoint, with path names in a private folder.
//!
//! The folder belongs to the user and lies in XDG_RUNTIME_DIR, or in the folder of temporary files. The name of a
//! socket contains the domain, the topic, the kind of the endpoint and the process. An endpoint is alive if a
//! connection to its socket succeeds; [`clean_up`] removes the sockets of dead endpoints. The kernel queues a few
//! messages for each socket, and then blocks the senders, so no message is lost on the way.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The longest time for which a sender waits for a subscription that takes no messages.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The kind of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An endpoint that sends.
    Publisher,
    /// An endpoint that receives.
    Subscription,
}

impl Kind {
    /// The other kind.
    pub fn other(self) -> Kind {
        match self {
            Kind::Publisher => Kind::Subscription,
            Kind::Subscription => Kind::Publisher,
        }
    }
}

/// A topic of a domain.
#[derive(Clone, Debug)]
pub struct TopicKey {
    domain_id: u32,
    topic_hash: u64,
}

impl TopicKey {
    /// The key of the topic with this full name.
    pub fn new(domain_id: u32, topic: &str) -> TopicKey {
        // The name is hashed, because the path of a socket must be short. All processes run the same program, so they
        // compute the same hash.
        let mut hasher = DefaultHasher::new();
        topic.hash(&mut hasher);
        TopicKey { domain_id, topic_hash: hasher.finish() }
    }

    /// The common prefix of the socket names of the topic's endpoints of this kind.
    fn prefix(&self, kind: Kind) -> String {
        let kind = match kind {
            Kind::Publisher => "publisher",
            Kind::Subscription => "subscription",
        };
        format!("{}-{:016x}-{kind}-", self.domain_id, self.topic_hash)
    }
}

/// The socket of an endpoint of this process. Its file is removed when this value is dropped.
#[derive(Debug)]
pub struct Socket {
    /// The socket itself, in non-blocking mode.
    pub inner: UnixDatagram,
    path: PathBuf,
}

impl Socket {
    /// Creates a socket for an endpoint of this kind on the topic.
    ///
    /// # Errors
    /// The reason, as a sentence: the folder cannot be used.
    pub fn new(key: &TopicKey, kind: Kind) -> Result<Socket, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = folder()?;
        loop {
            let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = folder.join(format!("{}{process}-{number}", key.prefix(kind)));
            match UnixDatagram::bind(&path).and_then(|socket| socket.set_nonblocking(true).map(|()| socket)) {
                Ok(socket) => return Ok(Socket { inner: socket, path }),
                // A dead process with the same process id has left this file: the loop tries the next number.
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(cannot("create", &path, &error)),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The removal fails if `clean_up` has already removed the file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns sockets that are connected to all living endpoints of one kind on the topic.
///
/// # Errors
/// The reason, as a sentence: the folder cannot be used.
pub fn connect_all(key: &TopicKey, kind: Kind) -> Result<Vec<UnixDatagram>, String> {
    let prefix = key.prefix(kind);
    let of_kind = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(&prefix));
    let folder = folder()?;
    let names = names(&folder)?;
    let mut sockets = Vec::new();
    for path in names.iter().filter(|name| of_kind(name)).map(|name| folder.join(name)) {
        sockets.extend(connect(&path).map_err(|error| cannot("connect to", &path, &error))?);
    }
    Ok(sockets)
}

/// Removes the sockets of dead endpoints.
///
/// # Errors
/// The reason, as a sentence: the folder cannot be used.
pub fn clean_up() -> Result<(), String> {
    let folder = folder()?;
    for path in names(&folder)?.iter().map(|name| folder.join(name)) {
        let dead = connect(&path).map_err(|error| cannot("connect to", &path, &error))?.is_none();
        if dead && let Err(error) = fs::remove_file(&path).or_else(ignore_not_found) {
            return Err(cannot("remove", &path, &error));
        }
    }
    Ok(())
}

/// Returns a socket that sends to the endpoint with this path; `None` if the endpoint is dead.
fn connect(path: &Path) -> io::Result<Option<UnixDatagram>> {
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(LONGEST_WAIT))?;
    match socket.connect(path) {
        Ok(()) => Ok(Some(socket)),
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn ignore_not_found(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn names(folder: &Path) -> Result<Vec<OsString>, String> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    entries.map_err(|error| cannot("read", folder, &error))
}

/// Returns the private folder of the user. Creates it if it does not exist.
fn folder() -> Result<PathBuf, String> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let user = rustix::process::geteuid().as_raw();
    let folder = runtime.map_or_else(std::env::temp_dir, PathBuf::from).join(format!("perf_test_mock-{user}"));
    if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&folder)
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(cannot("create", &folder, &error));
    }
    // The folder is checked: in the folder of temporary files, another user may have created a folder with this name.
    let found = fs::symlink_metadata(&folder).map_err(|error| cannot("check", &folder, &error))?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        return Ok(folder);
    }
    Err(format!("{} is not a private folder of this user: remove it, or set XDG_RUNTIME_DIR", folder.display()))
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!(
        "the mock cannot {what} {}: {error}. Set XDG_RUNTIME_DIR to your own folder with a short name",
        path.display()
    )
}
