//! What the run must reach.

use clap::Args;

use crate::requirement::Requirement;

/// Options for CI jobs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Gate")]
pub struct GateOptions {
    /// What the run must reach; repeatable; exit code 3 if one is not met
    ///
    /// An expression is a metric, one of < <= > >= =, and a bound with its unit:
    ///   min mean p50 p90 p99 p99.9 p99.99 max  latency from the stamp: ns us ms s
    ///   response.p99 …                         latency from the schedule: ns us ms s
    ///   lateness.p99 …                         how late messages were sent: ns us ms s
    ///   lost received duplicates reordered     samples
    ///   lost%                                  % of those that were due
    ///   late% too_late%                        % of those received
    ///   rate                                   per second and publisher
    ///   cpu                                    % of one core
    ///   cpu_per_message                        ns us ms s
    ///   rss                                    sum of the workers' peaks: KiB MiB
    ///   warnings                               how many the summary has
    /// What is not known is not met, nor is a percentile with fewer than 10 samples beyond it. Of several runs each must meet it.
    /// Example: --require 'p99<500us' --require lost=0
    #[arg(long, value_name = "EXPR", verbatim_doc_comment)]
    pub require: Vec<Requirement>,
}
