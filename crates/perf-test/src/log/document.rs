//! A JSON document to which elements are added. The file is complete, valid JSON at every moment.
//!
//! The file appears under its name only when it is complete. It ends in `]}`, or at the end of a run in further members
//! and `}`. An addition takes two writes. The first writes blanks behind the ending, which JSON allows; if the disk is
//! full, this write fails and the blanks are cut off again. The second is one `pwrite` of the addition and the new
//! ending over the old ending and the blanks. Only a crash of the kernel in the middle of this `pwrite`, between two
//! pages, could leave half an addition.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

const ENDING: &str = "]}";

/// An open document, which can still grow.
#[derive(Debug)]
pub struct Document {
    file: File,
    path: PathBuf,
    /// The offset of the ending in the file.
    ending_at: u64,
    empty: bool,
}

impl Document {
    /// Creates the document, or replaces an existing file. The document has the members of `head`, a JSON object that
    /// is not empty, then an empty array with the name `array`. While the document is incomplete, the file has the name
    /// `path` with the suffix `.` and `id`.
    ///
    /// # Errors
    /// The file cannot be created or written, or `path` exists and is no file.
    pub fn create(path: &Path, id: &str, head: &impl Serialize, array: &str) -> io::Result<Document> {
        // The target of a symbolic link is replaced, and the link stays.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path exists and is not a file"));
        }
        let mut text = serde_json::to_string(head)?;
        text.pop();
        text.push_str(&format!(",\"{array}\":["));
        let ending_at = text.len() as u64;
        text.push_str(ENDING);
        // The file gets its final name when the document is complete, so no program reads an incomplete one.
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(format!(".{id}"));
        let written = File::create_new(&unfinished).and_then(|file| {
            file.write_all_at(text.as_bytes(), 0)?;
            std::fs::rename(&unfinished, &path)?;
            Ok(Document { file, path: path.clone(), ending_at, empty: true })
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        written
    }

    /// Adds an element to the array.
    ///
    /// # Errors
    /// The file cannot be written. The document is then unchanged.
    pub fn push(&mut self, element: &impl Serialize) -> io::Result<()> {
        let comma = if self.empty { "\n" } else { ",\n" };
        let text = format!("{comma}{}", serde_json::to_string(element)?);
        self.replace_ending(&text, ENDING)?;
        self.ending_at += text.len() as u64;
        self.empty = false;
        Ok(())
    }

    /// Adds the member `name` after the array. This ends the document.
    ///
    /// # Errors
    /// The file cannot be written. The document is then unchanged.
    pub fn finish(self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.replace_ending("", &format!("],\n\"{name}\":{}}}", serde_json::to_string(value)?))
    }

    /// The path of the document if its file has been removed; `None` otherwise.
    #[must_use]
    pub fn removed(&self) -> Option<&Path> {
        Some(self.path.as_path()).filter(|path| is_removed(&self.file, path))
    }

    fn replace_ending(&self, text: &str, ending: &str) -> io::Result<()> {
        let end = self.ending_at + ENDING.len() as u64;
        let text = format!("{text}{ending}");
        let room = " ".repeat(text.len() - ENDING.len());
        let added = self
            .file
            .write_all_at(room.as_bytes(), end)
            .and_then(|()| self.file.write_all_at(text.as_bytes(), self.ending_at));
        if let Err(error) = added {
            // This write succeeds even on a full disk, because the space is allocated already. If the blanks cannot be
            // cut off, they do no harm.
            self.file.write_all_at(ENDING.as_bytes(), self.ending_at)?;
            let _ = self.file.set_len(end);
            return Err(error);
        }
        Ok(())
    }
}

/// Whether the file was removed while it is open, alone or with its folder. Its content is then lost when this process
/// ends.
pub fn is_removed(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.nlink() == 0) && !path.exists()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(path: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn it_is_a_document_after_every_step_and_replaces_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.json");
        std::fs::write(&path, "an older and longer log ".repeat(1000)).unwrap();
        let mut document = Document::create(&path, "id", &json!({"a": 1}), "rows").unwrap();
        let mut rows = Vec::new();
        for n in 0..3 {
            assert_eq!(read(&path), json!({"a": 1, "rows": rows}));
            rows.push(json!({"n": n, "text": "]}".repeat(n * 5000)}));
            document.push(&rows[n]).unwrap();
        }
        assert_eq!(read(&path), json!({"a": 1, "rows": rows}));
        document.finish("summary", &json!({"b": [2]})).unwrap();
        assert_eq!(read(&path), json!({"a": 1, "rows": rows, "summary": {"b": [2]}}));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something else was left");
    }

    #[test]
    fn a_document_whose_folder_was_removed_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.json");
        let mut document = Document::create(&path, "id", &json!({"a": 1}), "rows").unwrap();
        assert_eq!(document.removed(), None);
        folder.close().unwrap();
        document.push(&json!(1)).unwrap();
        assert_eq!(document.removed(), Some(path.as_path()), "a write succeeds, and no reader will find it");
    }

    #[test]
    fn without_a_row_it_can_be_finished_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.json");
        let document = Document::create(&path, "id", &json!({"a": 1}), "rows").unwrap();
        document.finish("end", &json!(null)).unwrap();
        assert_eq!(read(&path), json!({"a": 1, "rows": [], "end": null}));
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("log.json"), folder.path().join("link"));
        std::fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        Document::create(&link, "id", &json!({"a": 1}), "rows").unwrap();
        assert!(link.is_symlink() && read(&path)["a"] == 1);
        let error = Document::create(Path::new("/dev/null"), "id", &json!({"a": 1}), "rows").unwrap_err();
        assert!(error.to_string().contains("is not a file"), "{error}");
    }
}
