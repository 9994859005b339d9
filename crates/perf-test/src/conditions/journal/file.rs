//! The file of the journal: its place, its lock and its lines.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::change::Change;

const FORMAT: &str = "gantry.perf_test.conditions-journal/1";

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    format: String,
    pub(super) boot_id: String,
    pub(super) pid: u32,
}

impl Head {
    pub(super) fn new(boot_id: String, pid: u32) -> Head {
        Head { format: FORMAT.to_owned(), boot_id, pid }
    }
}

/// The journal of this user. Only root writes to /run, so nobody else can plant one for root; elsewhere the owner is checked.
pub(super) fn path(root: &Path) -> PathBuf {
    let uid = geteuid().as_raw();
    let folder = if uid == 0 || root != Path::new("/") { "run" } else { "dev/shm" };
    root.join(folder).join(format!("perf_test-conditions-{uid}.json"))
}

/// The file with its lock and its content; `None` if another process holds the lock.
pub(super) fn locked(path: &Path, make: bool) -> io::Result<Option<(File, String)>> {
    loop {
        let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(make)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags)
            .open(path)?;
        let found = file.metadata()?;
        if !found.is_file() || found.uid() != geteuid().as_raw() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it is not a file of this user"));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Another process may have removed the name before it let the lock go.
        if fs::symlink_metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (found.dev(), found.ino())) {
            let mut content = String::new();
            file.read_to_string(&mut content)?;
            return Ok(Some((file, content)));
        }
    }
}

pub(super) fn append(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_all()
}

/// The first line and the changes, up to a line that is torn.
pub(super) fn parsed(content: &str) -> (Option<Head>, Vec<Change>) {
    let mut lines = content.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let head = lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok());
    let head = head.filter(|head| head.format == FORMAT);
    let changes = lines.map_while(|line| serde_json::from_str(line).ok());
    (head, changes.filter(Change::is_of_the_machine).collect())
}
