//! One run as its users see it: heading, tables, logs, summary, pictures, and whether it met what was required.
//!
//! Used by `program`, once or several times with the same settings.

use std::io::Write;

use crate::communicator::Communicator;
use crate::coordinator;
use crate::error::Failure;
use crate::interrupt::Interrupt;
use crate::report::heading::{heading, legend};
use crate::report::outputs::Outputs;
use crate::report::summary::Summary;
use crate::report::{Reports, plot};
use crate::requirement::Requirement;
use crate::run_spec::RunSpec;
use crate::topic::full_name;
use crate::verdict::Verdict;

/// What is the same in all runs of a command.
#[derive(Debug)]
pub struct Session {
    /// Where results go.
    pub outputs: Outputs,
    /// What each run must reach.
    pub requirements: Vec<Requirement>,
    /// Whether someone wants it to end.
    pub interrupt: Interrupt,
}

impl Session {
    /// Measures once, and says all that there is to say.
    ///
    /// # Errors
    /// The run could not begin, failed, or did not meet what was required.
    pub fn once(&self, spec: &RunSpec) -> Result<(), Failure> {
        let (summary, verdicts) = self.measure(spec, &self.outputs, &[])?;
        judge(&summary, &verdicts)
    }

    /// Measures one of several runs, whose logs have `suffix` in their names; it must be whole. Also says how many requirements it did
    /// not meet: the others are run nonetheless.
    ///
    /// # Errors
    /// The run could not begin or failed; or it was ended early, and then the others are not to be begun.
    pub fn one_of_several(&self, spec: &RunSpec, title: &str, suffix: &str) -> Result<(Summary, usize), Failure> {
        let title = [String::new(), format!("=== {title} ==="), String::new()];
        let (summary, verdicts) = self.measure(spec, &self.outputs.named(suffix), &title)?;
        judge(&summary, &[])?;
        if summary.stopped_early {
            let sentence =
                "stopped early: the runs that are left were not begun, and those before are not put together";
            return Err(Failure::Measurement(sentence.to_owned()));
        }
        Ok((summary, verdicts.iter().filter(|verdict| !verdict.met).count()))
    }

    fn measure(&self, spec: &RunSpec, outputs: &Outputs, title: &[String]) -> Result<(Summary, Vec<Verdict>), Failure> {
        let communicator = Communicator::find(&spec.communicator).map_err(Failure::Usage)?;
        let run_id = random_id()?;
        let topic = full_name(&spec.topic, spec.is_private().then_some(&run_id));
        // Also takes away what an earlier run left that was killed.
        communicator.clean_up(spec).map_err(Failure::Measurement)?;
        let mut reports = Reports::open(outputs, spec, &run_id, &topic)?;
        reports.lines(title)?;
        reports.lines(&heading(spec, &topic))?;
        name_logs(&mut reports, outputs)?;
        reports.lines(&legend(outputs.tables))?;
        let mut summary = coordinator::run(spec, &communicator, &topic, &mut reports, &self.interrupt)?;
        let ending =
            if summary.stopped_early { "Stopped early. Exiting." } else { "Maximum runtime reached. Exiting." };
        reports.lines(&[ending.to_owned()])?;
        let verdicts: Vec<Verdict> = self.requirements.iter().map(|requirement| requirement.judge(&summary)).collect();
        summary.run_warnings.extend(reports.finish(&summary, verdicts.clone()));
        reports.lines(&summary.lines())?;
        reports.lines(&verdicts.iter().map(|verdict| format!("  required      {verdict}")).collect::<Vec<String>>())?;
        if outputs.plot {
            // The run is good without its picture, and its log is there to draw it again.
            match plot::write_beside_each(outputs) {
                Ok(pictures) => {
                    let named = pictures.iter().map(|picture| format!("plot: {}", picture.display()));
                    reports.lines(&named.collect::<Vec<String>>())?;
                }
                Err(sentence) => say_on_stderr([sentence]),
            }
        }
        if !outputs.console {
            say_on_stderr(summary.warnings());
            say_on_stderr(&verdicts);
        }
        Ok((summary, verdicts))
    }
}

/// A log whose name was made up here is named also where nothing else is shown: nobody could know it otherwise.
fn name_logs(reports: &mut Reports, outputs: &Outputs) -> Result<(), Failure> {
    for (kind, log) in [("CSV", &outputs.csv), ("JSON", &outputs.json), ("full", &outputs.full)] {
        if let Some(path) = log {
            let line = format!("{kind} log: {}", path.display());
            if outputs.log_named_here && !outputs.console {
                say_on_stderr([&line]);
            }
            reports.lines(&[line, String::new()])?;
        }
    }
    Ok(())
}

fn say_on_stderr(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    for line in lines {
        // If nobody reads it any more, nobody is left to tell.
        let _ = writeln!(std::io::stderr().lock(), "perf_test: {line}");
    }
}

fn judge(summary: &Summary, verdicts: &[Verdict]) -> Result<(), Failure> {
    if let Some(sentence) = summary.failure() {
        return Err(Failure::Measurement(sentence));
    }
    match verdicts.iter().filter(|verdict| !verdict.met).count() {
        0 => Ok(()),
        count => Err(Failure::NotMet(format!("{count} of {} requirements not met", verdicts.len()))),
    }
}

fn random_id() -> Result<String, Failure> {
    let mut bytes = [0_u8; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Failure::Measurement(format!("the system gives no random number for the run: {error}")))?;
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
