//! The writer of a bag: a folder with files that are written one after the other, and rosbag2's `metadata.yaml`.

use super::{
    Packed,
    file_writer::{FileWriter, Route},
};
use crate::{
    describe::{BagMetadata, FileMetadata},
    topics::Topics,
};
use gantry_command::{Context, Failure, Result, say};
use mcap::records::Metadata;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering::Relaxed},
};

/// The name of the metadata records that state the number of missing messages by topic, counted from the start of the
/// file. The last such record in a file is valid.
pub const DROPS: &str = "gantry_drops";

/// The limits of a file. When one of them is reached, the next file begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLimits {
    /// The largest length of a file in bytes. A file with a single chunk may be longer.
    pub max_bytes: Option<u64>,
    /// The longest time between the first and the last message of a file, in nanoseconds.
    pub max_duration_ns: Option<u64>,
}

/// The result of a write.
#[derive(Debug, Default)]
pub struct Written {
    /// The file that the write completed, if there is one. The caller has to sync its data to the disk.
    pub finished: Option<File>,
}

/// A bag that is being written.
#[derive(Debug)]
pub struct BagWriter {
    folder: PathBuf,
    limits: FileLimits,
    topics: Arc<Topics>,
    file: Option<FileWriter>,
    files: Vec<FileMetadata>,
    /// `drops_before` has the numbers of missing messages at the start of the current file, by topic. `drops_said` has
    /// the numbers in the last record about them in this file.
    drops_before: BTreeMap<String, u64>,
    drops_said: BTreeMap<String, u64>,
    metadata_said: String,
    /// The size of the messages in the current file, by channel.
    bytes: BTreeMap<u16, u64>,
}

