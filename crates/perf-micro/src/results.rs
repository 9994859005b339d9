//! The results of an experiment, and their files.

use std::path::PathBuf;

use serde::Serialize;

use perf_test::experiments::batch::Folder;

/// The results of an experiment.
#[derive(Debug)]
pub struct Results {
    /// The text.
    pub lines: Vec<String>,
    /// Its last lines: `figure NAME VALUE`.
    pub figures: Vec<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The reason why it is not complete, for the exit code.
    pub failure: Option<String>,
}

impl Results {
    /// Writes `name` as text, as JSON and as a picture.
    ///
    /// # Errors
    /// A sentence: a file cannot be written.
    pub fn write(
        folder: &Folder,
        name: &str,
        lines: Vec<String>,
        json: &impl Serialize,
        picture: Option<String>,
        failure: Option<String>,
    ) -> Result<Results, String> {
        let mut files = vec![folder.write(&format!("{name}.txt"), &(lines.join("\n") + "\n"))?];
        files.push(folder.write_json(&format!("{name}.json"), json)?);
        if let Some(picture) = picture {
            files.push(folder.write(&format!("{name}.svg"), &picture)?);
        }
        let (figures, lines) = lines.into_iter().partition(|line| line.starts_with("figure "));
        Ok(Results { lines, figures, files, failure })
    }
}
