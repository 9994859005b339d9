//! The results of a run for people and programs: tables, summary and logs.
//!
//! The input is a [`RowEntry`] for each second and a [`Summary`] at the end. This module does not depend on a
//! middleware.

pub mod csv;
pub mod heading;
pub mod irobot;
pub mod json;
mod log_file;
pub mod outputs;
pub mod plot;
pub mod summary;
pub mod tables;
pub mod terminal;
pub mod warnings;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use crate::common::error::Failure;
use crate::common::warning::{Warning, WarningKind};
use crate::log::RowEntry;
use crate::log::{self, Summary};
use crate::system::{System, root_folder};
use crate::topology::Topology;
use log_file::LogFile;
use outputs::Outputs;
use perf_worker::{endpoint::Endpoint, measure::events::Events, run_spec::RunSpec};

/// The outputs of one run.
#[derive(Debug)]
pub struct Reports {
    terminal: Option<terminal::Terminal>,
    /// The logs, each with its kind as a word for sentences.
    logs: Vec<(&'static str, LogFile)>,
    /// iRobot's files in a run of a topology; `None` after one of them could not be written.
    pub irobot: Option<irobot::Files>,
    /// Whether the run shows no figures, because the caller needs only the counts.
    quiet: bool,
    /// The channel that gets the number of messages sent in each row.
    rows: Option<Sender<u64>>,
}

impl Reports {
    /// Creates reports without output, for a caller that needs only the counts of a run. `rows` gets the number of
    /// messages sent in each row.
    #[must_use]
    pub fn quiet(rows: Option<Sender<u64>>) -> Reports {
        Reports { terminal: None, logs: Vec::new(), irobot: None, quiet: true, rows }
    }

    /// Whether the run shows no figures. The calibration of the machine is then left out.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Opens the outputs and replaces existing logs. In a run of a topology, the full log also contains the `topology`
    /// and the options of its nodes.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a log cannot be created, or if the environment variable `APEX_PERFORMANCE_TEST` is
    /// malformed.
    pub fn open(
        outputs: &Outputs,
        spec: &RunSpec,
        run_id: &str,
        full_topic: &str,
        topology: Option<(&Topology, log::NodesEntry)>,
    ) -> Result<Reports, Failure> {
        let external = log::external_info::from_environment().map_err(Failure::Usage)?;
        let layout = spec.message.layout;
        let csv = |path: &Path| csv::CsvLog::create(path, spec, run_id, &external).map(LogFile::Csv);
        let json =
            |path: &Path| json::create(path, spec, run_id, &external).map(|document| LogFile::Json(document, layout));
        let full = |path: &Path| {
            let run = log::RunEntry::now(spec, run_id, full_topic, &external);
            let (topology, nodes) = topology.clone().unzip();
            let run = log::RunEntry { topology: topology.and_then(log::resolved), nodes, ..run };
            let environment = System::read(&root_folder());
            log::Head { schema: log::SCHEMA, run, environment }.create(path).map(LogFile::Full)
        };
        let mut logs = Vec::new();
        let mut add = |kind, path: &Option<PathBuf>, create: &dyn Fn(&Path) -> io::Result<LogFile>| {
            let Some(path) = path else { return Ok(()) };
            let refused = |error| {
                let path = path.display();
                Failure::Usage(format!(
                    "cannot create the {kind} log {path}: {error}. Name a file in a folder that exists and is writable"
                ))
            };
            logs.push((kind, create(path).map_err(refused)?));
            Ok(())
        };
        add("CSV", &outputs.csv, &csv)?;
        add("JSON", &outputs.json, &json)?;
        add("full", &outputs.full, &full)?;
        let terminal = outputs.console.then(|| terminal::Terminal::new(spec, outputs.tables));
        Ok(Reports { terminal, logs, irobot: None, quiet: false, rows: None })
    }

    /// Logs the start of the run. A log that cannot be written is closed; the returned sentence says so.
    pub fn started(&mut self, start_ns: i64, matched_after_ns: i64) -> Option<String> {
        self.in_irobot(|files| files.started(start_ns, matched_after_ns))
    }

