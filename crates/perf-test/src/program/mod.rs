//! The program, from arguments to exit code. Each failure is printed here, once, as a sentence on standard error.

mod listing;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use gantry::printable;
use serde::Serialize;

use crate::{
    backend::BUILT_IN,
    cli::{
        self, Command, CompareOptions, Compared, ConditionsCommand, ConditionsOptions, ConformanceOptions, IdlOptions,
        ListOptions, PlotOptions, Question, ReportOptions, Resolved, RunOptions, SweepOptions, SystemOptions,
        VersusOptions,
    },
    common::{error::Failure, interrupt::Interrupt},
    experiments::{
        conditions, middlewares, page,
        results_file::Results,
        scale,
        sweep::{self, Preset, matrix},
    },
    judge::{
        comparison::{Comparison, FolderComparison},
        repeat::repeated,
    },
    program::listing::{Listing, message_lines},
    report::{cannot_write, plot, terminal::write_lines},
    run::{check::Conformance, coordinator::daemon::become_daemon, runner::Runner, topology::TopologyRun},
    system::{self, Description, Noise, System},
    topology::Topology,
};
use perf_worker::worker;
use perf_worker_gantry::messages;

/// Runs the program. Exit codes: 0 success; 1 the measurement failed; 2 wrong usage; 3 a requirement is not met, or a
/// regression is beyond its bound.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // A worker has no options; it gets its orders on standard input.
    if arguments.get(1).is_some_and(|verb| verb == "worker") {
        return ExitCode::from(worker::run(&BUILT_IN));
    }
    // Restores settings of the machine that a killed run has changed, even if this command line turns out to be wrong.
    // A daemon restores nothing, because it belongs to a run that may have changed settings itself.
    if arguments.get(1).is_none_or(|verb| verb != "daemon") {
        restore_settings();
    }
    if let Some(sentence) = cli::notice(&arguments) {
        let _ = writeln!(std::io::stderr().lock(), "perf_test: {sentence}");
    }
    let cli = match cli::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    let done = match cli.command {
        Some(Command::Daemon { parent, command }) => Err(become_daemon(parent, &command)),
        Some(Command::Run(options)) => one_run(&options),
        Some(Command::Sweep(question)) => experiment(question),
        Some(Command::Compare(Compared::Logs(options))) => compare_logs(&options),
        Some(Command::Compare(Compared::Middlewares(options))) => compare_contestants(&options),
        Some(Command::Compare(Compared::Conditions(options))) => compare_conditions(&options),
        Some(Command::System(options)) => describe_system(options),
        Some(Command::Plot(options)) => plot_logs(&options),
        Some(Command::Report(options)) => report(&options),
        Some(Command::Check(options)) => check_conformance(&options),
        Some(Command::Topology(options)) => TopologyRun::run(&options),
        Some(Command::Scale(options)) => scale::measure(&options).and_then(Results::print),
        Some(Command::Micro { arguments }) => Err(become_micro(&arguments)),
        Some(Command::List(options)) => list(&options),
        Some(Command::Idl(options)) => print_idl(&options),
        None => one_run(&cli.options),
    };
    exit_code("perf_test", done)
}

