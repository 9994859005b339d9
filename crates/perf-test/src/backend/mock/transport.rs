//! How the mock's ends meet: Unix datagram sockets with names in a private folder, one for each end.
//!
//! Used by the mock. The folder is the user's, in XDG_RUNTIME_DIR or else where temporary files go; a name says domain, topic, kind
//! and process. An end lives if its socket can be connected to; what nobody has open any more is passed over, and taken away by
//! [`clean_up`]. The kernel holds a few messages of a socket and lets its senders wait, so nothing is lost on the way.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long a sender waits for a subscription that takes nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sends.
    Publisher,
    /// Receives.
    Subscription,
}

impl Kind {
    /// The other one.
    pub fn other(self) -> Kind {
        match self {
            Kind::Publisher => Kind::Subscription,
            Kind::Subscription => Kind::Publisher,
        }
    }
}

/// A topic of a domain.
#[derive(Clone, Debug)]
pub struct Place {
    domain_id: u32,
    topic_hash: u64,
}

impl Place {
    /// Of the topic with this full name.
    pub fn new(domain_id: u32, topic: &str) -> Place {
        // A name of any length has to fit into the address of a socket; all processes of a run are one program.
        let mut hasher = DefaultHasher::new();
        topic.hash(&mut hasher);
        Place { domain_id, topic_hash: hasher.finish() }
    }

    /// How the names of its ends of one kind begin.
    fn prefix(&self, kind: Kind) -> String {
        let kind = match kind {
            Kind::Publisher => "publisher",
            Kind::Subscription => "subscription",
        };
        format!("{}-{:016x}-{kind}-", self.domain_id, self.topic_hash)
    }
}

/// An end of this process: its socket, whose name goes with it.
#[derive(Debug)]
pub struct End {
    /// Its socket, which does not block.
    pub socket: UnixDatagram,
    path: PathBuf,
}

impl End {
    /// A new end.
    ///
    /// # Errors
    /// A sentence: the folder cannot be used.
    pub fn new(place: &Place, kind: Kind) -> Result<End, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = folder()?;
        loop {
            let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = folder.join(format!("{}{process}-{number}", place.prefix(kind)));
            match UnixDatagram::bind(&path).and_then(|socket| socket.set_nonblocking(true).map(|()| socket)) {
                Ok(socket) => return Ok(End { socket, path }),
                // Left by a dead process that had the same number.
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(cannot("make", &path, &error)),
            }
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Somebody may have tidied up already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Sockets that are connected to the ends of one kind that live.
///
/// # Errors
/// A sentence: the folder cannot be used.
pub fn living(place: &Place, kind: Kind) -> Result<Vec<UnixDatagram>, String> {
    let prefix = place.prefix(kind);
    let of_kind = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(&prefix));
    let folder = folder()?;
    let names = names(&folder)?;
    let mut sockets = Vec::new();
    for path in names.iter().filter(|name| of_kind(name)).map(|name| folder.join(name)) {
        sockets.extend(connect(&path).map_err(|error| cannot("connect to", &path, &error))?);
    }
    Ok(sockets)
}

/// Takes away the names of the ends that are dead.
///
/// # Errors
/// A sentence: the folder cannot be used.
pub fn clean_up() -> Result<(), String> {
    let folder = folder()?;
    for path in names(&folder)?.iter().map(|name| folder.join(name)) {
        let dead = connect(&path).map_err(|error| cannot("connect to", &path, &error))?.is_none();
        if dead && let Err(error) = fs::remove_file(&path).or_else(gone) {
            return Err(cannot("remove", &path, &error));
        }
    }
    Ok(())
}

/// A socket that sends to the one of this name; none if that is dead.
fn connect(path: &Path) -> io::Result<Option<UnixDatagram>> {
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(LONGEST_WAIT))?;
    match socket.connect(path) {
        Ok(()) => Ok(Some(socket)),
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn names(folder: &Path) -> Result<Vec<OsString>, String> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    entries.map_err(|error| cannot("look into", folder, &error))
}

/// The user's folder; made if it is not there.
fn folder() -> Result<PathBuf, String> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let user = rustix::process::geteuid().as_raw();
    let folder = runtime.map_or_else(std::env::temp_dir, PathBuf::from).join(format!("perf_test_mock-{user}"));
    if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&folder)
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(cannot("make", &folder, &error));
    }
    // Where temporary files go anybody may have made it.
    let found = fs::symlink_metadata(&folder).map_err(|error| cannot("look at", &folder, &error))?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        return Ok(folder);
    }
    Err(format!("{} is not a folder of this user alone: remove it, or set XDG_RUNTIME_DIR", folder.display()))
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!(
        "the mock cannot {what} {}: {error}. Set XDG_RUNTIME_DIR to a folder of yours with a short name",
        path.display()
    )
}
