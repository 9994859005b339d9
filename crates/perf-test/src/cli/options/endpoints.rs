//! Who takes part, over which middleware, and where.

use clap::Args;

use super::LONGEST_S;
use crate::cli::values::{StrategyParser, within};
use crate::run_spec::MockScript;
use crate::run_spec::{Roundtrip, Strategy};

/// Options about publishers, subscriptions and their processes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Who and where")]
pub struct EndpointOptions {
    /// Middleware: Gantry, Mock, or the NAME of a worker program perf_test_NAME [default: Gantry]
    ///
    /// A worker program lies beside perf_test or on the PATH. Mock is no middleware: it does to messages what --mock says,
    /// so that the instrument itself can be tested. Example: -c Mock
    #[arg(short, long, value_name = "NAME", visible_alias = "communication")]
    pub communicator: Option<String>,
    /// What -c Mock does to the messages [default: latency=1ms]
    ///
    /// An unknown word is answered with all that there are. Example, 2 ms, and every tenth is lost:
    /// -c Mock --mock latency=2ms,lose=10
    #[arg(long, value_name = "SCRIPT")]
    pub mock: Option<MockScript>,
    /// Publishers, 0 to 64; 0 measures another program's [default: 1]
    ///
    /// Example: -p 0 -t camera
    #[arg(short = 'p', long, value_name = "COUNT", value_parser = within(0..=64), allow_hyphen_values = true)]
    pub num_pub_threads: Option<u32>,
    /// Subscriptions, 0 to 1000; 0 leaves them to another program [default: 1]
    ///
    /// Each in a process of its own, if -e does not say otherwise. Example: -s 3
    #[arg(short = 's', long, value_name = "COUNT", value_parser = within(0..=1000), allow_hyphen_values = true)]
    pub num_sub_threads: Option<u32>,
    /// Topic [default: test_topic]
    ///
    /// A run with publishers and subscriptions has the topic for itself; with -p 0 or -s 0 it is shared with other programs.
    /// Example: -t camera/image
    #[arg(short, long, value_name = "NAME")]
    pub topic: Option<String>,
    /// ROS 2 domain, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    ///
    /// Example: --dds-domain-id 7
    #[arg(long, value_name = "ID", value_parser = within(0..=232), allow_hyphen_values = true)]
    pub dds_domain_id: Option<u32>,
    /// Where publishers and subscriptions run [default: INTER_PROCESS]
    ///
    /// INTRA_THREAD needs one publisher and at least one subscription. performance_test's default was INTER_THREAD.
    /// Example: -e INTER_THREAD
    #[arg(short, long, value_name = "STRATEGY", ignore_case = true, value_parser = StrategyParser)]
    pub execution_strategy: Option<Strategy>,
    /// Whether messages come back: latencies are then there and back [default: None]
    ///
    /// Main and Relay are two commands, Both is one. Main and Both have one publisher and one subscription.
    /// Example: --roundtrip-mode Both
    #[arg(long, value_name = "MODE", ignore_case = true)]
    pub roundtrip_mode: Option<Roundtrip>,
    /// Publishers that each subscription waits for before the start, 0 to 64 [default: as many as -p says]
    ///
    /// Example, for a publisher in another program: -p 0 --expected-num-pubs 1
    #[arg(long, value_name = "COUNT", value_parser = within(0..=64), allow_hyphen_values = true)]
    pub expected_num_pubs: Option<u32>,
    /// Subscriptions that each publisher waits for before the start, 0 to 1000 [default: as many as -s says]
    ///
    /// Example, for two subscriptions in other programs: -s 0 --expected-num-subs 2
    #[arg(long, value_name = "COUNT", value_parser = within(0..=1000), allow_hyphen_values = true)]
    pub expected_num_subs: Option<u32>,
    /// How long they wait before the run fails, seconds [default: 30]
    ///
    /// Example: --wait-for-matched-timeout 5
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub wait_for_matched_timeout: Option<u32>,
}
