//! The runner does one run and shows it to the user: heading, tables, logs, summary, plots and verdicts.

use std::io::Write;
use std::sync::mpsc::Sender;

use gantry::printable;

use crate::{
    common::{error::Failure, interrupt::Interrupt, topic::full_name, verdict::Verdict, warning::Warning},
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
use perf_worker::{run_spec::RunSpec, worker::protocol::Plan};

/// One run, with or without a topology: its options, processes, outputs and checks.
pub struct Run<'a> {
    /// The options of the run, all with a value.
    pub spec: &'a RunSpec,
    /// The middleware.
    pub communicator: &'a Communicator,
    /// The plan of each worker.
    pub plans: Vec<Plan>,
    /// The console and the logs to which the run is reported.
    pub reports: Reports,
    /// The lines that are printed before the first row.
    pub heading: Vec<String>,
    /// Returns warnings that only this kind of run has; `Summary::figure_warnings` returns all others.
    pub warnings: &'a dyn Fn(&Summary) -> Vec<Warning>,
    /// Returns the verdicts on the summary, in which all figures and warnings are complete.
    pub verdicts: &'a dyn Fn(&Summary) -> Vec<Verdict>,
    /// Returns the lines that are printed after the last row.
    pub ending: &'a dyn Fn(&Summary) -> Vec<String>,
}

impl Run<'_> {
    /// Measures, judges and reports the run. The caller may write more lines to the returned reports.
    ///
    /// # Errors
    /// The run could not start or failed.
    pub fn measure(self, interrupt: &Interrupt) -> Result<(Summary, Reports), Failure> {
        let Run { spec, communicator, plans, mut reports, heading, .. } = self;
        reports.lines(&heading)?;
        let mut summary = coordinator::run(spec, communicator, plans, &mut reports, interrupt)?;
        summary.warnings.extend((self.warnings)(&summary));
        summary.warnings.extend(summary.figure_warnings(spec));
        summary.requirements = (self.verdicts)(&summary);
        summary.warnings.extend(reports.finish(&summary));
        reports.lines(&(self.ending)(&summary))?;
        Ok((summary, reports))
    }
}

/// The options that all runs of a command share.
#[derive(Debug)]
pub struct Runner {
    /// The destinations of results.
    pub outputs: Outputs,
    /// The requirements for each run.
    pub requirements: Vec<Requirement>,
    /// Whether warnings and verdicts go to standard error if the console is not an output.
    pub has_messages: bool,
    /// The flag by which the user ends the run early (Ctrl-C).
    pub interrupt: Interrupt,
}

impl Runner {
    /// Measures and reports one run.
    ///
    /// # Errors
    /// The run could not start, failed, or did not meet its requirements.
    pub fn once(&self, spec: &RunSpec) -> Result<(), Failure> {
        all_met(&self.measure(spec, &self.outputs, None)?, "requirements")
    }

    /// Measures one of several runs; `suffix` is part of the names of its logs. Returns the number of requirements that
    /// the run did not meet. This number is no error, so the other runs follow.
    ///
    /// # Errors
    /// The run could not start, failed, ended early, or has no complete logs. After an error the remaining runs must be
    /// left out.
    pub fn one_of_several(&self, spec: &RunSpec, title: &str, suffix: &str) -> Result<(Summary, usize), Failure> {
        let summary = self.measure(spec, &self.outputs.named(suffix), Some(title))?;
        complete(&summary)?;
        if summary.stopped_early {
            let sentence = "stopped early: the remaining runs were not started, and the earlier ones are not combined";
            return Err(Failure::Measurement(sentence.to_owned()));
        }
        let missed = missed(&summary);
        Ok((summary, missed))
    }

