//! The folder of the results of a batch: full logs at any depth, `environment.json`, `commands.txt`, and the sentences of runs without figures.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Shortfall;
use crate::{
    report::full::{Conditions, Log, SummaryEntry},
    system::{self, Description, Noise, System},
};

/// The suffix of the file of a run without figures.
pub const SHORTFALL_SUFFIX: &str = "failed.json";
/// The time for which the noise of the machine is measured, s.
const NOISE_S: u32 = 1;

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder if it does not exist, describes the machine in `environment.json`, and adds this program's command line to
    /// `commands.txt`.
    ///
    /// # Errors
    /// A sentence: a folder or file cannot be written.
    pub fn open(path: PathBuf) -> Result<Folder, String> {
        fs::create_dir_all(&path).map_err(|error| refused(&path, &error))?;
        let folder = Folder(path);
        let found = System::read(&system::root_folder());
        let advice = system::advice::advice(&found);
        let noise = Noise::measure(NOISE_S).ok();
        folder.write_json(system::ENVIRONMENT, &Description { system: found, noise, advice })?;
        let commands = folder.0.join("commands.txt");
        let added = OpenOptions::new().create(true).append(true).open(&commands);
        let added = added.and_then(|mut file| file.write_all(format!("{}\n", command_line()).as_bytes()));
        added.map_err(|error| refused(&commands, &error))?;
        Ok(folder)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a text into the file `name`.
    ///
    /// # Errors
    /// A sentence: it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| refused(&path, &error))?;
        Ok(path)
    }

    /// Writes a value as JSON into the file `name`.
    ///
    /// # Errors
    /// A sentence: it cannot be written.
    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<PathBuf, String> {
        let text = serde_json::to_string_pretty(value).map_err(|error| format!("cannot write {name}: {error}"))?;
        self.write(name, &(text + "\n"))
    }

    /// The summary of a log that is complete and has these conditions.
    pub(super) fn complete(&self, log: &Path, conditions: &Conditions) -> Option<SummaryEntry> {
        let log = Log::read(&self.0.join(log)).ok()?;
        // The command of a daemon may name files of its own run.
        let comparable = |of: &Conditions| Conditions { started_daemons: Vec::new(), ..of.clone() };
        let summary = log.summary.filter(|summary| !summary.stopped_early && summary.failure.is_none())?;
        (comparable(&log.run.spec) == comparable(conditions)).then_some(summary)
    }

    /// The path of a log, whose folder is made if it does not exist.
    pub(super) fn make_room_for(&self, log: &Path) -> Result<PathBuf, String> {
        let path = self.0.join(log);
        let folder = path.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
        Ok(path)
    }

    /// Keeps the sentence of a run without figures. If that is not possible, the sentence is only on the console.
    pub(super) fn keep_shortfall(&self, log: &Path, shortfall: &Shortfall) {
        let name = log.with_extension(SHORTFALL_SUFFIX);
        if self.make_room_for(&name).is_ok() {
            let _ = self.write_json(&name.to_string_lossy(), shortfall);
        }
    }

    /// Removes the sentence of an earlier attempt.
    pub(super) fn forget_shortfall(&self, log: &Path) {
        let _ = fs::remove_file(self.0.join(log.with_extension(SHORTFALL_SUFFIX)));
    }
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}. Give --results a folder that is writable", path.display())
}

/// The command line of this program, as a shell reads it.
fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let word = |argument: std::ffi::OsString| {
        let word = argument.to_string_lossy().into_owned();
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words: Vec<String> = std::env::args_os().skip(1).map(word).collect();
    format!("perf_test {}", words.join(" "))
}
