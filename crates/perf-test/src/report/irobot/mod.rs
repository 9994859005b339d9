//! Output files in the format of iRobot's `ros2-performance`, for existing scripts. Each process has its own folder.
//! `metadata.txt` is written before the run. Lines are added to `resources.txt` and `events.txt` during the run.
//! `latency_all.txt` and `latency_total.txt` are written at its end.
//!
//! iRobot changed its headers in December 2023: the units are now words (`mean_us`) and were in brackets before
//! (`mean[us]`). Columns and units are as in ros2-performance with both kinds of headers. Values differ where iRobot's
//! are wrong: here every message is in every statistic, and the number of lost messages is computed from the number of
//! sent messages.

mod events;
mod latency;
mod resources;
mod sampling;
mod style;

use std::fs::{File, create_dir_all};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::log::RowEntry;
use crate::log::Summary;
use events::EventLog;
use perf_worker::{
    clock::SECOND_NS,
    endpoint::{Endpoint, EndpointPlan},
    measure::events::Events,
};
use sampling::Sampling;
pub use style::{Headers, Style};

const MS: i64 = SECOND_NS / 1000;

/// A file to which lines are added.
#[derive(Debug)]
struct Lines(File);

impl Lines {
    fn create(folder: &Path, name: &str) -> io::Result<Lines> {
        File::create(folder.join(name)).map(Lines)
    }

    /// Adds lines with one write, so that a killed process leaves no partial line.
    fn add(&mut self, lines: &[String]) -> io::Result<()> {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        self.0.write_all(text.as_bytes())
    }
}

/// A process of the run, for which files are written.
#[derive(Clone, Debug)]
pub struct Process {
    /// The folder for the files of the process. It is created.
    pub folder: PathBuf,
    /// The endpoints of the process, each with its payload size in bytes.
    pub endpoints: Vec<(EndpointPlan, u64)>,
}

#[derive(Debug)]
struct Folder {
    process: Process,
    resources: Lines,
    /// The file `events.txt`; `None` if the user did not request it (`--tracking`).
    events: Option<Lines>,
}

/// The files of all processes.
#[derive(Debug)]
pub struct Files {
    style: Style,
    folders: Vec<Folder>,
    /// The events of the current second.
    events: EventLog,
    /// The sampling of CPU and memory with the period that the user chose; `None` if `resources.txt` has a line for
    /// each row of the run.
    sampling: Option<Sampling>,
}

impl Files {
    /// Creates the folders and the files, or replaces existing files. `processes` has the order of the run's workers.
    /// `metadata` is the content of `metadata.txt`. If `tracked` is true, `events.txt` logs late and lost messages.
    ///
    /// # Errors
    /// A folder or a file cannot be created or written.
    pub fn create(processes: Vec<Process>, style: Style, tracked: bool, metadata: &[String]) -> io::Result<Files> {
        let mut folders = Vec::new();
        for process in processes {
            let folder = &process.folder;
            create_dir_all(folder)?;
            Lines::create(folder, "metadata.txt")?.add(metadata)?;
            let mut resources = Lines::create(folder, "resources.txt")?;
            resources.add(&resources::head(style))?;
            // Removes files of an earlier run, which would not match this run.
            for name in ["latency_all.txt", "latency_total.txt", "events.txt"] {
                remove(&folder.join(name))?;
            }
            let mut events = tracked.then(|| Lines::create(folder, "events.txt")).transpose()?;
            if let Some(events) = &mut events {
                events.add(&[style.head(&events::COLUMNS)])?;
            }
            folders.push(Folder { process, resources, events });
        }
        Ok(Files { style, folders, events: EventLog::default(), sampling: None })
    }

    /// Makes `resources.txt` have a line every `period_ms`, instead of a line for each row of the run.
    #[must_use]
    pub fn with_sampling(self, period_ms: u32) -> Files {
        Files { sampling: Some(Sampling::new(i64::from(period_ms) * MS)), ..self }
    }

    /// The time of the next sample of CPU and memory; `None` if `resources.txt` has a line for each row of the run.
    #[must_use]
    pub fn next_sample_ns(&self) -> Option<i64> {
        self.sampling.as_ref().map(|sampling| sampling.next_ns)
    }

    /// Reads CPU and memory of the processes `pids` and adds them to `resources.txt`, if the next sample is due.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn sample(&mut self, now_ns: i64, pids: impl Iterator<Item = u32>) -> io::Result<()> {
        let Files { style, folders, events, sampling } = self;
        let samples = sampling.as_mut().map(|sampling| sampling.read(now_ns, pids)).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        folders.iter_mut().zip(samples).try_for_each(|(folder, sample)| match sample {
            Some((taken_ns, row)) => {
                folder.resources.add(&[resources::line(*style, taken_ns - events.start_ns, cores, &row)])
            }
            None => Ok(()),
        })
    }

    /// Writes the line about discovery. `matched_after_ns` is the time between the creation of the last endpoint and
    /// the moment when all endpoints were matched.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn started(&mut self, start_ns: i64, matched_after_ns: i64) -> io::Result<()> {
        self.events.start_ns = start_ns;
        self.sampling.iter_mut().for_each(|sampling| sampling.next_ns = start_ns);
        let line = events::matched(self.style, matched_after_ns);
        self.folders
            .iter_mut()
            .filter_map(|folder| folder.events.as_mut())
            .try_for_each(|file| file.add(std::slice::from_ref(&line)))
    }

    /// Writes the events of a second, and its CPU and memory unless the user chose another period.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn row(&mut self, row: &RowEntry) -> io::Result<()> {
        let style = self.style;
        if self.sampling.is_none() {
            let mut files = self.folders.iter_mut().zip(&row.accounts.workers);
            let line = |worker| resources::line(style, row.end_ns(), row.accounts.cores, worker);
            files.try_for_each(|(folder, worker)| folder.resources.add(&[line(worker)]))?;
        }
        self.write_events()
    }

    /// Keeps the events of an endpoint until all endpoints have reported the second.
    pub fn events(&mut self, endpoint: Endpoint, events: &Events) {
        let plans = self.folders.iter().flat_map(|folder| &folder.process.endpoints).map(|(plan, _)| plan);
        if let Some(plan) = plans.into_iter().find(|plan| plan.endpoint == endpoint) {
            self.events.add(plan, events);
        }
    }

    fn write_events(&mut self) -> io::Result<()> {
        for Folder { process, events, .. } in &mut self.folders {
            let Some(file) = events else { continue };
            for (plan, _) in &process.endpoints {
                file.add(&self.events.lines(self.style, plan))?;
            }
        }
        self.events.end_second();
        Ok(())
    }

    /// Writes the remaining events, and the latencies of all processes.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, summary: &Summary) -> io::Result<()> {
        self.write_events()?;
        for Folder { process, .. } in self.folders {
            Lines::create(&process.folder, "latency_all.txt")?.add(&latency::all(self.style, &process, summary))?;
            Lines::create(&process.folder, "latency_total.txt")?.add(&latency::total(self.style, &process, summary))?;
        }
        Ok(())
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The name of a node or topic without the leading slash, as in iRobot's files.
fn short(name: &str) -> &str {
    name.trim_start_matches('/')
}

#[cfg(test)]
mod tests;
