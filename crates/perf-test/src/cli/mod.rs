//! The command line of the program, with the option names of performance_test.
//!
//! `options` declares the options, `values` parses their values, and `legacy` has the spellings and options of older
//! performance_test versions. `resolve` turns all of them into one checked [`Resolved`].

mod check;
mod compare;
mod conditions;
mod irobot;
mod legacy;
mod middlewares;
mod options;
mod report;
mod resolve;
mod scale;
mod sweep;
mod topology;
pub mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use check::ConformanceOptions;
pub use compare::CompareOptions;
pub use conditions::{ConditionsCommand, ConditionsMergeOptions, ConditionsOptions};
pub use irobot::IrobotOptions;
pub use middlewares::VersusOptions;
pub use options::{Output, OutputOptions, RunOptions};
use perf_worker::run_spec::Layout;
pub use report::ReportOptions;
pub use resolve::{
    Resolved, check_message, check_shared, outputs_of_several, qos, resolve, resolve_for, with_zero_copy,
};
pub use scale::ScaleOptions;
pub use sweep::{Axis, BatchOptions, Choice, MatrixOptions, SweepOptions};
pub use topology::{ROW_MS, TopologyOptions};
use values::{choice, within};

/// Measures publish and subscribe between real processes: latency, losses, CPU time and memory.
///
/// Without a subcommand, perf_test does one run. It accepts the options of all performance_test versions, also with `_`
/// for `-` (`--keep_last`). -h shows one line for each option, --help shows the full descriptions.
#[derive(Debug, Parser)]
#[command(name = "perf_test", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(max_term_width = 110, after_help = AFTER_HELP)]
pub struct Cli {
    /// The subcommand; without one, the program does one run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of one run.
    #[command(flatten)]
    pub options: RunOptions,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  good
  1  the measurement failed, or a check of conformance
  2  wrong usage; nothing was started
  3  a requirement (--require) was not met, or a regression is beyond its bound (compare --fail-above)

Examples:
  perf_test --max-runtime 10                      Array128 at 1000 Hz from one process to another
  perf_test -s 3 -m Array4m -r 100 --zero-copy --reliable --history-depth 10 --max-runtime 30
  perf_test --warmup 2 --max-runtime 10 --require 'p99<500us' --require 'lost=0'
  perf_test --runs 5 --max-runtime 10 -l run.csv --plot
  perf_test compare logs --base main-*.json --new branch-*.json --fail-above 'p50=10%'
  perf_test compare middlewares -c Gantry,zenoh,fastdds:best      several middlewares side by side
  perf_test topology sierra_nevada -x events      a whole robot: ten nodes, in an executor
  perf_test scale                                 the cost of 10 to 1000 nodes, and what this machine holds
  perf_test micro memory                          the memory of a microcontroller's publishers and subscriptions
  perf_test micro throughput                      a microcontroller's client over serial, USB, TCP, UDP
  perf_test report results                        writes results/report.html from the logs in this folder
  perf_test sweep sizes -c Gantry,zenoh           latency over the size of the message, with the knee
  perf_test sweep -m Array1k,Array4m -r 100,1000  every combination
  perf_test compare conditions plan.yaml          runs under several settings of the machine
  perf_test check -c NAME                         before the first measurement of another middleware
  perf_test --roundtrip-mode Both -m Array64 --max-runtime 10
  perf_test -p 0 -t camera --expected-num-pubs 1  and in another terminal:
  perf_test -s 0 -t camera --max-runtime 10

Migrating from performance_test, ros2-performance or TogetheROS.Bot: see docs/guide/coming-from-performance-test.md";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Does one run, as perf_test does without a subcommand.
    Run(Box<RunOptions>),
    /// Measures runs with several values of an option: sizes, types, with and without zero copy, or every combination.
    ///
    /// The subcommand; `matrix` if none is given.
    #[command(subcommand, disable_help_subcommand = true)]
    Sweep(Question),
    /// Compares logs of two versions, middlewares, or settings of the machine.
    ///
    /// The subcommand; `logs` if none is given.
    #[command(subcommand, disable_help_subcommand = true)]
    Compare(Compared),
    /// Describes this machine, measures its noise, and recommends settings for measurements.
    System(SystemOptions),
    /// Draws logs as SVG: latency over time and by percentile, CPU and memory over time.
    Plot(PlotOptions),
    /// Shows a folder of results as one HTML page: tables, plots, settings, machine and warnings, and the single runs
    /// behind each point of a plot.
    ///
    /// The page needs no network and no other file. It contains every log of --full-logfile in the folder and its
    /// subfolders.
    #[command(after_help = report::AFTER_HELP)]
    Report(ReportOptions),
    /// Checks that a middleware moves messages as it declares: do this before you trust its figures.
    ///
    /// About twenty short runs check that each message arrives once, in order and intact; that loans are not copied;
    /// that losses are counted; that a late subscription gets the samples that its durability promises; that settings
    /// have an effect; and that a killed process leaves no files.
    #[command(after_help = check::AFTER_HELP)]
    Check(Box<ConformanceOptions>),
    /// Runs a system of nodes with their topics and rates, from iRobot's JSON, and measures every topic and
    /// subscription.
    ///
    /// The nodes run in executors of the middleware: timers publish and call services, callbacks receive messages and
    /// answer requests.
    #[command(after_help = topology::AFTER_HELP)]
    Topology(Box<TopologyOptions>),
    /// Measures topologies of 10 to 1000 nodes, and estimates the number of nodes that a machine with given cores can
    /// run.
    ///
    /// The topologies are generated. The results are a table and a plot of CPU, memory, latency and start-up time over
    /// the number of nodes; the cost of each node, publisher, subscription and message; and the estimated limit of a
    /// machine. The error of the estimate is measured on topologies that were not used to fit it.
    #[command(after_help = scale::AFTER_HELP)]
    Scale(Box<ScaleOptions>),
    /// Measures microcontrollers and their agent, as micro-ROS's published benchmark does: memory, throughput, latency,
    /// and recovery from faults.
    ///
    /// Starts the program perf_micro, which is built by `cargo build --release -p perf-micro`.
    #[command(disable_help_flag = true)]
    Micro {
        /// The arguments of perf_micro [example: --help]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Lists the middlewares that can be measured, the middlewares whose worker program is missing, the messages, and
    /// the topologies.
    List(ListOptions),
    /// Prints the benchmark messages in OMG IDL, for back ends in C, C++ or Python.
    Idl(IdlOptions),
    /// Turns this process into a daemon of a run. Only perf_test itself starts this subcommand.
    #[command(hide = true)]
    Daemon {
        /// The process id of the coordinator.
        parent: u32,
        /// The program and its arguments.
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
}

/// The options of `system`.
#[derive(Clone, Copy, Debug, Args)]
pub struct SystemOptions {
    /// Prints one JSON object (system, noise, advice) with the units in its names, instead of text
    #[arg(long)]
    pub json: bool,
    /// Seconds to measure the noise of timers, wake-ups and the clock, 0 to 3600; 0 skips it [example: --noise-seconds
    /// 10]
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = within(0..=3600), allow_hyphen_values = true)]
    pub noise_seconds: u32,
}

