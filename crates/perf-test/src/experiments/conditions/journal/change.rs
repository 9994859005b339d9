//! A change of a setting of the kernel, and the way to undo it.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use super::BETWEEN_TRIES;
use crate::system::root::Root;

/// The number of attempts to remove a control group. Several are needed, because the kernel removes an ended process
/// from its group with a delay.
const TRIES_TO_REMOVE_A_GROUP: u32 = 200;

/// A change of a setting, with all data that is needed to undo it. Paths are relative to the root of the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The content of a file was changed.
    File {
        /// The path of the file.
        path: String,
        /// The content before the change.
        before: String,
        /// The content after the change; `None` if the kernel changes this file itself when another setting changes.
        after: Option<String>,
    },
    /// A controller was enabled for the children of a control group.
    Controller {
        /// The path of the file `cgroup.subtree_control`.
        path: String,
        /// The name of the controller.
        name: String,
    },
    /// A control group was created. Its processes come from the control group `home` and return to it.
    Group {
        /// The path of the new control group.
        path: String,
        /// The path of the control group in which the processes were before.
        home: String,
    },
}

impl Change {
    /// Whether the path is a setting of the kernel and no other file. This is checked because a damaged journal could
    /// contain any path.
    pub(super) fn is_of_the_machine(&self) -> bool {
        let (Change::File { path, .. } | Change::Controller { path, .. } | Change::Group { path, .. }) = self;
        path.starts_with("sys/") && !path.split('/').any(|part| part == "..")
    }
}

/// The outcome of an attempt to undo changes.
#[derive(Debug, Default)]
pub(super) struct Undone {
    /// The current state of each restored setting, as a phrase.
    pub(super) states: Vec<String>,
    /// The changes that could not be undone, in order.
    pub(super) kept: Vec<Change>,
    /// A sentence for each change that could not be undone.
    pub(super) sentences: Vec<String>,
}

/// Undoes changes, the newest first.
pub(super) fn undo(root: &Root, changes: Vec<Change>) -> Undone {
    let mut undone = Undone::default();
    for change in changes.into_iter().rev() {
        match undo_one(root, &change) {
            Ok(state) => undone.states.push(state),
            Err(sentence) => {
                undone.sentences.push(sentence);
                undone.kept.push(change);
            }
        }
    }
    undone.states.reverse();
    undone.kept.reverse();
    undone
}

/// Undoes a change. Returns a phrase for the state of the setting afterwards.
fn undo_one(root: &Root, change: &Change) -> Result<String, String> {
    match change {
        Change::File { path, before, after } => {
            let now = root.line(path);
            if now.is_none() && !root.exists(path) {
                return Ok(format!("/{path} has gone")); // its CPU or driver was removed
            }
            if let Some((now, after)) = now.as_ref().zip(after.as_ref())
                && now != after
                && now != before
            {
                return Ok(format!("/{path} {now}, as another program has set it since"));
            }
            if now.as_ref() != Some(before) {
                let refused =
                    |error| format!("/{path} ({error}): echo {before} | sudo tee /{path}, or run this as root");
                put(root, path, before).map_err(refused)?;
            }
            Ok(format!("/{path} {before}"))
        }
        Change::Controller { path, name } => {
            let is_enabled = root.line(path).is_some_and(|text| text.split_whitespace().any(|one| one == name));
            if is_enabled {
                if let Some(group) = user_of(root, path, name) {
                    return Ok(format!("/{path} still with {name}, because the control group /{group} uses it"));
                }
                let refused = |error| format!("/{path} ({error}): echo -{name} | sudo tee /{path}");
                put(root, path, &format!("-{name}")).map_err(refused)?;
            }
            Ok(format!("/{path} without {name}"))
        }
        Change::Group { path, home } => {
            let refused = |error| {
                format!(
                    "the control group /{path} ({error}): move its processes to /{home}/cgroup.procs, and sudo rmdir /{path}"
                )
            };
            leave_group(root, path, home).map_err(refused)?;
            Ok(format!("no control group /{path}"))
        }
    }
}

/// A child of the control group that uses the controller, because it has settings of the controller or enables it for
/// its own children. The controller must then stay enabled, since disabling it would lose these settings.
fn user_of(root: &Root, subtree_control: &str, controller: &str) -> Option<String> {
    let parent = subtree_control.rsplit_once('/')?.0;
    // These files are empty if they have never been written.
    let settings = [format!("{controller}.cpus"), format!("{controller}.mems")];
    root.names(parent, "").into_iter().map(|name| format!("{parent}/{name}")).find(|group| {
        let is_set = |file: &String| root.line(&format!("{group}/{file}")).is_some_and(|text| !text.is_empty());
        let enabled = root.line(&format!("{group}/cgroup.subtree_control")).unwrap_or_default();
        settings.iter().any(is_set) || enabled.split_whitespace().any(|one| one == controller)
    })
}

/// Moves all processes of a control group to the group `home`, then removes the empty group.
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
            // The write fails if the process has ended, which is no problem.
            drop(put(root, &format!("{home}/cgroup.procs"), process));
        }
        result = if root.is_machine() { fs::remove_dir(root.path(path)) } else { fs::remove_dir_all(root.path(path)) };
        if result.is_ok() {
            return Ok(());
        }
    }
    result
}

pub(super) fn put(root: &Root, path: &str, value: &str) -> io::Result<()> {
    fs::write(root.path(path), value)
}
