//! The journal of changed settings. Every change of the machine is written to disk before it is made, so that it can be
//! undone even if the process is killed.
//!
//! Invariants:
//! - A line is written and synchronised before its change is made. An incomplete last line belongs to a change that was
//!   not made.
//! - The process that holds the lock of the file owns the changes. The kernel releases the lock when the process ends
//!   in any way. So a journal without a lock was left by a killed process, and the next start of the program restores
//!   the settings from it.
//! - Changes are undone in the reverse order. If another program has changed a setting meanwhile, that setting is left
//!   alone.
//! - A damaged line is kept and reported until the user removes the file, because its change is unknown.
//! - A reboot resets all settings, so a journal of an earlier boot is removed.

mod change;
mod file;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use change::Change;
use change::{Undone, put, undo};
use file::{Content, Head, append, boot_id, locked, others_journals, parsed, path};

use crate::system::root::Root;

/// The number of attempts to lock the journal. A starting program locks the journal only briefly, to look for changes
/// to undo; a running experiment keeps the lock until it ends.
const TRIES_TO_LOCK: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// An open journal, locked by this process.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    root: Root,
    /// The length of the first line, in bytes.
    head_bytes: u64,
    changes: Vec<Change>,
}

impl Journal {
    /// Opens and locks the journal of this user. The opened journal has no changes.
    ///
    /// # Errors
    /// The reason, as a sentence: another process is changing settings, settings of an earlier process could not be
    /// restored, or the file cannot be written.
    pub fn open(root: &Path) -> Result<Journal, String> {
        let path = path(root);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::create_dir_all(folder).map_err(|error| refused(&path, &error))?;
        }
        let mut found = locked(&path, true);
        for _ in 0..TRIES_TO_LOCK {
            // The lock may be held by another starting program, which releases it soon.
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
        if !parsed(&content).is_empty() {
            return Err(format!(
                "settings of an earlier run are not restored yet ({}): restore them first, as the sentence above says",
                path.display()
            ));
        }
        let root = Root::new(root);
        let head = Head::now(&root, false);
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| append(&mut file, &head));
        written.map_err(|error| refused(&path, &error))?;
        let head_bytes = file.stream_position().map_err(|error| refused(&path, &error))?;
        Ok(Journal { file, path, root, head_bytes, changes: Vec::new() })
    }

    /// Writes `value` into a file of the kernel, then checks that the file has this value. `affected` are files that
    /// the kernel changes together with this one.
    ///
    /// # Errors
    /// The reason, as a sentence: the file cannot be read or written, or the kernel does not accept the value.
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
    /// See [`Journal::write`].
    pub fn enable_controller(&mut self, path: &str, name: &str) -> Result<(), String> {
        if self.root.line(path).is_some_and(|enabled| enabled.split_whitespace().any(|one| one == name)) {
            return Ok(());
        }
        self.note(Change::Controller { path: path.to_owned(), name: name.to_owned() })?;
        self.put(path, &format!("+{name}"))
    }

    /// Creates a control group, writes its `files` (names and values) in order, and moves this process from the group
    /// `home` into it.
    ///
    /// # Errors
    /// See [`Journal::write`].
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
    /// A sentence about each setting that could not be restored, with the command that restores it. The journal keeps
    /// these changes.
    pub fn restore(&mut self) -> Result<(), String> {
        let Undone { kept, sentences, .. } = undo(&self.root, std::mem::take(&mut self.changes));
        self.changes = kept;
        if !sentences.is_empty() {
            return Err(sentences.join("; "));
        }
        // Lines of undone changes are removed. Otherwise the next start would undo them again, perhaps after another
        // program has set the same value on purpose.
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
            Err(sentence) => {
                let head = Head::now(&self.root, true);
                // Only the changes that could not be undone stay in the journal, so that the next start does not undo
                // the others again.
                let _ = rewrite(&mut self.file, &head, &self.changes, &[]);
                // The write fails only if the console is closed.
                let _ = writeln!(io::stderr().lock(), "perf_test: not restored: {sentence}");
            }
        }
    }
}

/// Restores the settings that an earlier process left changed. Returns sentences for the user; none if no setting was
/// left changed.
#[must_use]
pub fn restore_left(root: &Path) -> Vec<String> {
    let mut said = restore_own(root);
    said.extend(others_journals(root).iter().filter_map(|(uid, path)| left_by_another(*uid, path, &Root::new(root))));
    said
}

fn restore_own(root: &Path) -> Vec<String> {
    let path = path(root);
    let (mut file, content) = match locked(&path, false) {
        Ok(Some(found)) => found,
        // The process that holds the lock is alive and will restore the settings itself.
        Ok(None) => return Vec::new(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![refused(&path, &error)],
    };
    let root = Root::new(root);
    let content = parsed(&content);
    let is_empty = content.is_empty();
    let Content { head, changes, damaged } = content;
    if is_empty || head.as_ref().is_some_and(|head| head.boot_id != boot_id(&root)) {
        drop(fs::remove_file(&path));
        return Vec::new();
    }
    let damage = (!damaged.is_empty()).then(|| {
        format!(
            "{} lines of {} are damaged or of another version, so settings of this machine may still be changed: compare them, and \
             remove the file",
            damaged.len(),
            path.display()
        )
    });
    let Some(head) = head else { return damage.into_iter().collect() };
    let begin = begin(&head);
    let Undone { states, kept, sentences } = undo(&root, changes);
    let restored = (!states.is_empty()).then(|| format!("{begin}; restored: {}", states.join(", ")));
    if kept.is_empty() && damaged.is_empty() {
        drop(fs::remove_file(&path));
        return restored.into_iter().collect();
    }
    // Keeps only the changes that could not be undone, and the damaged lines.
    let lost = rewrite(&mut file, &head, &kept, &damaged).err().map(|error| refused(&path, &error));
    let not_restored = sentences.into_iter().map(|sentence| format!("not restored: {sentence}"));
    std::iter::once(restored.unwrap_or(begin)).chain(not_restored).chain(damage).chain(lost).collect()
}

/// The sentence about settings that a process of another user left changed; only that user can restore them. `None` if
/// there are none.
fn left_by_another(uid: u32, path: &Path, root: &Root) -> Option<String> {
    let content = fs::read_to_string(path).ok()?;
    let Content { head: Some(head), changes, .. } = parsed(&content) else { return None };
    let is_alive = root.is_machine() && Path::new(&format!("/proc/{}", head.pid)).exists() && !head.has_ended;
    let is_of_this_boot = head.boot_id == boot_id(root);
    if changes.is_empty() || is_alive || !is_of_this_boot {
        return None;
    }
    let user = if uid == 0 { "root".to_owned() } else { format!("user {uid}") };
    let begin = begin(&head);
    Some(format!("{begin}; it was of {user}, and a start of perf_test by that user restores them ({})", path.display()))
}

/// The first words of the sentence: which process left the journal, and how it ended.
fn begin(head: &Head) -> String {
    let how = if head.has_ended { "ended and could not restore all of them" } else { "was killed" };
    format!("process {}, which had changed settings of this machine, {how}", head.pid)
}

/// Replaces the whole content of the journal.
fn rewrite(file: &mut File, head: &Head, changes: &[Change], damaged: &[String]) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    append(file, head)?;
    changes.iter().try_for_each(|change| append(file, change))?;
    damaged.iter().try_for_each(|line| writeln!(file, "{line}"))?;
    file.sync_all()
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!("the journal of changed settings, {}, cannot be used: {error}", path.display())
}

#[cfg(test)]
mod tests;
