//! rosbag2's `metadata.yaml`, version 9, which lists the files and topics of a bag.

use super::qos::to_yaml;
use gantry::Qos;
use gantry_command::{Context, Failure, Result};
use saphyr::{LoadableYamlNode, Yaml};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The name of the file in the folder of a bag.
pub const FILE_NAME: &str = "metadata.yaml";

/// The content of a `metadata.yaml`.
#[derive(Clone, Debug, Default)]
pub struct BagMetadata {
    /// The topics, sorted by name and type.
    pub topics: Vec<TopicMetadata>,
    /// The files, in their order.
    pub files: Vec<FileMetadata>,
    /// The section `custom_data`: texts that only Gantry writes and reads.
    pub custom: BTreeMap<String, String>,
}

/// A topic of a bag.
#[derive(Clone, Debug)]
pub struct TopicMetadata {
    /// The full name.
    pub name: String,
    /// The type's name.
    pub type_name: String,
    /// The hash of the type in the form RIHS01_...; empty if it is not known.
    pub hash: String,
    /// The QoS that the topic's publishers offer.
    pub offered: Vec<Qos>,
    /// The number of messages in all files.
    pub messages: u64,
}

/// A file of a bag.
#[derive(Clone, Debug, Default)]
pub struct FileMetadata {
    /// The name in the bag's folder.
    pub name: String,
    /// The time of the first message, ns since 1970.
    pub start_ns: u64,
    /// The time of the last message, ns since 1970.
    pub end_ns: u64,
    /// The number of messages.
    pub messages: u64,
}

impl BagMetadata {
    /// The description as YAML.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let full: Vec<&FileMetadata> = self.files.iter().filter(|file| file.messages > 0).collect();
        let start = full.iter().map(|file| file.start_ns).min().unwrap_or_default();
        let end = full.iter().map(|file| file.end_ns).max().unwrap_or_default();
        let messages: u64 = self.files.iter().map(|file| file.messages).sum();
        let mut text = format!(
            "version: 9\nstorage_identifier: mcap\nduration:\n  nanoseconds: {}\nstarting_time:\n  \
             nanoseconds_since_epoch: {start}\nmessage_count: {messages}\n",
            end - start
        );
        write_list(&mut text, "topics_with_message_count", &self.topics, |text, topic| {
            let _ = write!(
                text,
                "  - topic_metadata:\n      name: {}\n      type: {}\n      serialization_format: cdr\n      \
                 offered_qos_profiles:{}\n{}      type_description_hash: {}\n    message_count: {}\n",
                quoted(&topic.name),
                quoted(&topic.type_name),
                if topic.offered.is_empty() { " []" } else { "" },
                to_yaml(&topic.offered, "        "),
                quoted(&topic.hash),
                topic.messages
            );
        });
        text.push_str("compression_format: \"\"\ncompression_mode: \"\"\n");
        write_list(&mut text, "relative_file_paths", &self.files, |text, file| {
            let _ = writeln!(text, "  - {}", quoted(&file.name));
        });
        write_list(&mut text, "files", &self.files, |text, file| {
            let _ = write!(
                text,
                "  - path: {}\n    starting_time:\n      nanoseconds_since_epoch: {}\n    duration:\n      nanoseconds: \
                 {}\n    message_count: {}\n",
                quoted(&file.name),
                file.start_ns,
                file.end_ns.saturating_sub(file.start_ns),
                file.messages
            );
        });
        match self.custom.is_empty() {
            true => text.push_str("custom_data: {}\n"),
            false => text.push_str("custom_data:\n"),
        }
        for (key, value) in &self.custom {
            let _ = writeln!(text, "  {}: {}", quoted(key), quoted(value));
        }
        text.push_str("ros_distro: \"\"\n");
        text
    }

    /// Replaces `metadata.yaml` in this folder atomically. A reader finds either the old file or the new one, even
    /// after a power failure, because the new file is on the disk before it gets its name. The call waits for the disk.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = String::from("rosbag2_bagfile_information:\n");
        for line in self.to_yaml().lines() {
            let _ = writeln!(text, "  {line}");
        }
        let new = folder.join(".metadata.yaml.new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, folder.join(FILE_NAME))?;
        // The sync makes the new name of the file durable. Some file systems cannot sync a folder; their error is
        // ignored.
        match File::open(folder)?.sync_all() {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            stored => stored,
        }
    }
}

/// The files that the `metadata.yaml` of a folder lists, in order. The result is `None` if the folder has no
/// `metadata.yaml`.
///
/// # Errors
/// `metadata.yaml` cannot be read, or does not have rosbag2's form.
pub fn files_of(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let path = folder.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.context(|| format!("cannot read {}", path.display()))?,
    };
    let documents = Yaml::load_from_str(&text).context(|| format!("{} is not YAML", path.display()))?;
    let information = documents.first().and_then(|document| document.as_mapping_get("rosbag2_bagfile_information"));
    let files = information.and_then(|information| information.as_mapping_get("relative_file_paths"));
    let names = files.and_then(Yaml::as_sequence).map(|names| names.iter().filter_map(Yaml::as_str));
    match names {
        Some(names) => Ok(Some(names.map(|name| folder.join(name)).collect())),
        None => Err(Failure::new(format!(
            "{} names no files, so it is not the metadata of a bag of rosbag2",
            path.display()
        ))),
    }
}

fn write_list<T>(text: &mut String, key: &str, list: &[T], write: impl Fn(&mut String, &T)) {
    let _ = writeln!(text, "{key}:{}", if list.is_empty() { " []" } else { "" });
    list.iter().for_each(|element| write(text, element));
}

/// The text in quotation marks, in JSON's form, which is also valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_found_in_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(files_of(folder.path()).unwrap(), None);
        let file = |name: &str| FileMetadata { name: name.into(), start_ns: 5, end_ns: 9, messages: 1 };
        let topic = TopicMetadata {
            name: "/a: b".into(),
            type_name: "std_msgs/msg/String".into(),
            hash: String::new(),
            offered: vec![Qos::default(), Qos::sensor_data()],
            messages: 2,
        };
        let custom = BTreeMap::from([("a".into(), "1".into())]);
        let metadata = BagMetadata { topics: vec![topic], files: vec![file("x_0.mcap"), file("x_1.mcap")], custom };
        metadata.write(folder.path()).unwrap();
        let files = ["x_0.mcap", "x_1.mcap"].map(|name| folder.path().join(name));
        assert_eq!(files_of(folder.path()).unwrap().unwrap(), files);
        fs::write(folder.path().join(FILE_NAME), "a: 1").unwrap();
        assert!(files_of(folder.path()).unwrap_err().to_string().contains("names no files"));
    }
}