/// The options of `plot`.
#[derive(Clone, Debug, Args)]
pub struct PlotOptions {
    /// Logs written by --full-logfile, also incomplete ones of killed runs; each picture is written beside its log
    /// [example: run1.full.json]
    #[arg(required = true, value_name = "LOG")]
    pub logs: Vec<PathBuf>,
    /// File for the picture of a single log [example: --output run1.svg]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The options of `idl`.
#[derive(Clone, Debug, Args)]
pub struct IdlOptions {
    /// Message type to print, together with the types of its fields; repeatable [default: all of the layout] [example:
    /// -m Array4m -m Struct16]
    #[arg(short, long, value_name = "NAME")]
    pub msg: Vec<String>,
    /// performance_test version whose message layouts are printed [default: 2.x] [example: --message-layout 1.x]
    #[arg(long, value_name = "LAYOUT", value_parser = choice::<Layout>(), ignore_case = true)]
    pub message_layout: Option<Layout>,
}

/// The options of `list`.
#[derive(Clone, Debug, Args)]
pub struct ListOptions {
    /// Prints one JSON object (middlewares, missing, messages, topologies; or processes, notes) instead of text
    #[arg(long)]
    pub json: bool,
    /// Checks topology files in iRobot's JSON, or named topologies, and lists their nodes with all defaults; several
    /// files are the processes of one system [example: --topology robot.json debug.json]
    #[arg(long, value_name = "FILE|NAME", num_args = 1.., conflicts_with = "message_layout")]
    pub topology: Vec<String>,
    /// performance_test version whose messages are listed [default: 2.x]
    #[arg(long, value_name = "LAYOUT", value_parser = choice::<Layout>(), ignore_case = true)]
    pub message_layout: Option<Layout>,
}

/// The subcommands of `compare`.
#[derive(Debug, Subcommand)]
pub enum Compared {
    /// Compares logs of two versions, each with several runs: the changes with their intervals, and a gate for CI jobs.
    ///
    /// The two versions may have different numbers of runs. Verdicts on median latency and CPU per message need four
    /// runs of each version, verdicts on all figures six. Run the two versions alternately on the same machine.
    #[command(after_help = compare::AFTER_HELP)]
    Logs(CompareOptions),
    /// Compares contestants side by side: latency, CPU time, memory, throughput and losses, with intervals.
    ///
    /// Takes the options of a run, which all contestants share, and -c with commas [default: -c all]. Without -m and -r
    /// there are two cases: 4MB (Array4m at 100 Hz) and 256B (Array256 at 2000 Hz). Defaults: --reliable --keep-last
    /// --history-depth 10 --warmup 1 --max-runtime 3. If a middleware does not support a value, it gets the nearest
    /// value that it supports, and its row mentions this. With 3 rounds or more, each contestant has a warm-up run of
    /// one second.
    #[command(after_help = middlewares::AFTER_HELP)]
    Middlewares(Box<VersusOptions>),
    /// Measures runs under several conditions of this machine (governor, idle states, isolated CPUs, priorities), and
    /// compares them.
    ///
    /// perf_test changes the settings that can be changed without a reboot, and always restores them: after a kill, the
    /// next start of perf_test restores them and prints this. Settings that need a reboot are only recognised. Each
    /// round has every run under every condition. The results are CPU, memory, mean latency, and late, too late and
    /// lost messages of each run under each condition, with intervals, and the best conditions.
    #[command(after_help = conditions::AFTER_HELP)]
    Conditions(ConditionsOptions),
}

/// The subcommands of `sweep`.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Compares runs without zero copy with runs with zero copy.
    ///
    /// A matrix of runs without and with zero copy. Defaults: --reliable --keep-last --history-depth 10 -s 1 -m Array4m
    /// -r 100 --max-runtime 30. The runs with zero copy use the contestant's best settings if its default settings do
    /// not support zero copy. If a middleware does not support a value, both runs get the nearest value that it
    /// supports. --runs 6 means --rounds 6. Logs that the options name are written for each run; -o stdout also shows
    /// each run's tables.
    #[command(after_help = sweep::AFTER_ZERO_COPY)]
    ZeroCopy(Box<SweepOptions>),
    /// Measures latency and messages received for each message size, and finds the size above which latency grows with
    /// the size.
    ///
    /// A matrix with other defaults. Each contestant is measured between processes and within one process
    /// (INTER_THREAD), and, if it has the setting, with sync and with async publishing. Defaults: Array1k to Array8m,
    /// --reliable --keep-last --history-depth 10 -r 1000 --warmup 1 --max-runtime 1. If a middleware does not support a
    /// value, it gets the nearest value that it supports.
    #[command(after_help = sweep::AFTER_SIZES)]
    Sizes(Box<SweepOptions>),
    /// Measures latency and CPU time of all message types.
    ///
    /// A matrix with other defaults: all messages of the layout, --reliable --keep-last --history-depth 10 -r 100
    /// --warmup 1 --max-runtime 1. If a middleware refuses a type, its row shows this.
    #[command(after_help = sweep::AFTER_TYPES)]
    Types(Box<SweepOptions>),
    /// Measures every combination of lists of values, from performance_test's YAML or from the command line.
    ///
    /// FILE is the unchanged YAML of performance_report's runner. An option of a run may have several values, separated
    /// by commas or given repeatedly; options on the command line replace keys of FILE. Each combination is one run.
    /// Its options have the meanings and defaults of a single run, except that the defaults without FILE are --warmup 1
    /// --max-runtime 3.
    #[command(after_help = sweep::AFTER_MATRIX)]
    Matrix(Box<MatrixOptions>),
}

