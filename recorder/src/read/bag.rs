//! A bag for reading: a folder with its files, or a single file.

use super::bag_file::BagFile;
use crate::describe::files_of;
use gantry_command::{Context, Failure, Result};
use mcap::Channel;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files of a bag, in their order.
#[derive(Debug)]
pub struct Bag {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The files.
    pub files: Vec<BagFile>,
}

impl Bag {
    /// Opens the folder of a bag, or an MCAP file.
    ///
    /// # Errors
    /// There is no bag at the path, or one of its files cannot be read.
    pub fn open(path: &Path) -> Result<Bag> {
        let paths = match path.is_dir() {
            true => files_in(path)?,
            false => vec![path.to_owned()],
        };
        if paths.is_empty() {
            return Err(Failure::new(format!("{} has no files of MCAP", path.display())));
        }
        let files = paths.iter().map(|path| BagFile::open(path)).collect::<Result<_>>()?;
        Ok(Bag { path: path.to_owned(), files })
    }

    /// The channels of all files, by topic and type.
    #[must_use]
    pub fn channels(&self) -> BTreeMap<(String, String), Arc<Channel<'static>>> {
        let channels = self.files.iter().flat_map(|file| file.summary.channels.values());
        let named = channels.map(|channel| ((channel.topic.clone(), type_name(channel).to_owned()), channel.clone()));
        named.collect()
    }

    /// The times of the first and the last message, in nanoseconds since 1970. The result is `None` if there are no
    /// messages.
    #[must_use]
    pub fn times(&self) -> Option<(u64, u64)> {
        let statistics = self.files.iter().map(BagFile::statistics).filter(|file| file.message_count > 0);
        let times = statistics.map(|file| (file.message_start_time, file.message_end_time));
        times.reduce(|all, file| (all.0.min(file.0), all.1.max(file.1)))
    }
}

/// The name of the type of a channel's messages.
#[must_use]
pub fn type_name<'a>(channel: &'a Channel<'_>) -> &'a str {
    channel.schema.as_ref().map_or("", |schema| &schema.name)
}

/// The files of a bag: first the existing files that `metadata.yaml` lists, then the other files in the folder.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files_of(folder)?.unwrap_or_default();
    files.retain(|path| path.exists());
    let entries = fs::read_dir(folder).context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut others: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    others.retain(|path| path.extension().is_some_and(|extension| extension == "mcap") && !files.contains(path));
    // Shorter names come first, so that bag_10 comes after bag_9.
    others.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files.extend(others);
    // SQLite files are left out here, because a bag of SQLite files is imported before it is opened.
    files.retain(|path| path.extension().is_none_or(|extension| extension != "db3"));
    Ok(files)
}
