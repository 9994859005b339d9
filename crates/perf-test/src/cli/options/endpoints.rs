//! The options about middleware, endpoints and topic.

use clap::Args;

use super::LONGEST_S;
use crate::cli::values::{choice, setting, strategy, within};
use perf_worker::run_spec::{MockScript, Roundtrip, Strategy};

/// Publishers, subscriptions and their processes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Endpoints")]
pub struct EndpointOptions {
    /// Middleware: Gantry, Mock, or the NAME of a worker program perf_test_NAME [default: Gantry]
    ///
    /// perf_test looks for worker programs in its own folder and on the PATH. Mock is no middleware: it delays, drops
    /// or damages messages as --mock says, for tests of perf_test itself. Example: -c Mock
    #[arg(short, long, value_name = "NAME", visible_alias = "communication")]
    pub communicator: Option<String>,
    /// Script of -c Mock: the latency, losses and defects of its messages [default: latency=1ms]
    ///
    /// A word that is not valid makes perf_test list all words. Example, latency 2 ms and every tenth message lost: -c
    /// Mock --mock latency=2ms,lose=10
    #[arg(long, value_name = "SCRIPT")]
    pub mock: Option<MockScript>,
    /// A setting of the middleware; repeatable. `perf_test list` shows the settings of each middleware
    ///
    /// Example: --set publishing=async
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// The thread that sends: sync is the thread that publishes, async is a thread of the middleware; the same as --set
    /// publishing=MODE
    ///
    /// Example: --publishing async
    #[arg(long, value_name = "MODE")]
    pub publishing: Option<String>,
    /// Number of publishers, 0 to 64; 0 measures the publishers of another program [default: 1]
    ///
    /// Example: -p 0 -t camera
    #[arg(short = 'p', long, value_name = "COUNT", value_parser = within(0..=64), allow_hyphen_values = true)]
    pub num_pub_threads: Option<u32>,
    /// Number of subscriptions, 0 to 1000; 0 measures only publishers, whose subscriptions are in another program
    /// [default: 1]
    ///
    /// Each subscription has its own process by default; -e changes this. Example: -s 3
    #[arg(short = 's', long, value_name = "COUNT", value_parser = within(0..=1000), allow_hyphen_values = true)]
    pub num_sub_threads: Option<u32>,
    /// Topic name [default: test_topic]
    ///
    /// A run with both publishers and subscriptions adds a private part to the name, so no other program matches. With
    /// -p 0 or -s 0 the topic has exactly this name. Example: -t camera/image
    #[arg(short, long, value_name = "NAME")]
    pub topic: Option<String>,
    /// ROS 2 domain ID, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    ///
    /// Example: --dds-domain-id 7
    #[arg(long, value_name = "ID", value_parser = within(0..=232), allow_hyphen_values = true)]
    pub dds_domain_id: Option<u32>,
    /// Processes and threads of publishers and subscriptions [default: INTER_PROCESS]
    ///
    /// INTRA_THREAD requires one publisher and at least one subscription. performance_test's default was INTER_THREAD.
    /// Example: -e INTER_THREAD
    #[arg(short, long, value_name = "STRATEGY", ignore_case = true, value_parser = strategy())]
    pub execution_strategy: Option<Strategy>,
    /// Sends messages to a relay and back, or requests to a service; latencies are round-trip times [default: None]
    ///
    /// Main and Relay are for two commands, which together measure one round trip; Both does it in one command. Main
    /// and Both have one publisher and one subscription. Service has one server, and -p is the number of its clients.
    /// Example: --roundtrip-mode Both
    #[arg(long, value_name = "MODE", value_parser = choice::<Roundtrip>(), ignore_case = true)]
    pub roundtrip_mode: Option<Roundtrip>,
    /// Publishers that each subscription waits for before the start, 0 to 64 [default: the value of -p]
    ///
    /// Example, for a publisher in another program: -p 0 --expected-num-pubs 1
    #[arg(long, value_name = "COUNT", value_parser = within(0..=64), allow_hyphen_values = true)]
    pub expected_num_pubs: Option<u32>,
    /// Subscriptions that each publisher waits for before the start, 0 to 1000 [default: the value of -s]
    ///
    /// Example, for two subscriptions in other programs: -s 0 --expected-num-subs 2
    #[arg(long, value_name = "COUNT", value_parser = within(0..=1000), allow_hyphen_values = true)]
    pub expected_num_subs: Option<u32>,
    /// Seconds to wait for matched endpoints before the run fails [default: 30]
    ///
    /// Example: --wait-for-matched-timeout 5
    #[arg(long, value_name = "S", value_parser = within(0..=LONGEST_S), allow_hyphen_values = true)]
    pub wait_for_matched_timeout: Option<u32>,
}
