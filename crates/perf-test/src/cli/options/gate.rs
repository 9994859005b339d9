//! The requirements that a run must meet.

use clap::Args;

use crate::judge::requirement::Requirement;

/// Options for CI jobs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Gate")]
pub struct GateOptions {
    /// Requirement on the run, as 'p99<500us'; repeatable; exit code 3 if one is not met
    ///
    /// An expression is a metric, one of < <= > >= =, and a bound with its unit:
    ///   min mean p50 p90 p99 p99.9 p99.99 max  latency from the send time: ns us ms s
    ///   response.p99 …                         latency from the time when the message was due: ns us ms s
    ///   lateness.p99 …                         send time after the due time: ns us ms s
    ///   lost received duplicates reordered     samples
    ///   lost%                                  % of the samples that were due
    ///   late% too_late%                        % of the samples received, by the latency from the send time
    ///   late_response% too_late_response%      the same, by the latency from the time when the message was due
    ///   rate                                   messages per second of each publisher
    ///   cpu                                    % of one core, of all workers
    ///   cpu_per_message                        CPU time of all workers and daemons: ns us ms s
    ///   rss                                    sum of the peaks of all workers and daemons: KiB MiB
    ///   warnings                               number of warnings in the summary
    ///
    /// A requirement is not met if its value is unknown, or if it is a percentile with fewer than 10 samples beyond it.
    /// With --runs, each run must meet it. Example: --require 'p99<500us' --require lost=0
    #[arg(long, value_name = "EXPR", verbatim_doc_comment)]
    pub require: Vec<Requirement>,
}
