//! The journal of changed settings: every change of the machine stands in it, on disk, before it is made.
//!
//! Invariants:
//! - A line is written and synchronised before the change that it describes. A torn last line is of a change that was not made.
//! - The process that holds the lock of the file owns the changes. The kernel frees the lock when the process ends, however it ends, so
//!   a journal without a lock is one of a process that was killed, and any later start of the program restores from it.
//! - Lines are undone in the opposite order. A setting that has been changed since by somebody else is left alone.
//! - The settings are the kernel's and end with the boot: a journal of an earlier boot is dropped.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::system::root::Root;

const FORMAT: &str = "gantry.perf_test.conditions-journal/1";
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";
/// The processes of a control group leave it when they have ended, which the kernel finishes a little later.
const TRIES_TO_REMOVE_A_GROUP: u32 = 200;
/// The look of another start at the journal is short; an experiment that runs holds it for long.
const TRIES_TO_LOCK: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    boot_id: String,
    pid: u32,
}

/// A change, with all that is needed to undo it. Paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The content of a file.
    File {
        /// The file.
        path: String,
        /// Its content before.
        before: String,
        /// Its content afterwards; none if the kernel changes it along with another setting.
        after: Option<String>,
    },
    /// A controller that is enabled for the children of a control group.
    Controller {
        /// The file `cgroup.subtree_control`.
        path: String,
        /// The controller.
        name: String,
    },
    /// A control group that is made; its processes come from, and go back to, `home`.
    Group {
        /// The folder.
        path: String,
        /// The folder of the group of the processes before.
        home: String,
    },
}

/// An open journal, whose lock this process holds.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    root: Root,
    /// The length of the first line.
    head_bytes: u64,
    changes: Vec<Change>,
}

impl Journal {
    /// Opens the journal of this user, which is empty.
    ///
    /// # Errors
    /// A sentence: another process changes the settings now, settings of an earlier process could not be restored, or the file cannot
    /// be written.
    pub fn open(root: &Path) -> Result<Journal, String> {
        let path = path(root);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::create_dir_all(folder).map_err(|error| refused(&path, &error))?;
        }
        let mut found = locked(&path, true);
        for _ in 0..TRIES_TO_LOCK {
            // Another start of the program may look at the file just now.
            if !matches!(found, Ok(None)) {
                break;
            }
            std::thread::sleep(BETWEEN_TRIES);
            found = locked(&path, true);
        }
        let Some((mut file, content)) = found.map_err(|error| refused(&path, &error))? else {
            return Err(format!(
                "another perf_test changes the settings of this machine now (it holds {}): wait until it has ended",
                path.display()
            ));
        };
        if !parsed(&content).1.is_empty() {
            return Err(format!(
                "settings of an earlier run are not restored yet ({}): restore them first, as the sentence above says",
                path.display()
            ));
        }
        let root = Root::new(root);
        let boot_id = root.line(BOOT_ID).unwrap_or_default();
        let head = Head { format: FORMAT.to_owned(), boot_id, pid: std::process::id() };
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| append(&mut file, &head));
        written.map_err(|error| refused(&path, &error))?;
        let head_bytes = file.stream_position().map_err(|error| refused(&path, &error))?;
        Ok(Journal { file, path, root, head_bytes, changes: Vec::new() })
    }

    /// Writes `value` into a file of the machine, and checks that the file has it. `affected` are files that the kernel changes along.
    ///
    /// # Errors
    /// A sentence: the file cannot be read or written, or the kernel does not take the value.
    pub fn write(&mut self, path: &str, value: &str, affected: &[String]) -> Result<(), String> {
        let before = self.root.line(path).ok_or_else(|| format!("/{path} cannot be read"))?;
        if before == value {
            return Ok(());
        }
        for other in affected {
            if let Some(before) = self.root.line(other) {
                self.note(Change::File { path: other.clone(), before, after: None })?;
            }
        }
        self.note(Change::File { path: path.to_owned(), before, after: Some(value.to_owned()) })?;
        self.put(path, value)?;
        match self.root.line(path) {
            Some(now) if now == value => Ok(()),
            now => Err(format!("/{path} is `{}` after `{value}` was written", now.unwrap_or_default())),
        }
    }

    /// Enables a controller for the children of a control group.
    ///
    /// # Errors
    /// A sentence, as [`Journal::write`].
    pub fn enable_controller(&mut self, path: &str, name: &str) -> Result<(), String> {
        if self.root.line(path).is_some_and(|enabled| enabled.split_whitespace().any(|one| one == name)) {
            return Ok(());
        }
        self.note(Change::Controller { path: path.to_owned(), name: name.to_owned() })?;
        self.put(path, &format!("+{name}"))
    }

    /// Makes a control group with these files, in order, and moves this process into it.
    ///
    /// # Errors
    /// A sentence, as [`Journal::write`].
    pub fn enter_group(&mut self, path: &str, home: &str, files: &[(&str, &str)]) -> Result<(), String> {
        self.note(Change::Group { path: path.to_owned(), home: home.to_owned() })?;
        let made = fs::create_dir(self.root.path(path));
        made.map_err(|error| format!("the control group /{path} cannot be made: {error}"))?;
        for (name, value) in files {
            self.put(&format!("{path}/{name}"), value)?;
        }
        self.put(&format!("{path}/cgroup.procs"), &std::process::id().to_string())
    }

    /// Undoes all changes.
    ///
    /// # Errors
    /// A sentence with each setting that could not be restored and the command that does it; the journal keeps them.
    pub fn restore(&mut self) -> Result<(), String> {
        let (kept, sentences) = undo(&self.root, std::mem::take(&mut self.changes));
        self.changes = kept;
        if !sentences.is_empty() {
            return Err(sentences.join("; "));
        }
        // Lines that are undone would claim a later change of somebody else that happens to have the same value.
        let emptied = self.file.set_len(self.head_bytes).and_then(|()| self.file.seek(SeekFrom::End(0)));
        emptied.map(drop).map_err(|error| refused(&self.path, &error))
    }

    fn note(&mut self, change: Change) -> Result<(), String> {
        append(&mut self.file, &change).map_err(|error| refused(&self.path, &error))?;
        self.changes.push(change);
        Ok(())
    }

    fn put(&self, path: &str, value: &str) -> Result<(), String> {
        put(&self.root, path, value).map_err(|error| format!("/{path} cannot be set to `{value}`: {error}"))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        match self.restore() {
            Ok(()) => drop(fs::remove_file(&self.path)),
            // Fails only if the console has gone.
            Err(sentence) => drop(writeln!(io::stderr().lock(), "perf_test: not restored: {sentence}")),
        }
    }
}

