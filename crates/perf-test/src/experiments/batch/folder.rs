//! The folder with the results of a batch: full logs, also in subfolders; `environment.json`; `commands.txt`; and, for
//! each run without figures, a file with the reason.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Shortfall;
use crate::{
    log::{Build, Log, Summary, conditions, resolved},
    system::{self, Description, Noise, System},
    topology::Topology,
};
use perf_worker::run_spec::RunSpec;

/// The suffix of the file with the reason why a run has no figures.
pub const SHORTFALL_SUFFIX: &str = "failed.json";
/// The duration of the noise measurement, s.
const NOISE_S: u32 = 1;

/// The log of an earlier run at the path that a planned run would use.
#[derive(Debug)]
pub(super) enum Earlier {
    /// There is no log, or the log is not complete.
    None,
    /// The log is from the same programs and the current boot. The value is its summary.
    Same(Box<Summary>),
    /// The log is from other programs or another boot. The text describes the difference.
    OtherBuild(String),
}

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder if it does not exist.
    ///
    /// # Errors
    /// The reason, as a sentence: the path is not a folder, or the folder cannot be made.
    pub fn open(path: PathBuf) -> Result<Folder, String> {
        if path.exists() && !path.is_dir() {
            return Err(format!(
                "{} is not a folder: give --results a folder that is writable or does not exist",
                path.display()
            ));
        }
        fs::create_dir_all(&path).map_err(|error| refused(&path, &error))?;
        Ok(Folder(path))
    }

    /// Writes a description of the machine to `environment.json`, and appends this program's command line
    /// to `commands.txt`.
    ///
    /// # Errors
    /// The reason, as a sentence: a file cannot be written.
    pub fn describe(&self) -> Result<(), String> {
        let found = System::read(&system::root_folder());
        let advice = system::advice::advice(&found);
        let noise = Noise::measure(NOISE_S).ok();
        self.write_json(system::ENVIRONMENT, &Description { system: found, noise, advice })?;
        let commands = self.0.join("commands.txt");
        let added = OpenOptions::new().create(true).append(true).open(&commands);
        let added = added.and_then(|mut file| file.write_all(format!("{}\n", command_line()).as_bytes()));
        added.map_err(|error| refused(&commands, &error))
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a text into the file `name`. The file's folder is made if it does not exist.
    ///
    /// # Errors
    /// The reason, as a sentence: the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.make_room_for(name.as_ref())?;
        fs::write(&path, text).map_err(|error| refused(&path, &error))?;
        Ok(path)
    }

    /// Writes a value as JSON into the file `name`.
    ///
    /// # Errors
    /// The reason, as a sentence: the file cannot be written.
    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<PathBuf, String> {
        let text = serde_json::to_string_pretty(value).map_err(|error| format!("cannot write {name}: {error}"))?;
        self.write(name, &(text + "\n"))
    }

    /// The log of an earlier run at the path `log`. The earlier run must have the same conditions as the run `spec`
    /// with this topology.
    ///
    /// # Errors
    /// The reason, as a sentence: the log is of a run with other conditions.
    pub(super) fn earlier(&self, log: &Path, spec: &RunSpec, topology: Option<&Topology>) -> Result<Earlier, String> {
        let path = self.0.join(log);
        let Ok(log) = Log::read(&path) else { return Ok(Earlier::None) };
        let is_complete = |summary: &Summary| !summary.stopped_early && summary.failure.is_none();
        let Some(summary) = log.summary.filter(is_complete) else { return Ok(Earlier::None) };
        let before = &log.run.spec;
        let is_other_topology = log.run.topology != topology.and_then(resolved);
        let nodes = is_other_topology.then(|| "the nodes of the topology".to_owned());
        if let Some(difference) = difference(before, spec).or(nodes) {
            return Err(format!(
                "{} is the log of a run with other conditions ({difference}): give --again to replace it, or --results another folder",
                path.display()
            ));
        }
        Ok(match log.run.build.difference(&Build::now(&spec.communicator)) {
            Some(why) => Earlier::OtherBuild(why.to_owned()),
            None if before.middleware_version != spec.middleware_version => {
                Earlier::OtherBuild(format!("its log is of version {}", before.middleware_version))
            }
            None => Earlier::Same(Box::new(summary)),
        })
    }

    /// The path of a log in this folder. Creates the subfolder of the log if it does not exist.
    pub(super) fn make_room_for(&self, log: &Path) -> Result<PathBuf, String> {
        let path = self.0.join(log);
        let folder = path.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
        Ok(path)
    }

    /// Writes the reason why a run has no figures into a file. An error of this write is ignored: the console shows the
    /// reason in any case.
    pub(super) fn keep_shortfall(&self, log: &Path, shortfall: &Shortfall) {
        let _ = self.write_json(&log.with_extension(SHORTFALL_SUFFIX).to_string_lossy(), shortfall);
    }

    /// Removes the file with the reason why an earlier attempt of a run had no figures.
    pub(super) fn forget_shortfall(&self, log: &Path) {
        let _ = fs::remove_file(self.0.join(log.with_extension(SHORTFALL_SUFFIX)));
    }
}

/// The paths in a folder, ordered by name.
///
/// # Errors
/// The reason, as a sentence: the folder cannot be read.
pub fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let paths = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> =
        paths.map_err(|error| format!("cannot read the folder {}: {error}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}. Give --results a folder that is writable", path.display())
}

/// The differences between the conditions of two runs, for example `rate_hz 100 there, 200 now`. The middleware's
/// version is left out, because the comparison of the programs covers it.
fn difference(before: &RunSpec, now: &RunSpec) -> Option<String> {
    let fields = |spec: &RunSpec| {
        let mut fields = conditions(spec);
        // The commands of daemons are not compared: they may contain names of files that exist only in one run.
        ["started_daemons", "middleware_version"].iter().for_each(|name| _ = fields.remove(*name));
        fields
    };
    let (before, now) = (fields(before), fields(now));
    let of_one = |(name, value): (&String, &Value)| {
        let other = before.get(name).unwrap_or(&Value::Null);
        (other != value).then(|| format!("{name} {other} there, {value} now"))
    };
    let found: Vec<String> = now.iter().filter_map(of_one).collect();
    (!found.is_empty()).then(|| found.join("; "))
}

/// Converts a text to a file name. Characters other than letters, digits, `-`, `=` and `.` become `_`. A text of dots
/// alone becomes `_`, so that `..` cannot lead out of the folder.
#[must_use]
pub fn file_name(text: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "-=".contains(c) || c == '.' && text.chars().any(|c| c != '.');
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// The command line of this program, quoted for a shell.
fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let word = |argument: std::ffi::OsString| {
        let word = argument.to_string_lossy().into_owned();
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words: Vec<String> = std::env::args_os().skip(1).map(word).collect();
    format!("perf_test {}", words.join(" "))
}
