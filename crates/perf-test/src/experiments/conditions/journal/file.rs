//! The file of the journal: its path, its lock and its lines.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::change::Change;
use crate::system::root::Root;

/// The permissions of the journal. Other users may read it, because its settings concern the whole machine.
const OTHERS_READ: u32 = 0o644;
const FORMAT: &str = "gantry.perf_test.conditions-journal/1";

/// The first line of the journal: the boot and the process that wrote the journal.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    format: String,
    pub(super) boot_id: String,
    pub(super) pid: u32,
    /// Whether the process ended normally but could not undo the changes in the following lines.
    #[serde(default)]
    pub(super) has_ended: bool,
}

impl Head {
    /// Creates the first line for a journal of this process.
    pub(super) fn now(root: &Root, has_ended: bool) -> Head {
        Head { format: FORMAT.to_owned(), boot_id: boot_id(root), pid: std::process::id(), has_ended }
    }
}

/// The kernel's id of the current boot.
pub(super) fn boot_id(root: &Root) -> String {
    root.line(BOOT_ID).unwrap_or_default()
}

/// The content of a journal.
#[derive(Default)]
pub(super) struct Content {
    /// The first line; `None` if it is incomplete, damaged or of another version.
    pub(super) head: Option<Head>,
    /// The changes in the journal.
    pub(super) changes: Vec<Change>,
    /// The lines that cannot be parsed as changes. Without a valid first line, these are all lines.
    pub(super) damaged: Vec<String>,
}

impl Content {
    /// Whether no change needs to be undone.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.damaged.is_empty()
    }
}

pub(super) const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";
const FOLDERS: [&str; 2] = ["run", "dev/shm"];
const PREFIX: &str = "perf_test-conditions-";
const SUFFIX: &str = ".json";

/// The path of this user's journal. Root's journal is in /run, where only root can write, so no other user can forge
/// it. Other users' journals are in /dev/shm, where any user can write, so the owner of the file is checked.
pub(super) fn path(root: &Path) -> PathBuf {
    let uid = geteuid().as_raw();
    let [own, shared] = FOLDERS;
    let folder = if uid == 0 || root != Path::new("/") { own } else { shared };
    root.join(folder).join(format!("{PREFIX}{uid}{SUFFIX}"))
}

/// The journals of other users, each with the id of its user.
pub(super) fn others_journals(root: &Path) -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let uid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok());
            // Any user may create a file with this name, so the owner of the file must be the user in its name.
            let is_own = |uid: u32| root != Path::new("/") || entry.metadata().is_ok_and(|found| found.uid() == uid);
            found.extend(uid.filter(|uid| *uid != geteuid().as_raw() && is_own(*uid)).map(|uid| (uid, entry.path())));
        }
    }
    found
}

/// Opens and locks the journal. Returns the file and its content; `None` if another process holds the lock.
pub(super) fn locked(path: &Path, make: bool) -> io::Result<Option<(File, String)>> {
    loop {
        let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(make)
            .truncate(false)
            .mode(OTHERS_READ)
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
        if make {
            // The umask may have removed permissions when the file was created.
            file.set_permissions(Permissions::from_mode(OTHERS_READ))?;
        }
        // The previous owner of the lock may have removed the file before it released the lock. Then the path leads to
        // another file or to none, and the loop tries again.
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

/// Parses the lines of a journal. A last line without a newline is incomplete and is ignored: the change that it
/// describes was not made yet.
pub(super) fn parsed(content: &str) -> Content {
    let mut lines = content.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let is_head = |head: &Head| head.format == FORMAT;
    let head = lines.clone().next().and_then(|first| serde_json::from_str::<Head>(first).ok()).filter(is_head);
    let mut found = Content { head, ..Content::default() };
    if found.head.is_some() {
        lines.next();
    }
    for line in lines {
        let change = serde_json::from_str::<Change>(line).ok().filter(|_| found.head.is_some());
        match change.filter(Change::is_of_the_machine) {
            Some(change) => found.changes.push(change),
            None => found.damaged.push(line.trim_end().to_owned()),
        }
    }
    found
}