/// Restores settings that a killed process has left. Returns sentences for the user; none if nothing was left.
#[must_use]
pub fn restore_left(root: &Path) -> Vec<String> {
    let path = path(root);
    let (mut file, content) = match locked(&path, false) {
        Ok(Some(found)) => found,
        // Its process lives and restores by itself.
        Ok(None) => return Vec::new(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![refused(&path, &error)],
    };
    let (head, changes) = parsed(&content);
    let root = Root::new(root);
    let boot_id = root.line(BOOT_ID).unwrap_or_default();
    let pid = head.as_ref().map_or(0, |head| head.pid);
    if changes.is_empty() || head.is_none_or(|head| head.boot_id != boot_id) {
        drop(fs::remove_file(&path));
        return Vec::new();
    }
    let begin = format!("process {pid}, which had changed settings of this machine, was killed");
    let all: Vec<String> = changes.iter().map(Change::undone).collect();
    let (kept, sentences) = undo(&root, changes);
    if kept.is_empty() {
        drop(fs::remove_file(&path));
        return vec![format!("{begin}; restored: {}", all.join(", "))];
    }
    // The journal shrinks to the remaining changes: those were undone that stand behind them.
    let head = Head { format: FORMAT.to_owned(), boot_id, pid };
    let kept_on_disk = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| append(&mut file, &head))
        .and_then(|()| kept.iter().try_for_each(|change| append(&mut file, change)));
    let lost = kept_on_disk.err().map(|error| refused(&path, &error));
    let not_restored = sentences.into_iter().map(|sentence| format!("not restored: {sentence}"));
    std::iter::once(begin).chain(not_restored).chain(lost).collect()
}

/// The journal of this user. Only root writes to /run, so nobody else can plant one for root; elsewhere the owner is checked.
fn path(root: &Path) -> PathBuf {
    let uid = geteuid().as_raw();
    let folder = if uid == 0 || root != Path::new("/") { "run" } else { "dev/shm" };
    root.join(folder).join(format!("perf_test-conditions-{uid}.json"))
}

