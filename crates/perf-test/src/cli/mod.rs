//! The command line: which options there are and what they mean, in performance_test's words.
//!
//! Used by `main` through [`parse`]. `spelling` brings the spellings of all generations to one,
//! `resolve` turns options into checked [`Experiment`](crate::experiment::Experiment)s and outputs.

mod number;
mod resolve;
mod spelling;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::experiment::{Durability, History, Layout, Reliability, Strategy};

use number::within;
pub use resolve::{Defaults, Outputs, resolve};

/// The longest run, seconds.
const LONGEST_S: u32 = 1_000_000_000;
/// The largest payload of a message that has no size of its own.
const LARGEST_PAYLOAD_BYTES: u32 = 1 << 30;

/// Measures publish and subscribe between real processes: latency, losses, CPU and memory.
///
/// Without a subcommand: one run. Options may be written with `_` for `-` (`--keep_last`), as in scripts for
/// performance_test 1.x.
#[derive(Debug, Parser)]
#[command(name = "perf_test", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 good, 1 the measurement failed, 2 wrong usage.\n\n\
    Example: perf_test --zero-copy --reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100 --max-runtime 30")]
pub struct Cli {
    /// What to do instead of one run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of one run.
    #[command(flatten)]
    pub options: RunOptions,
}

/// What the program can do besides one run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Several runs that answer one question.
    #[command(subcommand, disable_help_subcommand = true)]
    Experiment(Question),
    /// Describes this machine, measures its noise, and says what to change before measuring.
    System(SystemOptions),
    /// A worker process of a run; started by the program itself.
    #[command(hide = true)]
    Worker {
        /// What it does, for `ps`.
        label: String,
    },
}

/// The options of `system`.
#[derive(Clone, Copy, Debug, Args)]
pub struct SystemOptions {
    /// Prints one JSON object (system, noise, advice) with the units in its names, instead of text
    #[arg(long)]
    pub json: bool,
    /// Seconds for which timers, wake-ups and the clock are measured, 0 to 3600; 0 leaves it out [example: --noise-seconds 10]
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = within(0..=3600), allow_hyphen_values = true)]
    pub noise_seconds: u32,
}

/// The questions that an experiment answers.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// What does zero copy save? Runs without it, then with it, and compares.
    ///
    /// Takes the options of a run. Default: --reliable --keep-last --history-depth 10 -s 1 -m Array4m -r 100
    /// --max-runtime 30
    ZeroCopy(Box<RunOptions>),
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Tables on the console.
    Stdout,
    /// A CSV log.
    Csv,
    /// A JSON log.
    Json,
    /// Nowhere: only the exit code and errors.
    None,
}

