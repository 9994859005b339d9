//! The options of the sweeps: `zero-copy`, `sizes`, `types` and `matrix`.
//!
//! Every option of a run that [`RunOptions`] declares may have several values here. The values of one option are an
//! [`Axis`]; they are kept as text. Each combination of values is then parsed as the command line of a single run.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource, value_parser};

use super::{options::RunOptions, values::within};

/// The text at the end of the help of `zero-copy`.
pub const AFTER_ZERO_COPY: &str = "\
Examples:
  perf_test sweep zero-copy                           Gantry: a run without and a run with zero copy, and their ratios
  perf_test sweep zero-copy --runs 6                  six pairs, with intervals
  perf_test sweep zero-copy -c Gantry,iceoryx2,zenoh --runs 6 --max-runtime 5 --results out
                                                           logs, zero-copy.json and zero-copy.md in the folder out";

/// The text at the end of the help of `sizes`.
pub const AFTER_SIZES: &str = "\
The knee is the size from which the latency grows faster, where two lines fit better than one (both axes logarithmic).

Examples:
  perf_test sweep sizes --results out                 Gantry; logs, sizes.json, sizes.md and sizes.svg in the folder out
  perf_test sweep sizes -c Gantry,Gantry:best,fastdds --rounds 3 --results out
  perf_test sweep sizes -m Array1k,Array64k,Array1m -r 100 --max-runtime 5";

/// The text at the end of the help of `types`.
pub const AFTER_TYPES: &str = "\
Examples:
  perf_test sweep types --results out                 Gantry; logs, types.json and types.md in the folder out
  perf_test sweep types -c Gantry,cyclonedds,fastdds -m Array1k,Struct16,PointCloud1m
  perf_test sweep types --message-layout 1.x --max-runtime 5";

/// The text at the end of the help of `matrix`.
pub const AFTER_MATRIX: &str = "\
Values that contain commas (--late, --too-late, --pin, --mock) are never divided: give the option again for each value.
-c takes contestants as `compare middlewares` does: NAME[:best][:SETTING=VALUE]...[:raw][:zero-copy].

Keys of FILE, a list `experiments:` of maps whose values may be lists, with their defaults:
  com_mean rclcpp-single-threaded-executor, process_configuration INTRA_PROCESS (or INTER_PROCESS), execution_strategy INTER_THREAD,
  sample_transport BY_COPY (SHARED_MEMORY, LOANED_SAMPLES), transport (INTRA, INTER; UDP, SHMEM, ZERO_COPY) in place of both,
  msg Array1k, pubs 1, subs 1, rate 100, reliability RELIABLE, durability VOLATILE, history KEEP_LAST, history_depth 16, rt_prio 0,
  rt_cpus 0, prevent_cpu_idle False, max_runtime 30, ignore_seconds 5

Examples:
  perf_test sweep matrix run.yaml --results out       performance_test's runs as they are; the command goes on where it ended
  perf_test sweep matrix run.yaml -c Gantry,zenoh --max-runtime 3
  perf_test sweep matrix -m Array1k,Array4m -r 100,1000 -s 1,3 -c gantry,zenoh";

/// The options whose values may contain commas, so that a comma does not separate two values.
const WITH_COMMAS: [&str; 4] = ["late", "too-late", "pin", "mock"];

/// The number of rounds and the folder of results.
#[derive(Clone, Debug, Args)]
pub struct BatchOptions {
    /// Number of rounds; a round does every run once, and the figures are medians over the rounds
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub rounds: u32,
    /// Folder for the logs of all runs, the results, environment.json and commands.txt
    ///
    /// A run is not repeated if the folder has its log with the same conditions, programs and boot. Example: --results
    /// results/today
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Repeats runs whose logs are in the folder of results, even if their conditions differ
    #[arg(long, requires = "results")]
    pub again: bool,
}

impl SweepOptions {
    /// The options with which `--msg-list` lists the messages; `None` if `--msg-list` is not given.
    #[must_use]
    pub fn asks_for_messages(&self) -> Option<RunOptions> {
        let is_of_list =
            |axis: &&Axis| ["msg-list", "message-layout", "unbounded-msg-size"].contains(&axis.option.as_str());
        let arguments = self.axes.iter().filter(is_of_list).filter_map(|axis| axis.choices.first());
        let arguments: Vec<String> = arguments.flat_map(|choice| choice.arguments.clone()).collect();
        super::run_options(&arguments).ok().filter(|run| run.messages.msg_list)
    }
}

/// One value of an option: its text in tables, and the arguments that select it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value as tables show it.
    pub shown: String,
    /// The arguments of a single run that select this value; empty for the default.
    pub arguments: Vec<String>,
}

/// An option with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The long name of the option, without `--`.
    pub option: String,
    /// The values of the option.
    pub choices: Vec<Choice>,
}

