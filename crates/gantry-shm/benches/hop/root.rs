//! The directory of all shared files of a run. It is removed at the end.
//!
//! The first process of the benchmark creates the directory, and removes it at its end, also after an error. If the
//! first process was killed, the other process removes the directory when its input ends.

use crate::Result;
use std::path::{Path, PathBuf};

/// The directory of memory-backed files on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// The directory of this run; the directory is removed when this value is dropped.
pub struct Root(PathBuf);

impl Root {
    /// Creates a directory with a unique name.
    pub fn create() -> Result<Root> {
        let directory = tempfile::Builder::new()
            .prefix("gantry-hop-")
            .tempdir_in(SHARED_MEMORY)
            .map_err(|why| format!("cannot make a directory in {SHARED_MEMORY}: {why}"))?;
        Ok(Root(directory.keep()))
    }

    /// The directory that another process created.
    pub fn at(path: &str) -> Root {
        Root(path.into())
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of the file with this name in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The prefix of shared memory that a library creates outside the directory.
    pub fn prefix(&self) -> String {
        format!("{}-", self.0.file_name().unwrap_or_default().to_string_lossy())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // The other process may already have removed the directory.
        let _ = std::fs::remove_dir_all(&self.0);
        let prefix = self.prefix();
        for file in std::fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten() {
            if file.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}
