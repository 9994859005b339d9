//! The runner: one run as its users see it, with heading, tables, logs, summary, pictures and verdicts.

use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use gantry::printable;

use crate::{
    common::{error::Failure, interrupt::Interrupt, topic::full_name},
    communicator::Communicator,
    judge::requirement::Requirement,
    log::Summary,
    report::{
        Reports,
        heading::{heading, legend},
        outputs::Outputs,
        plot,
    },
    run::coordinator,
    system::own_process,
};
use perf_worker::run_spec::RunSpec;

/// The settings that all runs of a command share.
#[derive(Debug)]
pub struct Runner {
    /// The destinations of results.
    pub outputs: Outputs,
    /// The requirements for each run.
    pub requirements: Vec<Requirement>,
    /// The interrupt of the user.
    pub interrupt: Interrupt,
}

impl Runner {
    /// Measures and reports one run.
    ///
    /// # Errors
    /// The run could not begin, failed, or did not meet its requirements.
    pub fn once(&self, spec: &RunSpec) -> Result<(), Failure> {
        let summary = self.measure(spec, &self.outputs, &[])?;
        complete(&summary)?;
        match missed(&summary) {
            0 => Ok(()),
            count => Err(Failure::NotMet(format!("{count} of {} requirements not met", summary.requirements.len()))),
        }
    }

    /// Measures one of several runs, whose logs have `suffix` in their names. It must be complete. Also returns the
    /// number of requirements that it did not meet: the other runs follow nonetheless.
    ///
    /// # Errors
    /// The run could not begin, failed, or was ended early; then the others must not begin.
    pub fn one_of_several(&self, spec: &RunSpec, title: &str, suffix: &str) -> Result<(Summary, usize), Failure> {
        let summary = self.measure(spec, &self.outputs.named(suffix), &heading_of(title))?;
        complete(&summary)?;
        if summary.stopped_early {
            let sentence = "stopped early: the remaining runs were not started, and the earlier ones are not combined";
            return Err(Failure::Measurement(sentence.to_owned()));
        }
        let missed = missed(&summary);
        Ok((summary, missed))
    }

    /// Measures and reports one run under a title, and judges nothing.
    ///
    /// # Errors
    /// The run could not begin or failed.
    pub fn measure_titled(&self, spec: &RunSpec, title: &str) -> Result<Summary, Failure> {
        self.measure(spec, &self.outputs, &heading_of(title))
    }

    fn measure(&self, spec: &RunSpec, outputs: &Outputs, title: &[String]) -> Result<Summary, Failure> {
        let (communicator, run_id, topic) = begin(spec)?;
        let mut reports = Reports::open(outputs, spec, &run_id, &topic, None)?;
        reports.lines(title)?;
        reports.lines(&heading(spec, &topic, &own_process()))?;
        name_logs(&mut reports, outputs)?;
        reports.lines(&legend(outputs.tables))?;
        let mut summary =
            coordinator::run(spec, &communicator, coordinator::plans(spec, &topic), &mut reports, &self.interrupt)?;
        let ending =
            if summary.stopped_early { "Stopped early. Exiting." } else { "Maximum runtime reached. Exiting." };
        reports.lines(&[ending.to_owned()])?;
        summary.warnings.extend(summary.figure_warnings(spec));
        summary.requirements = self.requirements.iter().map(|requirement| requirement.judge(&summary)).collect();
        summary.warnings.extend(reports.finish(&summary));
        reports.lines(&summary.lines(spec))?;
        let verdicts = &summary.requirements;
        reports.lines(&verdicts.iter().map(|verdict| format!("  required      {verdict}")).collect::<Vec<String>>())?;
        if outputs.plot {
            // The run is valid without its picture, and the log allows to draw it again.
            match plot::write_beside_each(outputs) {
                Ok(pictures) => {
                    let named = pictures.iter().map(|picture| format!("plot: {}", picture.display()));
                    reports.lines(&named.collect::<Vec<String>>())?;
                }
                Err(sentence) => print_to_stderr([sentence]),
            }
        }
        if !outputs.console {
            print_to_stderr(&summary.warnings);
            print_to_stderr(verdicts);
        }
        Ok(summary)
    }
}

/// The title of one of several runs, as lines of text.
fn heading_of(title: &str) -> [String; 3] {
    [String::new(), format!("=== {title} ==="), String::new()]
}

/// Measures one run without any output. `rows` gets the number of messages sent in each second after it.
///
/// # Errors
/// The run could not begin or failed.
pub fn measure_quietly(spec: &RunSpec, interrupt: &Interrupt, rows: Option<Sender<u64>>) -> Result<Summary, Failure> {
    let (communicator, _, topic) = begin(spec)?;
    coordinator::run(spec, &communicator, coordinator::plans(spec, &topic), &mut Reports::quiet(rows), interrupt)
}

/// Measures one run whose only output is the full log at `log`, if one is named.
///
/// # Errors
/// The run could not begin or failed.
pub fn measure_to_log(spec: &RunSpec, log: Option<PathBuf>, interrupt: &Interrupt) -> Result<Summary, Failure> {
    let (communicator, run_id, topic) = begin(spec)?;
    let outputs = Outputs { full: log, ..Outputs::default() };
    let mut reports = Reports::open(&outputs, spec, &run_id, &topic, None)?;
    let mut summary = coordinator::run(spec, &communicator, coordinator::plans(spec, &topic), &mut reports, interrupt)?;
    summary.warnings.extend(summary.figure_warnings(spec));
    summary.warnings.extend(reports.finish(&summary));
    Ok(summary)
}

/// The middleware of a run, its id and the full name of its topic. Removes the files of an earlier run that was killed.
fn begin(spec: &RunSpec) -> Result<(Communicator, String, String), Failure> {
    let communicator = Communicator::find(&spec.communicator).map_err(Failure::Usage)?;
    let run_id = random_id()?;
    let topic = full_name(&spec.topic, spec.is_private().then_some(&run_id));
    communicator.clean_up(spec).map_err(Failure::Measurement)?;
    Ok((communicator, run_id, topic))
}

/// Prints the names of the logs. A name that was generated here is printed even if the console shows nothing else.
fn name_logs(reports: &mut Reports, outputs: &Outputs) -> Result<(), Failure> {
    for (kind, log) in [("CSV", &outputs.csv), ("JSON", &outputs.json), ("full", &outputs.full)] {
        if let Some(path) = log {
            let line = format!("{kind} log: {}", path.display());
            if outputs.log_named_here && !outputs.console {
                print_to_stderr([&line]);
            }
            reports.lines(&[line, String::new()])?;
        }
    }
    Ok(())
}

fn print_to_stderr(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    for line in lines {
        // Fails only if the console has gone.
        let _ = writeln!(std::io::stderr().lock(), "perf_test: {}", printable(&line.to_string(), &['\n', '\t']));
    }
}

/// The failure of a run whose figures are worthless, or whose logs are not complete.
fn complete(summary: &Summary) -> Result<(), Failure> {
    let why = summary.failure.clone().or_else(|| summary.cut_logs());
    why.map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
}

/// The number of requirements that a run did not meet.
fn missed(summary: &Summary) -> usize {
    summary.requirements.iter().filter(|verdict| !verdict.met).count()
}

/// An id that no other run has.
///
/// # Errors
/// [`Failure::Measurement`]: the kernel has no random number.
pub fn random_id() -> Result<String, Failure> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Failure::Measurement(format!("the kernel returned no random number for the run: {error}")))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_another_id() {
        let (one, other) = (random_id().unwrap(), random_id().unwrap());
        assert_eq!((one.len(), one == other), (16, false));
    }
}
