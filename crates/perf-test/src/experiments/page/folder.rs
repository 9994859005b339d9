//! The files in a folder of results: logs, reasons for missing figures, and descriptions of the machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::experiment::Experiments;
use super::run::Run;
use super::settings::machine_in_short;
use crate::common::json_file;
use crate::experiments::batch::{SHORTFALL_SUFFIX, Shortfall, paths_in};
use crate::experiments::results_file::{self, Ratio, Table, ratio_tables};
use crate::log::Log;
use crate::system::{ENVIRONMENT, System};

/// The former schema of `versus.json`. Newer results files have a common schema.
const OLD_VERSUS: &str = "gantry.perf_test.versus/1";
/// The prefix of the schemas of all results files (results of several runs).
const OF_SEVERAL_RUNS: &str = "gantry.perf_test.";

/// A folder of results.
#[derive(Debug, Default)]
pub struct Folder {
    /// The name of the folder.
    pub name: String,
    /// The runs without a topology that have a log, ordered by the names of the logs.
    pub runs: Vec<Run>,
    /// The runs of topologies that have a log, ordered by the names of the logs.
    pub robots: Vec<Run>,
    /// The runs without figures, each with the name of the file that has the reason.
    pub shortfalls: Vec<(String, Shortfall)>,
    /// The ratios of each results file, with the name of the file.
    pub ratios: Vec<(String, Vec<Ratio>)>,
    /// The tables of each results file, with the name of the file and the command that wrote it.
    pub tables: Vec<(String, String, Vec<Table>)>,
    /// The machines on which the runs were done, from `environment.json` or, without such a file, from the first log.
    pub machines: Vec<System>,
    /// The experiments in the folder.
    pub experiments: Experiments,
    /// The JSON files that are not shown, each with the reason.
    pub skipped: Vec<String>,
}

/// The fields of `environment.json` that the page shows.
#[derive(Deserialize)]
struct Description {
    system: System,
}

impl Folder {
    /// Reads all JSON files in the folder and in all subfolders. Symbolic links to folders are not followed.
    ///
    /// # Errors
    /// The reason, as a sentence: a folder cannot be read, or it has neither a log nor a run without figures.
    pub fn read(path: &Path) -> Result<Folder, String> {
        let mut files = Vec::new();
        json_files(path, &mut files)?;
        let name = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let mut folder = Folder { name: name.unwrap_or_else(|| path.display().to_string()), ..Folder::default() };
        let mut described = Vec::new();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
            if name.ends_with(&format!(".{SHORTFALL_SUFFIX}")) {
                match json_file::<Shortfall>(&file) {
                    Ok(shortfall) => folder.shortfalls.push((name, shortfall)),
                    Err(why) => folder.skipped.push(format!("{name} describes no run without figures: {why}")),
                }
            } else if file.file_name().is_some_and(|file| file == ENVIRONMENT) {
                folder.experiments.add(&name);
                described.extend(json_file::<Description>(&file).map(|description| description.system));
            } else {
                match Log::read_as(&file, &name) {
                    Ok(log) if log.run.topology.is_some() => folder.robots.push(Run::new(log, name)),
                    Ok(log) => folder.runs.push(Run::new(log, name)),
                    Err(why) => match results(&file) {
                        Some(Ok(found)) => folder.add(name, found),
                        Some(Err(why)) => folder.skipped.push(format!("the results of {name} cannot be read: {why}")),
                        None => folder.skipped.push(why),
                    },
                }
            }
        }
        folder.runs.iter_mut().for_each(|run| folder.experiments.name(run));
        folder.machines = machines(described, folder.all_runs());
        if folder.all_runs().next().is_none() && folder.shortfalls.is_empty() {
            let (path, others) = (path.display(), folder.skipped.len());
            return Err(format!(
                "{path} has no log of perf_test ({others} other JSON files): give a folder with logs written by --full-logfile"
            ));
        }
        Ok(folder)
    }

    /// Adds the tables and ratios of the results file `name`.
    fn add(&mut self, name: String, found: Found) {
        self.experiments.add(&name);
        if !found.tables.is_empty() {
            self.tables.push((name.clone(), found.command, found.tables));
        }
        if !found.ratios.is_empty() {
            self.ratios.push((name, found.ratios));
        }
    }

    /// All runs of the folder, the runs of topologies last.
    pub fn all_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().chain(&self.robots)
    }
}

/// The different machines, which are recognised by their short descriptions. `environment.json` takes precedence over
/// logs.
fn machines<'a>(described: Vec<System>, runs: impl Iterator<Item = &'a Run>) -> Vec<System> {
    let mut machines: BTreeMap<String, System> = BTreeMap::new();
    for machine in described.into_iter().chain(runs.filter_map(|run| run.machine.clone())) {
        machines.entry(machine_in_short(&machine)).or_insert(machine);
    }
    machines.into_values().collect()
}

/// Adds the JSON files in a folder and in all subfolders to `files`, ordered by name.
fn json_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in paths_in(folder)? {
        if path.is_dir() && !path.is_symlink() {
            json_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The fields of a results file that the page shows.
#[derive(Debug, Default, Deserialize)]
struct Found {
    /// The command of `perf_test` that wrote the file.
    #[serde(default)]
    command: String,
    /// The tables.
    #[serde(default)]
    tables: Vec<Table>,
    /// The ratios.
    ratios: Vec<Ratio>,
}

/// The tables and ratios of a results file; `None` if the file is no results file. Of the formats of earlier versions,
/// only `versus.json` is read; for others, the page shows no tables.
fn results(file: &Path) -> Option<Result<Found, String>> {
    let content: serde_json::Value = json_file(file).ok()?;
    let schema = content["schema"].as_str()?;
    if ![results_file::SCHEMA, OLD_VERSUS].contains(&schema) {
        return schema.starts_with(OF_SEVERAL_RUNS).then(|| Ok(Found::default()));
    }
    let mut found = Found::deserialize(&content).map_err(|error| error.to_string());
    if let (Ok(found), OLD_VERSUS) = (&mut found, schema) {
        (found.command, found.tables) = ("compare middlewares".to_owned(), ratio_tables(&found.ratios));
    }
    Some(found)
}
