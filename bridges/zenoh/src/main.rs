//! `gantry-bridge-zenoh`: connects the nodes of a Gantry domain with nodes of other hosts, over Zenoh in the formats of
//! rmw_zenoh.
//!
//! The program logs to standard error. The exit code is 0 after SIGINT or SIGTERM, 1 after an error, 2 for wrong
//! arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics on a closed pipe

mod bridge;
mod config;
mod confinement;
mod network;
mod payload;
mod wire;

use bridge::Bridge;
use clap::Parser;
use config::Endpoints;
use gantry_bridge::{Options, only_bridge};
use gantry_command::{name_program, say};
use network::Network;
use std::{process::ExitCode, thread::sleep, time::Duration};

/// Connects the nodes of a domain with nodes of other hosts, over Zenoh as ROS 2's rmw_zenoh speaks it. The session is
/// configured as rmw_zenoh's: by ZENOH_SESSION_CONFIG_URI (ZENOH_ROUTER_CONFIG_URI with --router) and
/// ZENOH_CONFIG_OVERRIDE
#[derive(Debug, Parser)]
#[command(name = "gantry-bridge-zenoh", version)]
struct Cli {
    /// Connect to this address, as tcp/192.168.7.2:7447; may be repeated [default: tcp/localhost:7447]
    #[arg(long, value_name = "ADDRESS")]
    connect: Vec<String>,
    /// Listen on this address; may be repeated [default: tcp/localhost:0, or tcp/[::]:7447 with --router]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<String>,
    /// Be the Zenoh router of this host, in place of `rmw_zenohd`
    #[arg(long)]
    router: bool,
    #[command(flatten)]
    bridge: Options,
}

fn main() -> ExitCode {
    name_program("gantry-bridge-zenoh");
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    zenoh::try_init_log_from_env(); // `RUST_LOG`
    let policy = cli.bridge.policy()?;
    let config = config::config(&Endpoints { connect: cli.connect, listen: cli.listen, is_router: cli.router })?;
    // The call comes before any thread is started, because Landlock restricts this thread and the threads that it
    // starts later.
    if !confinement::confine(&config.to_string())? {
        say("this kernel has no Landlock, so the bridge may open all files of its user");
    }
    gantry::init_with_arguments([])?;
    let domain_id = cli.bridge.domain_id()?;
    let own = only_bridge(domain_id, cli.bridge.network.as_deref().unwrap_or("zenoh"), cli.bridge.hub)?;
    let Some(network) = connect(&config, domain_id)? else { return Ok(()) };
    say(format_args!("domain {domain_id} is session {} on the network", network.session_id));
    Bridge::new(network, own, policy)?.run()
}

/// Opens the session. A client needs its router for that, and tries again after each error, because the router may
/// start later. Other sessions connect in the background. Returns `None` after a signal.
fn connect(config: &zenoh::Config, domain_id: u32) -> zenoh::Result<Option<Network>> {
    let is_client = config.get_json("mode").is_ok_and(|mode| mode == r#""client""#);
    let mut said = String::new();
    loop {
        match Network::open(config.clone(), domain_id) {
            Err(error) if is_client => {
                let error = error.to_string();
                if error != said {
                    say(format_args!("{error} The bridge tries again; a client needs a running router"));
                    said = error;
                }
                sleep(Duration::from_secs(1));
                if !gantry::ok() {
                    return Ok(None);
                }
            }
            result => return result.map(Some),
        }
    }
}