impl Axis {
    /// Creates an axis with one choice for each of `values`.
    #[must_use]
    pub fn of_values(option: &str, values: impl IntoIterator<Item = String>) -> Axis {
        let choice = |value: String| Choice { arguments: vec![format!("--{option}={value}")], shown: value };
        Axis { option: option.to_owned(), choices: values.into_iter().map(choice).collect() }
    }
}

/// The options of `matrix`.
#[derive(Clone, Debug, Args)]
pub struct MatrixOptions {
    /// The options that `matrix` shares with its presets (`zero-copy`, `sizes`, `types`). This field is declared before
    /// `file`, because `SweepOptions` turns every option that is already declared into a list.
    #[command(flatten)]
    pub sweep: SweepOptions,
    /// YAML of performance_test's runs: the key `experiments` with a list of maps [example: run.yaml]
    #[arg(id = "experiments-file", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// The options of `matrix` and of its presets.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// The number of rounds and the folder of results.
    pub batch: BatchOptions,
    /// The options of a run that the user gave, each with its values.
    pub axes: Vec<Axis>,
}

impl Args for SweepOptions {
    fn augment_args(command: Command) -> Command {
        let command = RunOptions::augment_args(command).mut_args(as_list);
        BatchOptions::augment_args(command.next_help_heading("Matrix"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SweepOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let declared = RunOptions::augment_args(Command::new("sweep"));
        let axes = declared.get_arguments().filter_map(|arg| axis(arg, matches)).collect();
        Ok(SweepOptions { batch: BatchOptions::from_arg_matches(matches)?, axes })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Makes an option of a run accept several values. The values stay text; each is parsed later, with the run that has
/// it.
fn as_list(arg: Arg) -> Arg {
    match arg.get_action() {
        ArgAction::Set => arg.action(ArgAction::Append).value_parser(value_parser!(OsString)),
        _ => arg,
    }
}

/// The axis of an option with the given values; `None` if the command line does not have the option.
fn axis(arg: &Arg, matches: &ArgMatches) -> Option<Axis> {
    let (id, option) = (arg.get_id().as_str(), arg.get_long()?);
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return None;
    }
    if !arg.get_action().takes_values() {
        let choice = Choice { shown: "yes".to_owned(), arguments: vec![format!("--{option}")] };
        return Some(Axis { option: option.to_owned(), choices: vec![choice] });
    }
    let given: Vec<String> = matches.get_raw(id)?.map(|value| value.to_string_lossy().into_owned()).collect();
    // Even a single run may repeat this option (such as `--set`). Every run gets all its values, so the axis has one
    // choice.
    if matches!(arg.get_action(), ArgAction::Append) {
        let arguments = given.iter().map(|value| format!("--{option}={value}")).collect();
        let choice = Choice { shown: given.join(" "), arguments };
        return Some(Axis { option: option.to_owned(), choices: vec![choice] });
    }
    let values = given.into_iter().flat_map(|value| match WITH_COMMAS.contains(&option) {
        true => vec![value],
        false => value.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect(),
    });
    Some(Axis::of_values(option, values))
}

#[cfg(test)]
mod tests {
    use super::super::{Command, Question, parse};
    use super::*;

    fn matrix(line: &str) -> MatrixOptions {
        let cli = parse(format!("perf_test sweep matrix {line}").split_whitespace().map(Into::into)).unwrap();
        match cli.command {
            Some(Command::Sweep(Question::Matrix(options))) => *options,
            other => panic!("{other:?}"),
        }
    }

    fn values(options: &SweepOptions) -> Vec<(&str, Vec<&str>)> {
        let shown = |axis: &'_ Axis| axis.choices.iter().map(|choice| choice.shown.clone()).collect::<Vec<_>>();
        options
            .axes
            .iter()
            .map(|axis| (axis.option.as_str(), shown(axis).leak().iter().map(String::as_str).collect()))
            .collect()
    }

    #[test]
    fn options_of_a_run_have_lists_here() {
        let found = matrix(
            "run.yaml --results out -m Array1k,Array4m -r 100 --rate=1000 --zero-copy -c Gantry,Mock:best --again",
        );
        assert_eq!(found.file, Some("run.yaml".into()));
        assert!(found.sweep.batch.again && found.sweep.batch.rounds == 1);
        let expected = vec![
            ("msg", vec!["Array1k", "Array4m"]),
            ("zero-copy", vec!["yes"]),
            ("communicator", vec!["Gantry", "Mock:best"]),
            ("rate", vec!["100", "1000"]),
        ];
        assert_eq!(values(&found.sweep), expected);
        let of_message = &found.sweep.axes[0].choices[1];
        assert_eq!(of_message.arguments, ["--msg=Array4m"]);
    }

    #[test]
    fn values_with_commas_and_repeated_options_stay_whole() {
        let found = matrix("--late 25%,5ms --late 10% --set publishing=async --set size=1 --num_sub_threads 1,3");
        let expected = vec![
            ("set", vec!["publishing=async size=1"]),
            ("num-sub-threads", vec!["1", "3"]),
            ("late", vec!["25%,5ms", "10%"]),
        ];
        assert_eq!(values(&found.sweep), expected);
    }
}
