//! The directory that holds everything this run shares, and its removal.
//!
//! Made by the benchmark's own process, which removes it when it ends, also upon an error; if it was killed, the other process
//! does when its input ends.

use crate::Result;
use std::path::{Path, PathBuf};

/// Where memory-backed files live on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// This run's directory; removed when dropped.
pub struct Root(PathBuf);

impl Root {
    /// Makes one with a name of its own.
    pub fn create() -> Result<Root> {
        let directory = tempfile::Builder::new()
            .prefix("gantry-hop-")
            .tempdir_in(SHARED_MEMORY)
            .map_err(|why| format!("cannot make a directory in {SHARED_MEMORY}: {why}"))?;
        Ok(Root(directory.keep()))
    }

    /// The one that another process made.
    pub fn at(path: &str) -> Root {
        Root(path.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The prefix of names of shared memory that cannot live in a directory.
    pub fn prefix(&self) -> String {
        format!("{}-", self.0.file_name().unwrap_or_default().to_string_lossy())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Both processes come here, in any order; the files may be gone.
        let _ = std::fs::remove_dir_all(&self.0);
        let prefix = self.prefix();
        for file in std::fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten() {
            if file.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }
}
