//! What the program does with its command line, from arguments to exit code.
//!
//! Used by `main` alone. All that goes wrong ends here, once, as a sentence on standard error.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use crate::backend::BUILT_IN;
use crate::cli::{self, Command, Defaults, Outputs, PlotOptions, Question, Resolved, RunOptions, SystemOptions};
use crate::compare::compare;
use crate::coordinator::{self, communicator::Communicator};
use crate::error::Failure;
use crate::experiment::Experiment;
use crate::interrupt::Interrupt;
use crate::report::heading::{heading, legend};
use crate::report::summary::Summary;
use crate::report::terminal::write_lines;
use crate::report::{Reports, cannot_write, plot};
use crate::system::{Description, Noise, System};
use crate::topic::full_name;
use crate::{messages, system, worker};

/// Runs the program: 0 good, 1 the measurement failed, 2 wrong usage.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match cli::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be told if the console is gone.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match cli.command {
        Some(Command::Worker { .. }) => return worker::run(&BUILT_IN),
        Some(Command::Experiment(Question::ZeroCopy(options))) => experiment_zero_copy(&options),
        Some(Command::System(options)) => describe_system(options),
        Some(Command::Plot(options)) => plot_logs(&options),
        None => one_run(&cli.options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr().lock(), "perf_test: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn one_run(options: &RunOptions) -> Result<(), Failure> {
    if options.messages.msg_list {
        return list_messages(options);
    }
    let Resolved { experiment, outputs, runs } = cli::resolve(options, Defaults::Run)?;
    only_once(runs)?;
    let summary = measure(&experiment, &outputs, &Interrupt::install()?, &[])?;
    check(&summary, outputs.console)
}

fn experiment_zero_copy(options: &RunOptions) -> Result<(), Failure> {
    if options.messages.msg_list {
        return list_messages(options);
    }
    let Resolved { experiment, outputs, runs } = cli::resolve(options, Defaults::ZeroCopyExperiment)?;
    only_once(runs)?;
    let interrupt = Interrupt::install()?;
    let mut summaries = Vec::new();
    for (title, suffix, zero_copy) in [
        ("=== run 1 of 2: without zero copy ===", "copy", false),
        ("=== run 2 of 2: with zero copy ===", "zero-copy", true),
    ] {
        let experiment = Experiment { zero_copy, ..experiment.clone() };
        let title = [String::new(), title.to_owned(), String::new()];
        let summary = measure(&experiment, &outputs.named(suffix), &interrupt, &title)?;
        check(&summary, outputs.console)?;
        if summary.stopped_early {
            return Err(Failure::Measurement("stopped early: there are not two whole runs to compare".to_owned()));
        }
        summaries.push(summary);
    }
    match summaries.as_slice() {
        [copy, zero_copy] => write_lines(&compare(copy, zero_copy)).map_err(|error| cannot_write(&error)),
        _ => Ok(()),
    }
}

fn only_once(runs: u32) -> Result<(), Failure> {
    if runs == 1 {
        return Ok(());
    }
    Err(Failure::Usage(format!("--runs {runs}: runs cannot be repeated yet: give --runs 1, or repeat the command")))
}

/// A failed run's sentence. What there is to say about a run is said on standard error if its summary was shown nowhere.
fn check(summary: &Summary, shown: bool) -> Result<(), Failure> {
    if !shown {
        for doubt in summary.doubts() {
            let _ = writeln!(std::io::stderr().lock(), "perf_test: {doubt}");
        }
    }
    summary.failure().map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
}

/// One run with its heading, tables and summary.
fn measure(
    experiment: &Experiment,
    outputs: &Outputs,
    interrupt: &Interrupt,
    title: &[String],
) -> Result<Summary, Failure> {
    let communicator = Communicator::find(&experiment.communicator).map_err(Failure::Usage)?;
    let run_id = random_id()?;
    let topic = full_name(&experiment.topic, experiment.is_private().then_some(&run_id));
    // Also takes away what an earlier run left that was killed.
    communicator.clean_up(experiment).map_err(Failure::Measurement)?;
    let mut reports = Reports::open(outputs, experiment, &run_id, &topic)?;
    reports.lines(title)?;
    reports.lines(&heading(experiment, &topic))?;
    for (kind, log) in [("CSV", &outputs.csv), ("JSON", &outputs.json), ("full", &outputs.full)] {
        if let Some(path) = log {
            let line = format!("{kind} log: {}", path.display());
            if outputs.log_named_here && !outputs.console {
                // Nobody could know the name otherwise.
                let _ = writeln!(std::io::stderr().lock(), "perf_test: {line}");
            }
            reports.lines(&[line, String::new()])?;
        }
    }
    reports.lines(&legend())?;
    let mut summary = coordinator::run(experiment, &communicator, &topic, &mut reports, interrupt)?;
    let ending = if summary.stopped_early { "Stopped early. Exiting." } else { "Maximum runtime reached. Exiting." };
    reports.lines(&[ending.to_owned()])?;
    summary.notes.extend(reports.finish(&summary, Vec::new()));
    reports.lines(&summary.lines())?;
    if outputs.plot {
        for picture in plot::write_beside_each(outputs).map_err(Failure::Measurement)? {
            reports.lines(&[format!("plot: {}", picture.display())])?;
        }
    }
    Ok(summary)
}

fn plot_logs(options: &PlotOptions) -> Result<(), Failure> {
    if options.output.is_some() && options.logs.len() > 1 {
        let n = options.logs.len();
        return Err(Failure::Usage(format!(
            "--output names one picture and {n} logs were given: give one, or leave it out"
        )));
    }
    for log in &options.logs {
        let picture = plot::write(log, options.output.as_deref()).map_err(Failure::Usage)?;
        write_lines(&[format!("plot: {}", picture.display())]).map_err(|error| cannot_write(&error))?;
    }
    Ok(())
}

fn describe_system(options: SystemOptions) -> Result<(), Failure> {
    let found = System::read(&system::root_folder());
    let noise = match options.noise_seconds {
        0 => None,
        length_s => Some(Noise::measure(length_s).map_err(Failure::Measurement)?),
    };
    let advice = system::advice::advice(&found);
    let lines = if options.json {
        let description = Description { system: found, noise, advice };
        let text = serde_json::to_string_pretty(&description);
        vec![text.map_err(|error| Failure::Measurement(format!("cannot write the system as JSON: {error}")))?]
    } else {
        system::text::lines(&found, noise.as_ref(), &advice)
    };
    write_lines(&lines).map_err(|error| cannot_write(&error))
}

fn list_messages(options: &RunOptions) -> Result<(), Failure> {
    let layout = options.messages.message_layout.unwrap_or_default();
    let mut lines =
        vec![format!("messages of the {} layout, sizes in bytes as they are sent, with time and id:", layout.name())];
    let unbounded_bytes = options.messages.unbounded_msg_size.unwrap_or(0);
    lines.extend(messages::list(layout, unbounded_bytes as usize).map(|message| {
        let by_option = if message.content.is_unbounded() {
            format!(", with --unbounded-msg-size {unbounded_bytes}")
        } else {
            String::new()
        };
        format!("  {:<20}{:>9}  {}{by_option}", message.name, message.bytes, message.type_name)
    }));
    write_lines(&lines).map_err(|error| cannot_write(&error))
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
