//! The options of `compare conditions`, which measures a plan, and of `compare conditions merge`, which merges the
//! results of several boots.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::within;

/// The text at the end of the help.
pub const AFTER_HELP: &str = "\
Keys of PLAN, a YAML file:
  rounds      how often each run is done under each condition [default: 6, from which on intervals hold with 95 %]
  runs        a map from labels to the arguments of a single run (defaults: --warmup 1 --max-runtime 3), or to `topology` and its arguments
  executors   a list of executors; each topology runs in each of them that its middleware has
  conditions  a list of `baseline` (the machine as it is) and of maps with a name and these settings:
    changed while the machine runs, and always restored
      governor            the frequency governor of all CPUs
      cpu_dma_latency_us  the longest wake-up time of idle CPUs; 0 is what idle=poll does from boot on
      isolate             CPUs of an isolated partition (control group v2), in which perf_test and its workers run
      taskset             CPUs on which perf_test and its workers run
      chrt                their scheduling policy: `fifo PRIORITY` or `rr PRIORITY`
      pin                 CPUs of the endpoints' threads in turn, as --pin
    recognised; a condition whose boot this is not is skipped, with the way to it
      boot                parameters of the kernel's command line, as `isolcpus=2-3 nohz_full=2-3 idle=poll`
      driver              the frequency driver, as amd-pstate
      kernel              a part of the kernel's release, as lowlatency

Exit codes:
  0  good
  1  a run has no figures under a condition, the command ended early, or a setting could not be restored; the table is written
  2  the plan is wrong, or a setting may not be changed; nothing was started

Example:
  rounds: 6
  runs:
    gantry: -c Gantry -m Array1k -r 1000 --max-runtime 10
    cyclonedds: -c cyclonedds -m Array1k -r 1000 --max-runtime 10
  conditions:
    - baseline
    - {name: performance, governor: performance}
    - {name: awake, governor: performance, cpu_dma_latency_us: 0}
    - {name: rr_pinned, taskset: 0-3, chrt: rr 1}
    - {name: isolcpus, boot: isolcpus=2-3 nohz_full=2-3, taskset: 2-3, chrt: rr 1}

Example of whole robots, executors x conditions:
  runs: {robot: topology sierra_nevada -t 30}
  executors: [single, multi, events]
  conditions: [baseline, {name: awake, cpu_dma_latency_us: 0}, {name: isolated, isolate: 2-3, chrt: rr 1}]

  perf_test compare conditions plan.yaml --results nuc            then, after each boot, the same command again
  perf_test compare conditions merge nuc other-kernel --output all";

/// The options of `compare conditions`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub struct ConditionsOptions {
    /// Merges folders of results instead of measuring.
    #[command(subcommand)]
    pub command: Option<ConditionsCommand>,
    /// YAML with `runs`, `conditions` and `rounds` [example: plan.yaml]
    #[arg(value_name = "PLAN", required = true)]
    pub plan: Option<PathBuf>,
    /// Folder for the logs of all runs, conditions.txt, conditions.csv and conditions.json [default: PLAN-results]
    ///
    /// A run is not repeated if the folder has its log from this boot and from these programs. Example: --results nuc
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Repeats runs whose logs are in the folder of results
    #[arg(long)]
    pub again: bool,
    /// Number of rounds, instead of the number in the plan, 1 to 1000 [example: --rounds 10]
    #[arg(long, value_name = "COUNT", value_parser = within(1..=1000), allow_hyphen_values = true)]
    pub rounds: Option<u32>,
}

/// The subcommand of `compare conditions`.
#[derive(Clone, Debug, Subcommand)]
pub enum ConditionsCommand {
    /// Compares the results in several folders, for example of several boots, kernels or plans with the same runs.
    ///
    /// Rounds of one condition in several folders are merged if the boot and the settings of the machine are the same:
    /// kernel, driver, governor, frequencies, idle, isolation, scheduling and command line. Otherwise they count as
    /// separate conditions.
    Merge(ConditionsMergeOptions),
}

/// The options of `compare conditions merge`.
#[derive(Clone, Debug, Args)]
pub struct ConditionsMergeOptions {
    /// Folders of results of `perf_test compare conditions PLAN` [example: generic lowlatency]
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Folder for conditions.txt, conditions.csv and conditions.json [example: --output all]
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
