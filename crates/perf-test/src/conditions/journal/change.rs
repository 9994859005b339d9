//! A change of a setting of the kernel, and the way to undo it.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use super::BETWEEN_TRIES;
use crate::system::root::Root;

/// The processes of a control group leave it when they have ended, which the kernel finishes a little later.
const TRIES_TO_REMOVE_A_GROUP: u32 = 200;

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

impl Change {
    /// The state after it is undone, in words.
    pub(super) fn undone(&self) -> String {
        match self {
            Change::File { path, before, .. } => format!("/{path} {before}"),
            Change::Controller { path, name } => format!("/{path} without {name}"),
            Change::Group { path, .. } => format!("no control group /{path}"),
        }
    }

    /// Whether it concerns a setting of the kernel and nothing else: the journal is a file, which may be damaged.
    pub(super) fn is_of_the_machine(&self) -> bool {
        let (Change::File { path, .. } | Change::Controller { path, .. } | Change::Group { path, .. }) = self;
        path.starts_with("sys/") && !path.split('/').any(|part| part == "..")
    }
}

/// Undoes changes, the last one first. Returns those that it could not undo, in order, with a sentence for each.
pub(super) fn undo(root: &Root, changes: Vec<Change>) -> (Vec<Change>, Vec<String>) {
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
            if now.is_none() && !root.exists(path) {
                return Ok(()); // its CPU or its driver has gone, and the setting with it
            }
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

pub(super) fn put(root: &Root, path: &str, value: &str) -> io::Result<()> {
    fs::write(root.path(path), value)
}