/// Prints the help or an error of the command line. Returns the exit code.
#[must_use]
pub fn wrong_usage(error: &clap::Error) -> ExitCode {
    // The write fails only if the console is closed.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints a failure after the name of the program. Returns the exit code.
#[must_use]
pub fn exit_code(program: &str, done: Result<(), Failure>) -> ExitCode {
    let Err(failure) = done else { return ExitCode::SUCCESS };
    let sentence = failure.to_string(); // may contain texts from files and other programs
    let _ = writeln!(std::io::stderr().lock(), "{program}: {}", printable(&sentence, &['\n', '\t']));
    ExitCode::from(failure.exit_code())
}

/// Restores settings of the machine that a killed run has changed, and prints a sentence for each.
fn restore_settings() {
    for sentence in conditions::restore_left(&system::root_folder()) {
        let _ = writeln!(std::io::stderr().lock(), "perf_test: {sentence}");
    }
}

fn one_run(options: &RunOptions) -> Result<(), Failure> {
    if options.messages.msg_list {
        return print_messages(options);
    }
    let Resolved { spec, outputs, runs, requirements } = cli::resolve(options)?;
    let runner = Runner { outputs, requirements, has_messages: true, interrupt: Interrupt::install()? };
    if runs == 1 {
        return runner.once(&spec);
    }
    // These are no rounds of a batch: each run prints its rows and its summary, and the first failure ends the command.
    let (mut summaries, mut not_met) = (Vec::new(), 0);
    for run in 1..=runs {
        let title = format!("run {run} of {runs}");
        let (summary, count) = runner.one_of_several(&spec, &title, &format!("run{run}"))?;
        summaries.push(summary);
        not_met += count;
    }
    print_lines(&repeated(&summaries))?;
    if not_met > 0 {
        return Err(Failure::NotMet(format!("{not_met} requirements not met in {runs} runs")));
    }
    Ok(())
}

fn experiment(question: Question) -> Result<(), Failure> {
    let results = match question {
        Question::ZeroCopy(options) => preset_results(&sweep::ZERO_COPY, &options),
        Question::Sizes(options) => preset_results(&sweep::SIZES, &options),
        Question::Types(options) => preset_results(&sweep::TYPES, &options),
        Question::Matrix(options) => matrix::measure(&sweep::MATRIX, options.file.as_deref(), &options.sweep).map(Some),
    }?;
    results.map_or(Ok(()), Results::print)
}

/// Does the runs of a preset and returns their results; none if the user asks only for the list of messages.
fn preset_results(preset: &Preset, options: &SweepOptions) -> Result<Option<Results>, Failure> {
    if let Some(run) = options.asks_for_messages() {
        return print_messages(&run).map(|()| None);
    }
    matrix::measure(preset, None, options).map(Some)
}

/// Prints the result of a command. `-o none` does not suppress it.
fn print_lines(lines: &[String]) -> Result<(), Failure> {
    write_lines(lines).map_err(|error| cannot_write(&error))
}

fn plot_logs(options: &PlotOptions) -> Result<(), Failure> {
    if options.output.is_some() && options.logs.len() > 1 {
        let n = options.logs.len();
        return Err(Failure::Usage(format!(
            "--output names one picture and {n} logs were given: give one log, or leave out --output"
        )));
    }
    for log in &options.logs {
        let picture = plot::write(log, options.output.as_deref()).map_err(Failure::Usage)?;
        print_lines(&[format!("plot: {}", picture.display())])?;
    }
    Ok(())
}

fn report(options: &ReportOptions) -> Result<(), Failure> {
    let written = page::report(&options.folder, options.output.as_deref(), options.markdown.as_deref());
    let written = written.map_err(Failure::Usage)?;
    print_lines(&written.iter().map(|file| format!("report: {}", file.display())).collect::<Vec<String>>())
}

fn describe_system(options: SystemOptions) -> Result<(), Failure> {
    let found = System::read(&system::root_folder());
    let noise = match options.noise_seconds {
        0 => None,
        length_s => Some(Noise::measure(length_s).map_err(Failure::Measurement)?),
    };
    let advice = system::advice::advice(&found);
    let found = Description { system: found, noise, advice };
    let lines = || system::text::lines(&found.system, found.noise.as_ref(), &found.advice);
    print_result(options.json, &found, lines)
}

/// Prints a result as one JSON object or as lines of text.
fn print_result(as_object: bool, result: &impl Serialize, lines: impl FnOnce() -> Vec<String>) -> Result<(), Failure> {
    print_lines(&if as_object { vec![as_json(result)?] } else { lines() })
}

fn print_idl(options: &IdlOptions) -> Result<(), Failure> {
    let text = messages::idl(&options.msg, options.message_layout.unwrap_or_default()).map_err(Failure::Usage)?;
    print_lines(&text.lines().map(str::to_owned).collect::<Vec<_>>())
}

fn compare_logs(options: &CompareOptions) -> Result<(), Failure> {
    let (base, new) = options.sides().map_err(Failure::Usage)?;
    if let ([base], [new]) = (base, new)
        && base.is_dir()
        && new.is_dir()
    {
        let comparison = FolderComparison::of_folders(base, new, &options.fail_above).map_err(Failure::Usage)?;
        print_result(options.json, &comparison, || comparison.lines())?;
        return not_exceeded(&comparison.exceeded());
    }
    let comparison = Comparison::of_logs(base, new, &options.fail_above).map_err(Failure::Usage)?;
    print_result(options.json, &comparison, || comparison.lines())?;
    not_exceeded(&comparison.exceeded())
}

fn not_exceeded<S: std::borrow::Borrow<str>>(exceeded: &[S]) -> Result<(), Failure> {
    if exceeded.is_empty() { Ok(()) } else { Err(Failure::NotMet(exceeded.join("; "))) }
}

fn compare_contestants(options: &VersusOptions) -> Result<(), Failure> {
    if options.run.messages.msg_list {
        return print_messages(&options.run);
    }
    middlewares::measure(options)?.print()
}

fn compare_conditions(options: &ConditionsOptions) -> Result<(), Failure> {
    match &options.command {
        Some(ConditionsCommand::Merge(options)) => conditions::merge(options),
        None => conditions::measure(options),
    }?
    .print()
}

/// Replaces this process by `perf_micro` (exec). Returns only on failure.
fn become_micro(arguments: &[OsString]) -> Failure {
    let beside = std::env::current_exe().map(|path| path.with_file_name("perf_micro"));
    let program = beside.unwrap_or_else(|_| "perf_micro".into());
    let error = std::process::Command::new(&program).args(arguments).exec();
    Failure::Usage(format!(
        "perf_test micro cannot start {}: {error}; `cargo build --release -p perf-micro -p gantry-agent` builds it",
        program.display()
    ))
}

fn check_conformance(options: &ConformanceOptions) -> Result<(), Failure> {
    let interrupt = Interrupt::install()?;
    let conformance = Conformance::check(options, &interrupt, &mut |check| {
        if options.json { Ok(()) } else { print_lines(&check.lines()) }
    })?;
    print_result(options.json, &conformance, || vec![conformance.total()])?;
    conformance.failure().map_or(Ok(()), |sentence| Err(Failure::Measurement(sentence)))
}

fn list(options: &ListOptions) -> Result<(), Failure> {
    if !options.topology.is_empty() {
        let topology = Topology::read(&options.topology).map_err(Failure::Usage)?;
        return print_result(options.json, &topology, || topology.lines());
    }
    let layout = options.message_layout.unwrap_or_default();
    let listing = Listing::new(layout);
    let lines = || [listing.lines(), message_lines(layout, 0), listing.topology_lines()].concat();
    print_result(options.json, &listing, lines)
}

fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| without_controls(&text))
        .map_err(|error| Failure::Measurement(format!("cannot write the result as JSON: {error}")))
}

/// Escapes the control characters in the texts of `json`. JSON permits some of them, but a terminal would interpret
/// them.
fn without_controls(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_control() && c != '\n' {
            true => text += &format!("\\u{:04x}", u32::from(c)),
            false => text.push(c),
        }
    }
    text
}

fn print_messages(options: &RunOptions) -> Result<(), Failure> {
    let unbounded_bytes = options.messages.unbounded_msg_size.unwrap_or(0);
    print_lines(&message_lines(options.messages.message_layout.unwrap_or_default(), unbounded_bytes))
}
