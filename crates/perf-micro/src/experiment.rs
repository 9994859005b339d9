//! An experiment: its agent, its steps in their order, the steps that failed, and its files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use perf_test::{
    common::{error::Failure, interrupt::Interrupt, warning::Warning},
    experiments::{
        batch::{Folder, Progress, Warnings},
        results_file::{Results, ResultsFile, Table},
    },
    log::Summary,
    system::{Watch, root_folder},
};
use serde::Serialize;

use crate::{options::PlaceOptions, rig::Rig, transport::Transport};

/// An experiment that is running.
#[derive(Debug)]
pub struct Experiment {
    /// The name of the experiment's command.
    name: &'static str,
    /// The path of the agent's program.
    pub agent: PathBuf,
    folder: Folder,
    /// The flag that the user wants to end the experiment.
    pub interrupt: Interrupt,
    progress: Progress,
    steps: usize,
    /// The number of steps that have started.
    begun: usize,
    failures: Vec<String>,
    warnings: Vec<StepWarnings>,
}

/// The warnings of a step: reasons not to trust its results.
#[derive(Debug, Serialize)]
struct StepWarnings {
    /// The title of the step.
    step: String,
    warnings: Vec<Warning>,
}

/// The results of an experiment.
#[derive(Debug)]
pub struct Report<D> {
    /// The tables.
    pub tables: Vec<Table>,
    /// The figures that are compared with earlier figures. Each has a name, which ends with its unit, and a value.
    pub figures: Vec<(String, String)>,
    /// The results with full precision.
    pub details: D,
    /// The picture as SVG.
    pub picture: Option<String>,
}

/// The part of the JSON file with the details.
#[derive(Serialize)]
struct Details<'a, D> {
    #[serde(flatten)]
    of_experiment: &'a D,
    /// The values of the printed lines `figure NAME VALUE`, by name.
    figures: BTreeMap<&'a str, f64>,
    /// The sentences of the steps that failed.
    failures: &'a [String],
    /// The steps with warnings.
    warnings: &'a [StepWarnings],
}

impl StepWarnings {
    /// The note with these warnings below the tables.
    fn note(&self) -> Option<String> {
        Warnings::from_runs([&Summary { warnings: self.warnings.clone(), ..Summary::default() }]).note(&self.step)
    }
}

impl Experiment {
    /// Finds the agent, makes the folder of results, and writes a description of the machine into this folder.
    /// `lengths_s` has the lengths of the steps in seconds.
    ///
    /// # Errors
    /// [`Failure::Usage`], if there is no agent, or the folder cannot be used.
    pub fn begin(name: &'static str, place: &PlaceOptions, lengths_s: &[u32]) -> Result<Experiment, Failure> {
        let agent = find_agent(place.agent.as_deref())?;
        let folder = Folder::open(place.results.clone()).map_err(Failure::Usage)?;
        let interrupt = Interrupt::install()?;
        folder.describe().map_err(Failure::Usage)?;
        let progress = Progress::new(lengths_s.iter().copied().map(Some));
        let (steps, failures, warnings) = (lengths_s.len(), Vec::new(), Vec::new());
        Ok(Experiment { name, agent, folder, interrupt, progress, steps, begun: 0, failures, warnings })
    }

    /// Executes a step of the experiment. Returns `None` if the step fails, or if the user has already ended the
    /// experiment.
    pub fn step<T>(&mut self, title: &str, measure: impl FnOnce(&Experiment) -> Result<T, String>) -> Option<T> {
        if self.interrupt.is_requested() {
            return None;
        }
        let (index, began) = (self.begun, Instant::now());
        self.begun += 1;
        self.progress.begin(index, title, None);
        let measured = measure(self);
        self.progress.end(index, title, None, began.elapsed());
        measured.map_err(|sentence| self.fail(format!("{title}: {sentence}"))).ok()
    }

    /// Executes a step that measures times. Unsuitable settings of the machine, and load by other programs, become
    /// warnings. `measure` must end the processes that it starts.
    pub fn timed_step<T>(&mut self, title: &str, measure: impl FnOnce(&Experiment) -> Result<T, String>) -> Option<T> {
        let watch = Watch::start(&root_folder());
        let measured = self.step(title, measure)?;
        let found = StepWarnings { step: title.to_owned(), warnings: watch.end() };
        self.warnings.extend((!found.warnings.is_empty()).then_some(found));
        Some(measured)
    }

    /// Starts a rig (a board's line with an agent) for a transport.
    ///
    /// # Errors
    /// The reason, as a sentence, if the line cannot be created, or the agent does not start.
    pub fn rig(&self, transport: Transport) -> Result<Rig, String> {
        Rig::start(transport, &self.agent, &self.interrupt)
    }

    /// Stores the sentence of a failure for the results.
    pub fn fail(&mut self, sentence: String) {
        self.failures.push(sentence);
    }

    /// Writes the results as text, as JSON and as a picture.
    ///
    /// # Errors
    /// [`Failure::Measurement`], if a file cannot be written.
    pub fn finish<D: Serialize>(mut self, report: Report<D>) -> Result<Results, Failure> {
        let not_done = self.steps - self.begun;
        self.progress.finish(not_done);
        if not_done > 0 {
            self.fail(format!("ended early: {not_done} of {} steps were not done", self.steps));
        }
        self.write(report).map_err(Failure::Measurement)
    }

    fn write<D: Serialize>(self, report: Report<D>) -> Result<Results, String> {
        let Report { mut tables, figures, details, picture } = report;
        if let Some(last) = tables.last_mut() {
            last.notes.extend(self.warnings.iter().filter_map(StepWarnings::note));
        }
        let of_table = |table: &Table| table.lines().into_iter().chain([String::new()]);
        let mut lines: Vec<String> = tables.iter().flat_map(of_table).collect();
        lines.extend(self.failures.iter().map(|sentence| format!("failed: {sentence}")));
        lines.extend(figures.iter().map(|(name, value)| format!("figure {name} {value}")));
        let name = format!("micro-{}", self.name);
        let mut files = vec![self.folder.write(&format!("{name}.txt"), &(lines.join("\n") + "\n"))?];
        let (failures, warnings) = (&self.failures, &self.warnings);
        let numbers = figures.iter().filter_map(|(name, value)| Some((name.as_str(), value.parse().ok()?)));
        let figures = numbers.collect();
        let details = serde_json::to_value(Details { of_experiment: &details, figures, failures, warnings });
        let details = Some(details.map_err(|error| format!("cannot write {name}.json: {error}"))?);
        let file = ResultsFile::new(&format!("micro {}", self.name), 1, Vec::new(), tables);
        files.push(self.folder.write_json(&format!("{name}.json"), &ResultsFile { details, ..file })?);
        if let Some(picture) = picture {
            files.push(self.folder.write(&format!("{name}.svg"), &picture)?);
        }
        let failure = (!self.failures.is_empty()).then(|| self.failures.join("; "));
        Ok(Results { lines, files, failure })
    }
}

/// Finds the agent: at the given path, or in the folder of this program.
fn find_agent(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name(crate::rig::AGENT));
    let path = given.map(Path::to_owned).or_else(beside).unwrap_or_else(|| crate::rig::AGENT.into());
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::Usage(format!(
        "there is no agent {}: build it with `cargo build --release -p gantry-agent --features simulated-can`, or name it with \
         --agent PATH",
        path.display()
    )))
}
