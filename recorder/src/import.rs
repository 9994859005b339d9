//! The import of rosbag2's SQLite files. Their messages are copied into a temporary MCAP bag beside the new bag; it is
//! removed after the conversion.
//!
//! `rosbag2_storage_sqlite3` defines the tables. Older versions lack some columns and the table of definitions.

use crate::{
    describe::{HASH_KEY, QOS_KEY, SCHEMA_ENCODING, files_of},
    topics::{Topic, Topics, lock},
    write::{BagWriter, Body, Chunk, Compression, FileLimits, Route},
};
use gantry_command::{Context, Failure, Result, say};
use mcap::{Channel, Schema, records::MessageHeader};
use rusqlite::{Connection, OpenFlags};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The number of bytes at which a chunk is written to the file.
const CHUNK_BYTES: u64 = 4 << 20;

/// A temporary bag for a conversion. Its folder is removed when this value is dropped.
#[derive(Debug)]
pub struct Imported(PathBuf);

impl Imported {
    /// The folder of the bag.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // if this fails, the temporary copy stays on the disk
    }
}

/// The SQLite file at the path, or the SQLite files in the folder at the path. The result is empty for a bag of MCAP
/// files.
///
/// # Errors
/// A folder has files of both kinds, and no `metadata.yaml` that states which of them belong to the bag.
pub fn sqlite_files(path: &Path) -> Result<Vec<PathBuf>> {
    let has_extension = |path: &PathBuf, wanted: &str| path.extension().is_some_and(|extension| extension == wanted);
    let of_metadata = if path.is_dir() { files_of(path)? } else { None };
    let is_described = of_metadata.is_some();
    let mut files = match (of_metadata, fs::read_dir(path)) {
        (Some(files), _) => files,
        (None, Ok(entries)) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        (None, Err(_)) => vec![path.to_owned()],
    };
    let has_mcap = files.iter().any(|path| has_extension(path, "mcap"));
    files.retain(|path| has_extension(path, "db3"));
    if has_mcap && !files.is_empty() {
        let folder = path.display();
        return Err(format!("{folder} has files of SQLite and of MCAP: name the files of one kind instead").into());
    }
    if !is_described {
        // Shorter names come first, so that bag_10 comes after bag_9.
        files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    }
    Ok(files)
}

/// Copies the messages of these files into a new bag in the folder `folder`.
///
/// # Errors
/// A file was not written by rosbag2, or the bag cannot be written.
pub fn import(files: &[PathBuf], folder: PathBuf) -> Result<Imported> {
    let topics = Arc::new(Topics::default());
    let mut bag = BagWriter::create(&folder, FileLimits::default(), topics.clone())?;
    let imported = Imported(folder);
    let mut channels = Channels { topics, definitions: HashMap::new(), all: BTreeMap::new(), numbers: HashMap::new() };
    // All definitions are read first, because a later file may have the definition for a channel of the first file.
    for path in files {
        let found = open(path).and_then(|file| definitions(&file)).context(|| unreadable(path))?;
        channels.definitions.extend(found);
    }
    for path in files {
        let copied = open(path).and_then(|file| channels.copy(&file, &mut bag));
        copied.context(|| unreadable(path))?;
    }
    bag.finish()?;
    Ok(imported)
}

fn unreadable(path: &Path) -> String {
    format!("{} cannot be read as a file of rosbag2", path.display())
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(Failure::new)
}

/// The channels of the new bag.
struct Channels {
    topics: Arc<Topics>,
    /// The definitions in all files, by type name.
    definitions: HashMap<String, String>,
    /// The channels by topic and type.
    all: BTreeMap<(String, String), Arc<Channel<'static>>>,
    /// The sequence number of the next message of each channel.
    numbers: HashMap<u16, u32>,
}

