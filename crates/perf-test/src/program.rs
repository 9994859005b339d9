//! What the program does with its command line, from arguments to exit code.
//!
//! Used by `main` alone. All that goes wrong ends here, once, as a sentence on standard error.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use crate::backend::BUILT_IN;
use crate::cli::{self, Command, Defaults, Outputs, Question, Resolved, RunOptions, SystemOptions};
use crate::compare::compare;
use crate::coordinator::{self, communicator::Communicator};
use crate::error::Failure;
use crate::experiment::Experiment;
use crate::interrupt::Interrupt;
use crate::repeat::{paired, repeated};
use crate::report::heading::{heading, legend};
use crate::report::summary::Summary;
use crate::report::terminal::write_lines;
use crate::report::{Reports, cannot_write};
use crate::requirement::{Requirement, Verdict};
use crate::system::{Description, Noise, System};
use crate::topic::full_name;
use crate::{messages, system, worker};

/// Runs the program: 0 good, 1 the measurement failed, 2 wrong usage, 3 a requirement was not met.
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
    let interrupt = Interrupt::install()?;
    if runs == 1 {
        let summary = measure(&experiment, &outputs, &interrupt, &[])?;
        return check(&summary, outputs.console);
    }
    let mut summaries = Vec::new();
    for run in 1..=runs {
        let title = title(&format!("run {run} of {runs}"));
        summaries.push(whole(&experiment, &outputs.named(&format!("run{run}")), &interrupt, &title)?);
    }
    say(&repeated(&summaries))
}

fn experiment_zero_copy(options: &RunOptions) -> Result<(), Failure> {
    if options.messages.msg_list {
        return list_messages(options);
    }
    let Resolved { experiment, outputs, runs } = cli::resolve(options, Defaults::ZeroCopyExperiment)?;
    let interrupt = Interrupt::install()?;
    let (mut copy, mut zero_copy) = (Vec::new(), Vec::new());
    for pair in 0..runs {
        // Interleaved, and each pair in the other order: a machine that changes slowly changes both.
        let order = [pair % 2 == 1, pair % 2 == 0];
        for (half, with) in (1..).zip(order) {
            let (what, suffix) = if with { ("with", "zero-copy") } else { ("without", "copy") };
            let suffix = if runs == 1 { suffix.to_owned() } else { format!("{suffix}-run{}", pair + 1) };
            let title = title(&format!("run {} of {}: {what} zero copy", 2 * pair + half, 2 * runs));
            let experiment = Experiment { zero_copy: with, ..experiment.clone() };
            let summary = whole(&experiment, &outputs.named(&suffix), &interrupt, &title)?;
            if with { &mut zero_copy } else { &mut copy }.push(summary);
        }
    }
    match (copy.as_slice(), zero_copy.as_slice()) {
        ([copy], [zero_copy]) => say(&compare(copy, zero_copy)),
        pairs => say(&paired(["copy", "zero copy"], [pairs.0, pairs.1])),
    }
}

fn title(text: &str) -> [String; 3] {
    [String::new(), format!("=== {text} ==="), String::new()]
}

/// One of several runs, to its end.
fn whole(
    experiment: &Experiment,
    outputs: &Outputs,
    interrupt: &Interrupt,
    title: &[String],
) -> Result<Summary, Failure> {
    let summary = measure(experiment, outputs, interrupt, title)?;
    check(&summary, outputs.console)?;
    if summary.stopped_early {
        let sentence = "stopped early: the runs that are left were not begun, and those before are not put together";
        return Err(Failure::Measurement(sentence.to_owned()));
    }
    Ok(summary)
}

/// What several runs say together: that is what they were run for, so it is said even if nothing else is.
fn say(lines: &[String]) -> Result<(), Failure> {
    write_lines(lines).map_err(|error| cannot_write(&error))
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
    Ok(summary)
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
