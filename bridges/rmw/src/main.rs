//! `gantry-bridge-rmw`: connects the nodes of a Gantry domain with the nodes of another ROS 2 middleware, by loading
//! its RMW.
//!
//! The program logs to standard error. The exit code is 0 after SIGINT or SIGTERM, 1 after an error, 2 for wrong
//! arguments.

#![deny(clippy::print_stderr)] // `eprintln!` panics on a closed pipe
#![deny(unsafe_code)]

mod bridge;
#[expect(unsafe_code, reason = "the C interface of ROS 2's `rmw`; its invariants are R1 to R5")]
mod rmw;

use bridge::Bridge;
use clap::Parser;
use gantry_bridge::only_bridge;
use gantry_command::{name_program, say};
use rmw::{Library, Options};
use std::process::ExitCode;

/// Connects the nodes of a domain with the nodes of another ROS 2 middleware, whose RMW it loads. It needs the
/// environment of a ROS 2 (`source /opt/ros/jazzy/setup.bash`), and is configured as each of its programs: by
/// ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS, ROS_SECURITY_* and the variables of the vendor
#[derive(Debug, Parser)]
#[command(name = "gantry-bridge-rmw", version)]
struct Cli {
    /// The middleware of the other nodes, as rmw_fastrtps_cpp, rmw_cyclonedds_cpp or rmw_zenoh_cpp; or the path of its
    /// library
    #[arg(long, value_name = "NAME")]
    rmw: String,
    /// The domain of the other middleware, 0 to 232 [default: the domain of Gantry]
    #[arg(long, value_name = "ID")]
    network_domain_id: Option<u32>,
    #[command(flatten)]
    bridge: gantry_bridge::Options,
}

fn main() -> ExitCode {
    name_program("gantry-bridge-rmw");
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let policy = cli.bridge.policy()?;
    gantry::init_with_arguments([])?;
    let domain_id = cli.bridge.domain_id()?;
    let options = Options::from_environment(cli.network_domain_id.unwrap_or(domain_id))?;
    let library = Library::load(&cli.rmw)?;
    let network = cli.bridge.network.as_deref().unwrap_or(&library.identifier);
    let own = only_bridge(domain_id, network, cli.bridge.hub)?;
    say(format_args!(
        "domain {domain_id} is bridged to domain {} of {} ({:?}, {})",
        options.domain_id,
        library.identifier,
        library.distribution,
        library.path.display()
    ));
    Bridge::new(library, &options, own, policy)?.run()
}
