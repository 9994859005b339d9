//! The storing thread, which waits until data is on the disk, so that the writing thread does not.

use crate::write::FolderMetadata;
use gantry_command::{Context, Result, say, spawn};
use rustix::fs::{Advice, fadvise};
use std::{fs::File, io, sync::mpsc, thread::JoinHandle};

/// A job of the storing thread, which waits until the data is on the disk.
pub enum Stored {
    /// A file whose data is synced.
    File(File),
    /// The new content of `metadata.yaml`.
    Metadata(FolderMetadata),
}

/// Starts the thread. It ends when the sender is dropped.
///
/// # Errors
/// The thread cannot be started.
pub fn start() -> Result<(mpsc::SyncSender<Stored>, JoinHandle<()>)> {
    let (sender, stored) = mpsc::sync_channel::<Stored>(2);
    let thread = spawn("bag-storing", move || {
        let mut failure = None; // so that a full disk is reported only once
        for stored in stored {
            let result = match stored {
                Stored::File(file) => store(&file).context(|| "the disk does not store a file".to_owned()),
                Stored::Metadata(metadata) => metadata.write(),
            };
            let sentence = result.err().map(|error| error.to_string());
            if let Some(sentence) = sentence.as_ref().filter(|_| sentence != failure) {
                say(sentence);
            }
            failure = sentence.or(failure);
        }
    })?;
    Ok((sender, thread))
}

/// Syncs the data of a file to the disk, and frees its pages in the page cache. Otherwise a long recording through the
/// page cache would displace the pages of other programs. Direct writes need the sync, too, for the disk's own cache
/// and for the length of the file.
fn store(file: &File) -> io::Result<()> {
    file.sync_data()?;
    let _ = fadvise(file, 0, None, Advice::DontNeed); // an error of this hint has no effect
    Ok(())
}