    /// Logs late and lost messages of an endpoint. A log that cannot be written is closed; the returned sentence says
    /// so.
    pub fn events(&mut self, endpoint: Endpoint, events: &Events) -> Option<String> {
        if events.is_empty() {
            return None;
        }
        self.in_irobot(|files| {
            files.events(endpoint, events);
            Ok(())
        })
    }

    /// The time of the next call of [`sample`](Self::sample); `None` if the rows of the run have CPU and memory.
    #[must_use]
    pub fn next_sample_ns(&self) -> Option<i64> {
        self.irobot.as_ref()?.next_sample_ns()
    }

    /// Logs CPU and memory of the workers `pids`, if the user chose a period and the next sample is due. A log that
    /// cannot be written is closed; the returned sentence says so.
    pub fn sample(&mut self, now_ns: i64, pids: impl Iterator<Item = u32>) -> Option<String> {
        self.in_irobot(|files| files.sample(now_ns, pids))
    }

    fn in_irobot(&mut self, write: impl FnOnce(&mut irobot::Files) -> io::Result<()>) -> Option<String> {
        let error = write(self.irobot.as_mut()?).err()?;
        self.irobot = None;
        Some(format!("iRobot's files end here: {error}. Their lines so far are complete"))
    }

    /// Shows and logs one row. A log that cannot be written is closed, and a sentence about it is returned.
    ///
    /// # Errors
    /// [`Failure::Measurement`] if the console cannot be written, for example because its pipe is closed.
    pub fn row(&mut self, row: &RowEntry) -> Result<Vec<String>, Failure> {
        let ends_s = row.t_s - row.length_s;
        let mut given_up = Vec::new();
        if let Some(rows) = &self.rows {
            // The send fails only if the receiver was dropped.
            let _ = rows.send(row.total.sent.samples);
        }
        self.logs.retain_mut(|(kind, log)| match log.row(row) {
            Ok(()) => true,
            Err(error) => {
                given_up
                    .push(format!("the {kind} log ends after {ends_s:.0} s: {error}. Its rows so far are complete"));
                false
            }
        });
        given_up.extend(self.in_irobot(|files| files.row(row)));
        if let Some(terminal) = &mut self.terminal {
            terminal.row(row).map_err(|error| cannot_write(&error))?;
        }
        Ok(given_up)
    }

    /// Ends the logs. Returns a warning for each log that cannot be written or has been removed.
    pub fn finish(&mut self, summary: &Summary) -> Vec<Warning> {
        let unfinished = self.irobot.take().and_then(|files| files.finish(summary).err());
        let sentence = |error| format!("iRobot's files of the latencies are not complete: {error}");
        let irobot = unfinished.map(|error| Warning::new(WarningKind::Log, sentence(error), "Run again"));
        let mut warnings: Vec<Warning> = irobot.into_iter().collect();
        let mut warn = |sentence, hint| warnings.push(Warning::new(WarningKind::Log, sentence, hint));
        for (kind, log) in self.logs.drain(..) {
            // A write to a removed file succeeds, but its content is lost when this process ends.
            if let Some(path) = log.removed() {
                let sentence = format!("the {kind} log {} was removed during the run", path.display());
                warn(sentence, "Keep its folder and run again");
            }
            if let Err(error) = log.finish(summary) {
                let rows = "Its rows so far are complete";
                let sentence = format!("the {kind} log ends without the summary: {error}. {rows}");
                warn(sentence, "Free some disk space and run again");
            }
        }
        warnings
    }

    /// Prints lines, if the console is one of the outputs.
    ///
    /// # Errors
    /// [`Failure::Measurement`] if the console cannot be written.
    pub fn lines(&mut self, lines: &[String]) -> Result<(), Failure> {
        match &mut self.terminal {
            Some(terminal) => terminal.lines(lines).map_err(|error| cannot_write(&error)),
            None => Ok(()),
        }
    }
}

/// The failure of a console that cannot be written.
pub fn cannot_write(error: &io::Error) -> Failure {
    Failure::Measurement(format!("cannot write to standard output: {error}"))
}