/// The file with its lock and its content; `None` if another process holds the lock.
fn locked(path: &Path, make: bool) -> io::Result<Option<(File, String)>> {
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

fn append(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_all()
}

/// The first line and the changes, up to a line that is torn.
fn parsed(content: &str) -> (Option<Head>, Vec<Change>) {
    let mut lines = content.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let head = lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok());
    let head = head.filter(|head| head.format == FORMAT);
    let changes = lines.map_while(|line| serde_json::from_str(line).ok());
    (head, changes.filter(Change::is_of_the_machine).collect())
}

impl Change {
    /// The state after it is undone, in words.
    fn undone(&self) -> String {
        match self {
            Change::File { path, before, .. } => format!("/{path} {before}"),
            Change::Controller { path, name } => format!("/{path} without {name}"),
            Change::Group { path, .. } => format!("no control group /{path}"),
        }
    }

    /// Whether it concerns a setting of the kernel and nothing else: the journal is a file, which may be damaged.
    fn is_of_the_machine(&self) -> bool {
        let (Change::File { path, .. } | Change::Controller { path, .. } | Change::Group { path, .. }) = self;
        path.starts_with("sys/") && !path.split('/').any(|part| part == "..")
    }
}

/// Undoes changes, the last one first. Returns those that it could not undo, in order, with a sentence for each.
fn undo(root: &Root, changes: Vec<Change>) -> (Vec<Change>, Vec<String>) {
    let (mut kept, mut sentences) = (Vec::new(), Vec::new());
    for change in changes.into_iter().rev() {
        if let Err(sentence) = undo_one(root, &change) {
            sentences.push(sentence);
            kept.push(change);
        }
    }
    kept.reverse();
    (kept, sentences)
}

fn undo_one(root: &Root, change: &Change) -> Result<(), String> {
    match change {
        Change::File { path, before, after } => {
            let now = root.line(path);
            let is_of_others = now.as_ref().zip(after.as_ref()).is_some_and(|(now, after)| now != after);
            if now.as_ref() == Some(before) || is_of_others {
                return Ok(());
            }
            put(root, path, before)
                .map_err(|error| format!("/{path} ({error}): echo {before} | sudo tee /{path}, or run this as root"))
        }
        Change::Controller { path, name } => {
            let is_enabled =
                root.line(path).is_some_and(|text| text.split_whitespace().any(|one| one == name));
            if !is_enabled {
                return Ok(());
            }
            put(root, path, &format!("-{name}"))
                .map_err(|error| format!("/{path} ({error}): echo -{name} | sudo tee /{path}"))
        }
        Change::Group { path, home } => leave_group(root, path, home).map_err(|error| {
            format!("the control group /{path} ({error}): move its processes to /{home}/cgroup.procs, and sudo rmdir /{path}")
        }),
    }
}

/// Moves all processes of a control group to `home`, and removes it.
fn leave_group(root: &Root, path: &str, home: &str) -> io::Result<()> {
    let mut result = Ok(());
    for attempt in 0..TRIES_TO_REMOVE_A_GROUP {
        if attempt > 0 {
            std::thread::sleep(BETWEEN_TRIES);
        }
        if !root.exists(path) {
            return Ok(());
        }
        let processes = root.text(&format!("{path}/cgroup.procs")).unwrap_or_default();
        for process in processes.split_whitespace() {
            // A process may have ended meanwhile.
            drop(put(root, &format!("{home}/cgroup.procs"), process));
        }
        result = if root.is_machine() { fs::remove_dir(root.path(path)) } else { fs::remove_dir_all(root.path(path)) };
        if result.is_ok() {
            return Ok(());
        }
    }
    result
}