/// Parses the command line.
///
/// # Errors
/// The error of clap. Clap also returns the texts of `--help` and `--version` as an error.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(legacy::verbs::renamed(legacy::spelling::normalise(arguments)))
}

/// The notice that a subcommand of an earlier version has a new name; `None` if the arguments have no such subcommand.
#[must_use]
pub fn notice(arguments: &[OsString]) -> Option<String> {
    legacy::verbs::notice(arguments)
}

/// Parses these arguments as the options of a single run.
///
/// # Errors
/// The reason, as a sentence: an argument is not valid.
pub fn run_options(arguments: &[String]) -> Result<RunOptions, String> {
    let cli = parse_arguments(arguments)?;
    match (cli.command, arguments.first()) {
        (None, _) => Ok(cli.options),
        (Some(_), name) => Err(format!(
            "`{}` is a command of its own, and this is a single run: give the options of a run, such as `-r 100 -m Array1k`",
            name.map_or("it", String::as_str)
        )),
    }
}

/// Parses arguments that begin with `topology`; `None` if they begin with another word.
///
/// # Errors
/// The reason, as a sentence: an argument is not valid.
pub fn topology_options(arguments: &[String]) -> Result<Option<Box<TopologyOptions>>, String> {
    if arguments.first().is_none_or(|name| name != "topology") {
        return Ok(None);
    }
    match parse_arguments(arguments)?.command {
        Some(Command::Topology(options)) => Ok(Some(options)),
        _ => Ok(None),
    }
}

/// Parses these arguments as a command line. The error is a sentence.
fn parse_arguments(arguments: &[String]) -> Result<Cli, String> {
    let line = std::iter::once("perf_test").chain(arguments.iter().map(String::as_str));
    parse(line.map(OsString::from)).map_err(|error| {
        // Only the first paragraph of clap's error is kept, without its first word `error:`. The usage text after it is
        // left out.
        let text = error.to_string();
        let sentence = text.split("\n\n").next().unwrap_or_default();
        sentence.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
    })
}