impl Channels {
    /// Adds the channels of a SQLite file. Returns them by the ids of the file's topics.
    fn channels_of(&mut self, file: &Connection) -> Result<HashMap<i64, Arc<Channel<'static>>>> {
        let has_qos = has_column(file, "topics", "offered_qos_profiles")?;
        let has_hash = has_column(file, "topics", "type_description_hash")?;
        let optional = |has: bool, name: &'static str| if has { name } else { "''" };
        let (qos, hash) = (optional(has_qos, "offered_qos_profiles"), optional(has_hash, "type_description_hash"));
        let query = format!("SELECT id, name, type, serialization_format, {qos}, {hash} FROM topics");
        let mut query = file.prepare(&query).map_err(Failure::new)?;
        let mut rows = query.query([]).map_err(Failure::new)?;
        let mut by_id = HashMap::new();
        while let Some(row) = rows.next().map_err(Failure::new)? {
            let text = |index| row.get::<_, Option<String>>(index).map(Option::unwrap_or_default).map_err(Failure::new);
            let (name, of_type, encoding) = (text(1)?, text(2)?, text(3)?);
            let metadata = [(QOS_KEY, text(4)?), (HASH_KEY, text(5)?)];
            let metadata = metadata.into_iter().filter(|(_, text)| !text.is_empty());
            let metadata = metadata.map(|(key, text)| (key.to_owned(), text)).collect();
            let channel = self.channel(name, of_type, encoding, metadata)?;
            by_id.insert(row.get(0).map_err(Failure::new)?, channel);
        }
        Ok(by_id)
    }

    fn channel(
        &mut self,
        topic: String,
        of_type: String,
        message_encoding: String,
        metadata: BTreeMap<String, String>,
    ) -> Result<Arc<Channel<'static>>> {
        let key = (topic.clone(), of_type.clone());
        if let Some(known) = self.all.get(&key) {
            return Ok(known.clone());
        }
        let id = u16::try_from(self.all.len() + 1).map_err(|_| "a file has at most 65,535 channels".to_owned())?;
        let definition = self.definitions.get(&of_type).cloned().unwrap_or_default();
        if definition.is_empty() {
            say(format_args!("{topic}: no file has a definition of {of_type}, so the new bag has none either"));
        }
        let data = Cow::Owned(definition.into_bytes());
        let schema = Schema { id, name: of_type.clone(), encoding: SCHEMA_ENCODING.to_owned(), data };
        let channel = Channel { id, topic, schema: Some(Arc::new(schema)), message_encoding, metadata };
        let entry = Topic { name: channel.topic.clone(), type_name: of_type, ..Topic::default() };
        *lock(&entry.offered) = crate::describe::qos_profiles(&channel);
        self.topics.add(id, Arc::new(entry));
        let channel = Arc::new(channel);
        self.all.insert(key, channel.clone());
        Ok(channel)
    }

    /// Copies the messages of a file in the order of their times. A message of an unknown topic is an error, because it
    /// means that the file is damaged.
    fn copy(&mut self, file: &Connection, bag: &mut BagWriter) -> Result<()> {
        let channels = self.channels_of(file)?;
        let query = "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id";
        let mut query = file.prepare(query).map_err(Failure::new)?;
        let mut rows = query.query([]).map_err(Failure::new)?;
        let mut chunk = Chunk::default();
        while let Some(row) = rows.next().map_err(Failure::new)? {
            let topic_id: i64 = row.get(0).map_err(Failure::new)?;
            let time_ns = u64::try_from(row.get::<_, i64>(1).map_err(Failure::new)?).map_err(Failure::new)?;
            let data = row.get_ref(2).map_err(Failure::new)?.as_blob().map_err(Failure::new)?;
            let channel = channels
                .get(&topic_id)
                .ok_or_else(|| format!("a message has the topic {topic_id}, which the file does not describe"))?;
            let number = self.numbers.entry(channel.id).or_default();
            let header = MessageHeader { channel_id: 0, sequence: *number, log_time: time_ns, publish_time: time_ns };
            *number = number.wrapping_add(1);
            chunk.push(channel, header, Body::Copied(&[], data));
            if chunk.bytes() >= CHUNK_BYTES {
                write(bag, std::mem::take(&mut chunk))?;
            }
        }
        if chunk.messages() > 0 {
            write(bag, chunk)?;
        }
        Ok(())
    }
}

/// Reads the definitions of types, as `.msg` texts.
fn definitions(file: &Connection) -> Result<HashMap<String, String>> {
    if !has_column(file, "message_definitions", "encoded_message_definition")? {
        return Ok(HashMap::new());
    }
    let query = "SELECT topic_type, encoded_message_definition FROM message_definitions WHERE encoding = 'ros2msg'";
    let mut query = file.prepare(query).map_err(Failure::new)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(Failure::new)?;
    rows.collect::<std::result::Result<_, _>>().map_err(Failure::new)
}

fn has_column(file: &Connection, table: &str, column: &str) -> Result<bool> {
    let query = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    let count: i64 = file.query_row(query, [table, column], |row| row.get(0)).map_err(Failure::new)?;
    Ok(count > 0)
}

fn write(bag: &mut BagWriter, chunk: Chunk) -> Result<()> {
    let packed = Compression::None.pack(chunk).context(|| "a chunk cannot be made".to_owned())?;
    bag.write(&packed, Route::PageCache).map(drop)
}