fn put(root: &Root, path: &str, value: &str) -> io::Result<()> {
    fs::write(root.path(path), value)
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!("the journal of changed settings, {}, cannot be used: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in [(GOVERNOR, "schedutil\n"), (BOOT_ID, "boot-1\n")] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    fn governor(root: &tempfile::TempDir) -> String {
        fs::read_to_string(root.path().join(GOVERNOR)).unwrap().trim().to_owned()
    }

    /// The journal of a process that was killed after the changes: its lock is free and its file is there.
    fn left(root: &tempfile::TempDir, torn: &str) {
        let mut journal = Journal::open(root.path()).unwrap();
        journal.write(GOVERNOR, "performance", &[]).unwrap();
        let content = fs::read_to_string(&journal.path).unwrap() + torn;
        let path = journal.path.clone();
        journal.changes.clear();
        drop(journal);
        fs::write(path, content).unwrap();
        assert_eq!(governor(root), "performance");
    }

    #[test]
    fn a_dropped_journal_has_restored_and_is_gone() {
        let root = machine();
        let mut journal = Journal::open(root.path()).unwrap();
        journal.write(GOVERNOR, "performance", &[]).unwrap();
        assert_eq!(governor(&root), "performance");
        let busy = Journal::open(root.path()).unwrap_err();
        assert!(busy.contains("another perf_test changes the settings"), "{busy}");
        assert!(restore_left(root.path()).is_empty(), "the owner lives");
        assert_eq!(governor(&root), "performance");
        drop(journal);
        assert_eq!(governor(&root), "schedutil");
        assert!(!path(root.path()).exists());
    }

    #[test]
    fn a_setting_that_the_kernel_changes_along_is_restored_too() {
        let root = machine();
        let preference = "sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference";
        fs::write(root.path().join(preference), "balance_power\n").unwrap();
        let mut journal = Journal::open(root.path()).unwrap();
        journal.write(GOVERNOR, "performance", &[preference.to_owned()]).unwrap();
        fs::write(root.path().join(preference), "performance\n").unwrap();
        drop(journal);
        assert_eq!(fs::read_to_string(root.path().join(preference)).unwrap().trim(), "balance_power");
    }

    #[test]
    fn changes_that_are_undone_leave_the_journal() {
        let root = machine();
        let mut journal = Journal::open(root.path()).unwrap();
        for _ in 0..2 {
            journal.write(GOVERNOR, "performance", &[]).unwrap();
            assert_eq!(parsed(&fs::read_to_string(&journal.path).unwrap()).1.len(), 1);
            journal.restore().unwrap();
            assert!(parsed(&fs::read_to_string(&journal.path).unwrap()).1.is_empty());
        }
        assert_eq!(governor(&root), "schedutil");
    }

    #[test]
    fn a_journal_that_was_left_restores_once_and_says_so() {
        let root = machine();
        left(&root, "{\"file\":{\"path\":\"sys/torn");
        let said = restore_left(root.path());
        assert!(
            said.len() == 1
                && said[0].contains(
                    "was killed; restored: /sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil"
                ),
            "{said:?}"
        );
        assert_eq!(governor(&root), "schedutil");
        assert!(restore_left(root.path()).is_empty());
    }

    #[test]
    fn settings_of_others_and_of_other_boots_are_left_alone() {
        let root = machine();
        left(&root, "");
        fs::write(root.path().join(GOVERNOR), "powersave\n").unwrap();
        let _ = restore_left(root.path());
        assert_eq!(governor(&root), "powersave");
        fs::write(root.path().join(GOVERNOR), "schedutil\n").unwrap();
        left(&root, "");
        fs::write(root.path().join(BOOT_ID), "boot-2\n").unwrap();
        assert!(restore_left(root.path()).is_empty());
        assert_eq!(governor(&root), "performance");
    }

    #[test]
    fn only_settings_of_the_kernel_are_ever_written() {
        let root = machine();
        let outside = "{\"file\":{\"path\":\"etc/passwd\",\"before\":\"x\",\"after\":null}}\n";
        let climbing = "{\"file\":{\"path\":\"sys/../etc/passwd\",\"before\":\"x\",\"after\":null}}\n";
        left(&root, &format!("{outside}{climbing}"));
        assert_eq!(restore_left(root.path()).len(), 1);
        assert!(!root.path().join("etc").exists());
    }

    #[test]
    fn a_setting_that_cannot_be_restored_stays_with_its_command() {
        let root = machine();
        left(&root, "");
        fs::remove_file(root.path().join(GOVERNOR)).unwrap();
        fs::create_dir(root.path().join(GOVERNOR)).unwrap();
        let said = restore_left(root.path()).join("\n");
        assert!(said.contains("echo schedutil | sudo tee /sys/devices/system/cpu/cpufreq/policy0"), "{said}");
        let refused = Journal::open(root.path()).unwrap_err();
        assert!(refused.contains("not restored yet"), "{refused}");
    }
}