    /// Measures and reports one run. The summary has the verdicts on the requirements.
    ///
    /// # Errors
    /// The run could not start or failed.
    pub fn measure(&self, spec: &RunSpec, outputs: &Outputs, title: Option<&str>) -> Result<Summary, Failure> {
        let (communicator, run_id, topic) = begin(spec)?;
        let title = title.map(|title| [String::new(), format!("=== {title} ==="), String::new()]);
        let heading = title.into_iter().flatten().chain(heading(spec, &topic, &own_process()));
        let run = Run {
            spec,
            communicator: &communicator,
            plans: coordinator::plans(spec, &topic),
            reports: Reports::open(outputs, spec, &run_id, &topic, None)?,
            heading: heading.chain(names_of_logs(outputs)).chain(legend(outputs.tables)).collect(),
            warnings: &|_| Vec::new(),
            verdicts: &|run| self.requirements.iter().map(|requirement| requirement.judge(run)).collect(),
            ending: &|summary| {
                let end =
                    if summary.stopped_early { "Stopped early. Exiting." } else { "Maximum runtime reached. Exiting." };
                let verdicts = summary.requirements.iter().map(|verdict| format!("  required      {verdict}"));
                std::iter::once(end.to_owned()).chain(summary.lines(spec)).chain(verdicts).collect()
            },
        };
        let (summary, mut reports) = run.measure(&self.interrupt)?;
        if outputs.plot {
            // A plot that fails is no failure of the run: it can be drawn again from the log.
            match plot::write_beside_each(outputs) {
                Ok(pictures) => {
                    let named = pictures.iter().map(|picture| format!("plot: {}", picture.display()));
                    reports.lines(&named.collect::<Vec<String>>())?;
                }
                Err(sentence) => print_to_stderr([sentence]),
            }
        }
        if self.has_messages && !outputs.console {
            print_to_stderr(&summary.warnings);
            print_to_stderr(&summary.requirements);
        }
        Ok(summary)
    }
}

/// Measures one run without any output. At the end of each second, `rows` gets the number of messages sent in it.
///
/// # Errors
/// The run could not start or failed.
pub fn measure_quietly(spec: &RunSpec, interrupt: &Interrupt, rows: Option<Sender<u64>>) -> Result<Summary, Failure> {
    let (communicator, _, topic) = begin(spec)?;
    coordinator::run(spec, &communicator, coordinator::plans(spec, &topic), &mut Reports::quiet(rows), interrupt)
}

/// Prepares a run: returns its middleware, its id and its full topic name. Removes files that a killed earlier run left
/// behind.
fn begin(spec: &RunSpec) -> Result<(Communicator, String, String), Failure> {
    let communicator = Communicator::find(&spec.communicator).map_err(Failure::Usage)?;
    let run_id = random_id()?;
    let topic = full_name(&spec.topic, spec.is_private().then_some(&run_id));
    communicator.clean_up(spec).map_err(Failure::Measurement)?;
    Ok((communicator, run_id, topic))
}

/// The names of the logs, one line each. If perf_test chose a name, it is printed even if the console is no output.
fn names_of_logs(outputs: &Outputs) -> Vec<String> {
    let logs = [("CSV", &outputs.csv), ("JSON", &outputs.json), ("full", &outputs.full)];
    let named = logs.iter().filter_map(|(kind, log)| Some(format!("{kind} log: {}", log.as_ref()?.display())));
    let named: Vec<String> = named.collect();
    if outputs.log_named_here && !outputs.console {
        print_to_stderr(&named);
    }
    named.into_iter().flat_map(|line| [line, String::new()]).collect()
}

fn print_to_stderr(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    for line in lines {
        // The write fails only if standard error is closed.
        let _ = writeln!(std::io::stderr().lock(), "perf_test: {}", printable(&line.to_string(), &['\n', '\t']));
    }
}

/// Checks that a run has usable figures and complete logs and meets its limits.
///
/// # Errors
/// The figures are unusable, a log is not complete, or a limit is not met. `limits` is the word for limits in the
/// sentence.
pub fn all_met(summary: &Summary, limits: &str) -> Result<(), Failure> {
    complete(summary)?;
    match missed(summary) {
        0 => Ok(()),
        missed => Err(Failure::NotMet(format!("{missed} of {} {limits} not met", summary.requirements.len()))),
    }
}

/// Checks that a run has usable figures and complete logs.
fn complete(summary: &Summary) -> Result<(), Failure> {
    let why = summary.failure.clone().or_else(|| summary.cut_logs());
    why.map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
}

/// The number of requirements that a run did not meet.
fn missed(summary: &Summary) -> usize {
    summary.requirements.iter().filter(|verdict| !verdict.met).count()
}

/// A random id, which no other run has.
///
/// # Errors
/// [`Failure::Measurement`]: the kernel provides no random number.
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