/// The options of one run. Whatever is not given has a default that depends on the command.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Temporary
    #[arg(short, long, value_name = "NAME")]
    pub communicator: Option<String>,
    /// Temporary
    #[arg(long, value_name = "SCRIPT")]
    pub mock: Option<crate::backend::mock::Script>,
    /// Temporary
    #[arg(long)]
    pub roundtrip_mode: Option<crate::experiment::Roundtrip>,
    /// Temporary
    #[arg(long)]
    pub wait_for_matched_timeout: Option<u32>,
    /// Temporary
    #[arg(long)]
    pub expected_num_pubs: Option<u32>,
    /// Temporary
    #[arg(long)]
    pub expected_num_subs: Option<u32>,
    /// Temporary
    #[arg(long)]
    pub touch: Option<crate::experiment::Touch>,
    /// Temporary
    #[arg(long)]
    pub wait: Option<crate::experiment::Wait>,
    /// Temporary
    #[arg(long)]
    pub warmup: Option<u32>,
    /// Message type: performance_test's or iRobot's, which may also be spelt as in topologies (stamped9_float32) [default:
    /// Array128, with --message-layout 1.x Array1k] [example: -m Array4m]
    #[arg(short, long, value_name = "NAME")]
    pub msg: Option<String>,
    /// Lists the messages with their sizes in bytes, and exits
    #[arg(long)]
    pub msg_list: bool,
    /// Payload of UnboundedSequence, UnboundedString and StampedVector in bytes, 0 to 1073741824 [default: 0] [example:
    /// --unbounded-msg-size 65536]
    #[arg(long, value_name = "BYTES", value_parser = within(0..=LARGEST_PAYLOAD_BYTES), allow_hyphen_values = true)]
    pub unbounded_msg_size: Option<u32>,
    /// Generation of the message layouts: Array1k is 1040 bytes in 1.x, 1024 in 2.x; 1.x also adds the loop columns to
    /// CSV logs [default: 2.x]
    #[arg(long, value_name = "LAYOUT", ignore_case = true)]
    pub message_layout: Option<Layout>,
    /// Messages per second of each publisher, 0 to 1000000; 0 is as fast as possible [default: 1000] [example: -r 100]
    #[arg(short, long, value_name = "HZ", value_parser = within(0..=1_000_000), allow_hyphen_values = true)]
    pub rate: Option<u32>,
    /// Publishers, 0 to 64; 0 measures another program's [default: 1] [example: -p 0]
    #[arg(short = 'p', long, value_name = "COUNT", value_parser = within(0..=64), allow_hyphen_values = true)]
    pub num_pub_threads: Option<u32>,
    /// Subscriptions, 0 to 1000; 0 leaves them to another program [default: 1] [example: -s 3]
    #[arg(short = 's', long, value_name = "COUNT", value_parser = within(0..=1000), allow_hyphen_values = true)]
    pub num_sub_threads: Option<u32>,
    /// Topic [default: test_topic] [example: -t camera/image]
    #[arg(short, long, value_name = "NAME")]
    pub topic: Option<String>,
    /// Seconds to run, 0 to 1000000000; 0 is for ever [default: 0] [example: --max-runtime 30]
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub max_runtime: Option<u32>,
    /// Seconds at the beginning to leave out of rows and statistics [default: 0] [example: --ignore 5]
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub ignore: Option<u32>,
    /// Loan messages and read them in place; without it they are copied in on publish and out on take
    #[arg(long, visible_alias = "loaned-samples")]
    pub zero_copy: bool,
    /// Accepted: the messages always go through shared memory
    #[arg(long)]
    pub shared_memory: bool,
    /// INTER_PROCESS: publishers in one process, each subscription in its own; INTER_THREAD: all on threads of one
    /// process [default: INTER_PROCESS]
    #[arg(short, long, value_name = "STRATEGY", ignore_case = true)]
    pub execution_strategy: Option<Strategy>,
    /// Reliability [default: BEST_EFFORT]
    #[arg(long, value_name = "KIND", ignore_case = true)]
    pub reliability: Option<Reliability>,
    /// The same as --reliability RELIABLE
    #[arg(long)]
    pub reliable: bool,
    /// Durability [default: VOLATILE]
    #[arg(long, value_name = "KIND", ignore_case = true)]
    pub durability: Option<Durability>,
    /// The same as --durability TRANSIENT_LOCAL
    #[arg(long)]
    pub transient: bool,
    /// History [default: KEEP_LAST]
    #[arg(long, value_name = "KIND", ignore_case = true)]
    pub history: Option<History>,
    /// The same as --history KEEP_LAST
    #[arg(long)]
    pub keep_last: bool,
    /// Samples that KEEP_LAST keeps, 1 to 1000000 [default: 16] [example: --history-depth 10]
    #[arg(long, value_name = "SAMPLES", value_parser = within(1..=1_000_000), allow_hyphen_values = true)]
    pub history_depth: Option<u32>,
    /// ROS 2 domain, 0 to 232 [default: ROS_DOMAIN_ID, or 0] [example: --dds-domain-id 7]
    #[arg(long, value_name = "ID", value_parser = within(0..=232), allow_hyphen_values = true)]
    pub dds_domain_id: Option<u32>,
    /// Where results go; repeatable [default: stdout] [example: -o stdout -o csv]
    #[arg(short, long, value_name = "WHERE", ignore_case = true)]
    pub output: Vec<Output>,
    /// The same as -o stdout
    #[arg(long)]
    pub print_to_console: bool,
    /// Log file; its suffix says which kind, .csv or .json; without one it is CSV [example: -l run1.csv]
    #[arg(short, long, value_name = "FILE")]
    pub logfile: Option<PathBuf>,
    /// CSV log file; an existing one is replaced [example: --csv-logfile run1.csv]
    #[arg(long, value_name = "FILE")]
    pub csv_logfile: Option<PathBuf>,
    /// JSON log file; an existing one is replaced [example: --json-logfile run1.json]
    #[arg(long, value_name = "FILE")]
    pub json_logfile: Option<PathBuf>,
}

/// Reads the command line.
///
/// # Errors
/// clap's error: help and version too come this way.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(spelling::normalise(arguments))
}