impl BagWriter {
    /// Creates the folder and its `metadata.yaml`.
    ///
    /// # Errors
    /// The folder exists, or cannot be created.
    pub fn create(folder: &Path, limits: FileLimits, topics: Arc<Topics>) -> Result<BagWriter> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let folder = folder.display();
                return Err(Failure::new(format!("{folder} exists already; give another folder with --output")));
            }
            made => made.context(|| format!("cannot make the folder {}", folder.display()))?,
        }
        let mut bag = BagWriter {
            folder: folder.to_owned(),
            limits,
            topics,
            file: None,
            files: Vec::new(),
            drops_before: BTreeMap::new(),
            drops_said: BTreeMap::new(),
            metadata_said: String::new(),
            bytes: BTreeMap::new(),
        };
        if let Some(metadata) = bag.update() {
            metadata.write()?;
            bag.note_metadata(metadata.metadata.to_yaml());
        }
        Ok(bag)
    }

    /// Appends a chunk to the current file, or to a new one.
    ///
    /// # Errors
    /// An error of the operating system. The chunk is not in the bag then, and its messages are counted as unwritten.
    pub fn write(&mut self, packed: &Packed, route: Route) -> Result<Written> {
        let mut written = Written::default();
        let result = self.try_write(packed, route, &mut written);
        for of_channel in packed.chunk().channels() {
            let Some(topic) = self.topics.get(of_channel.channel.id) else { continue };
            let (messages, bytes) = (of_channel.entries.len() as u64, of_channel.bytes);
            match result.is_ok() {
                true => {
                    topic.messages.fetch_add(messages, Relaxed);
                    topic.bytes.fetch_add(bytes, Relaxed);
                    *self.bytes.entry(of_channel.channel.id).or_default() += bytes;
                }
                false => _ = topic.unwritten.fetch_add(messages, Relaxed),
            }
        }
        result.map(|()| written)
    }

    /// Counts messages whose chunk could not be made, for example because the compression failed.
    pub fn count_unwritten(&self, counts: &[(u16, u64)]) {
        for (channel, count) in counts {
            self.topics.get(*channel).inspect(|topic| _ = topic.unwritten.fetch_add(*count, Relaxed));
        }
    }

    fn try_write(&mut self, packed: &Packed, route: Route, written: &mut Written) -> Result<()> {
        if self.is_full(packed) {
            written.finished = self.end_file()?;
        }
        if self.file.is_none() {
            self.begin_file()?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let what = format!("cannot write {}", file.path().display());
        file.write_chunk(packed, route).context(|| what)
    }

    /// Whether the current file is full, so that the chunk must begin the next file.
    fn is_full(&self, packed: &Packed) -> bool {
        let Some(file) = self.file.as_ref().filter(|file| file.statistics().message_count > 0) else { return false };
        let Some((_, last)) = packed.chunk().times() else { return false };
        let duration = last.saturating_sub(file.statistics().message_start_time);
        self.limits.max_bytes.is_some_and(|most| file.bytes() + packed.bytes() > most)
            || self.limits.max_duration_ns.is_some_and(|most| duration >= most)
    }

    fn begin_file(&mut self) -> Result<()> {
        // The folder may have been removed.
        fs::create_dir_all(&self.folder).context(|| format!("cannot make the folder {}", self.folder.display()))?;
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = format!("{name}_{}.mcap", self.files.len());
        let path = self.folder.join(&name);
        self.file = Some(FileWriter::create(&path).context(|| format!("cannot make {}", path.display()))?);
        self.bytes.clear();
        self.files.push(FileMetadata { name, ..FileMetadata::default() });
        Ok(())
    }

    /// Completes the current file. The next chunk will begin a new file.
    ///
    /// # Errors
    /// An error of the operating system. The file then has its messages, but no summary.
    pub fn end_file(&mut self) -> Result<Option<File>> {
        if self.file.is_none() {
            return Ok(None);
        }
        self.say_drops(FileWriter::write_last_metadata);
        self.update_files();
        let serialized = BTreeMap::from([("serialized_metadata".to_owned(), self.metadata().to_yaml())]);
        let Some(mut file) = self.file.take() else { return Ok(None) };
        let path = file.path().to_owned();
        let what = || format!("cannot complete {}, whose messages can be read nevertheless", path.display());
        let metadata = Metadata { name: "rosbag2".to_owned(), metadata: serialized };
        if let Err(error) = file.write_last_metadata(&metadata) {
            say(format_args!("{} has no record for rosbag2: {error}", path.display()));
        }
        self.drops_before = self.topics.dropped();
        self.drops_said.clear();
        Ok(Some(file.finish().context(what)?))
    }

    /// Whether the current file still exists under its name. If it was removed, its messages count as missing, and the
    /// next chunk begins a new file.
    pub fn has_file(&mut self) -> bool {
        let is_linked = self.file.as_ref().is_none_or(|file| file.is_linked().unwrap_or(true));
        if is_linked {
            return true;
        }
        let removed = self.file.take();
        let counts = removed.iter().flat_map(|file| &file.statistics().channel_message_counts);
        for (channel, count) in counts {
            let Some(topic) = self.topics.get(*channel) else { continue };
            topic.messages.fetch_sub(*count, Relaxed);
            topic.unwritten.fetch_add(*count, Relaxed);
            topic.bytes.fetch_sub(self.bytes.remove(channel).unwrap_or_default(), Relaxed);
        }
        self.files.last_mut().into_iter().for_each(|file| file.messages = 0);
        self.drops_said.clear(); // the next file will state them
        false
    }

    /// Writes the numbers of missing messages into the file, if they have changed. Returns the new content of
    /// `metadata.yaml`, if it has changed. Writing it may wait for the disk, so the caller passes it to another thread.
    pub fn update(&mut self) -> Option<FolderMetadata> {
        self.say_drops(FileWriter::write_metadata);
        self.update_files();
        let metadata = FolderMetadata { folder: self.folder.clone(), metadata: self.metadata() };
        (metadata.metadata.to_yaml() != self.metadata_said).then_some(metadata)
    }

    /// Notes that `metadata.yaml` has this text, or will have it soon.
    pub fn note_metadata(&mut self, text: String) {
        self.metadata_said = text;
    }

    /// The current file.
    #[must_use]
    pub fn file(&self) -> Option<&FileWriter> {
        self.file.as_ref()
    }

    /// Completes the bag, and syncs its last file to the disk.
    ///
    /// # Errors
    /// The errors of [`BagWriter::end_file`]; or `metadata.yaml` cannot be written, or the last file cannot be synced.
    pub fn finish(mut self) -> Result<()> {
        let finished = self.end_file();
        self.metadata_said.clear(); // forces a write, because a thread may have failed to write this text
        let updated = self.update().map_or(Ok(()), |metadata| metadata.write()); // uses the released disk space
        if let Some(file) = finished? {
            file.sync_data().context(|| "the last file cannot be stored".to_owned())?;
        }
        updated
    }

    fn say_drops(&mut self, write: fn(&mut FileWriter, &Metadata) -> io::Result<()>) {
        let Some(file) = &mut self.file else { return };
        let before = &self.drops_before;
        let since = |(topic, count): (String, u64)| {
            let count = count - before.get(&topic).copied().unwrap_or_default();
            (count > 0).then_some((topic, count))
        };
        let drops: BTreeMap<String, u64> = self.topics.dropped().into_iter().filter_map(since).collect();
        if drops != self.drops_said {
            let metadata = drops.iter().map(|(topic, count)| (topic.clone(), count.to_string())).collect();
            // The next update tries again if the disk is full. `metadata.yaml` also has these numbers.
            if write(file, &Metadata { name: DROPS.to_owned(), metadata }).is_ok() {
                self.drops_said = drops;
            }
        }
    }

    fn update_files(&mut self) {
        if let (Some(file), Some(metadata)) = (&self.file, self.files.last_mut()) {
            let statistics = file.statistics();
            metadata.start_ns = statistics.message_start_time;
            metadata.end_ns = statistics.message_end_time;
            metadata.messages = statistics.message_count;
        }
    }

    fn metadata(&self) -> BagMetadata {
        let dropped = self.topics.dropped().into_iter();
        let custom = dropped.map(|(topic, count)| (format!("{DROPS} {topic}"), count.to_string())).collect();
        BagMetadata { topics: self.topics.metadata(), files: self.files.clone(), custom }
    }
}

/// The new content of the `metadata.yaml` of a folder.
#[derive(Debug)]
pub struct FolderMetadata {
    folder: PathBuf,
    /// The description.
    pub metadata: BagMetadata,
}

impl FolderMetadata {
    /// Writes `metadata.yaml`. If the folder was removed, nothing is written; the next file creates the folder again.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn write(&self) -> Result<()> {
        match self.metadata.write(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.context(|| format!("cannot write into {}", self.folder.display())),
        }
    }
}
