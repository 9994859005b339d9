//! `gantry-agent`: connects microcontrollers that speak DDS-XRCE with Gantry.
//!
//! It logs to standard error. The exit code is 0 after SIGINT or SIGTERM, 1 after an error, 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // it panics on a closed pipe

use clap::{Args, CommandFactory, Parser, Subcommand};
use gantry::MAX_DOMAIN_ID;
use gantry_agent::{Agent, Can, CanTiming, Config, Level, Limits, Result, Serial, Tcp, Types, Udp};
use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, mpsc},
    time::Duration,
};

/// Connects microcontrollers that speak DDS-XRCE (micro-ROS) with Gantry's topics and services.
#[derive(Debug, Parser)]
#[command(name = "gantry-agent", version, disable_help_subcommand = true)]
struct Cli {
    /// Put all clients into this domain, 0 to 232 [default: the domain that each client asks for]
    #[arg(long, global = true, value_name = "ID", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_DOMAIN_ID)))]
    domain: Option<u32>,
    /// A folder of packages (DIR/<package>/msg/*.msg) with types beyond ROS 2's standard ones; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    definitions: Vec<PathBuf>,
    /// The most clients at once
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = Limits::default().clients)]
    max_clients: usize,
    /// Log the clients and objects that come and go, too
    #[arg(long, short, global = true)]
    verbose: bool,
    /// Log the counters of each client so often
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    statistics: Option<u64>,
    #[command(subcommand)]
    transport: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Clients over UDP
    Udp(Network),
    /// Clients over TCP
    Tcp(Network),
    /// Clients on a serial line, which may be pulled out and plugged in again
    Serial {
        /// The device, as /dev/ttyUSB0
        device: PathBuf,
        /// The speed, in bits per second
        #[arg(long, short, default_value_t = 115_200)]
        baud: u32,
    },
    /// Clients on a pseudoterminal, whose path is printed: for emulators
    Pty,
    /// Clients on a bus of CAN FD: of SocketCAN, or simulated for kernels without it
    Can(Bus),
}

/// An address of this machine.
#[derive(Clone, Copy, Debug, Args)]
struct Network {
    /// The port
    #[arg(long, short, default_value_t = 8888)]
    port: u16,
    /// The address of this machine at which clients connect
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::UNSPECIFIED))]
    address: IpAddr,
}

/// A bus of CAN FD.
#[derive(Debug, Args)]
struct Bus {
    /// The interface of SocketCAN, as can0
    #[arg(required_unless_present = "simulated")]
    interface: Option<String>,
    /// Host a simulated bus instead, at this new socket, to which programs on this machine connect as its nodes
    #[arg(long, value_name = "PATH", conflicts_with = "interface")]
    simulated: Option<PathBuf>,
    /// The nominal bit rate of the simulated bus, in bits per second, 10000 to 1000000
    #[arg(long, value_name = "RATE", requires = "simulated", default_value_t = 500_000)]
    bitrate: u32,
    /// The data bit rate of the simulated bus, in bits per second, --bitrate to 8000000 [default: --bitrate, without a bit rate switch]
    #[arg(long, value_name = "RATE", requires = "simulated")]
    dbitrate: Option<u32>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::Can(bus) = &cli.transport
        && let Err(error) = bus.timing()
    {
        Cli::command().error(clap::error::ErrorKind::ValueValidation, error).exit();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error, if anybody reads it.
fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn run(cli: Cli) -> Result<()> {
    // From now on, signals end the program in order.
    gantry::init_with_arguments([])?;
    let (sender, shutdown) = mpsc::channel();
    gantry::on_shutdown(move || {
        let _ = sender.send(()); // the program may have ended by an error
    });
    let mut types = Types::standard();
    if !cli.definitions.is_empty() {
        types = types.with_folders(&cli.definitions)?;
    }
    let is_verbose = cli.verbose;
    let agent = Agent::new(Config {
        domain_id: cli.domain,
        types: Arc::new(types),
        limits: Limits { clients: cli.max_clients, ..Limits::default() },
        log: Arc::new(move |level, line| match level {
            Level::Warning => log(&format!("warning: {line}")),
            Level::Info if is_verbose => log(line),
            Level::Info => {}
        }),
    })?;
    let _transport = cli.transport.open(&agent)?;
    let period = cli.statistics.map_or(Duration::MAX, Duration::from_secs);
    while shutdown.recv_timeout(period) == Err(mpsc::RecvTimeoutError::Timeout) {
        agent.statistics().iter().for_each(|client| log(&client.to_string()));
    }
    Ok(())
}

impl Command {
    /// Opens the transport. The returned value keeps it open.
    fn open(self, agent: &Agent) -> Result<Box<dyn std::any::Any>> {
        match self {
            Self::Udp(Network { port, address }) => {
                let udp = Udp::open(agent, SocketAddr::new(address, port))?;
                log(&format!("clients connect to UDP {}", udp.address()));
                Ok(Box::new(udp))
            }
            Self::Tcp(Network { port, address }) => {
                let tcp = Tcp::open(agent, SocketAddr::new(address, port))?;
                log(&format!("clients connect to TCP {}", tcp.address()));
                Ok(Box::new(tcp))
            }
            Self::Serial { device, baud } => {
                let serial = Serial::open(agent, &device, baud)?;
                log(&format!("clients are on {} at {baud} baud", device.display()));
                Ok(Box::new(serial))
            }
            Self::Pty => {
                let serial = Serial::pseudoterminal(agent)?;
                // The path is the program's output, for scripts.
                let _ = writeln!(std::io::stdout(), "{}", serial.path().display());
                Ok(Box::new(serial))
            }
            Self::Can(bus) => Ok(Box::new(bus.open(agent)?)),
        }
    }
}

impl Bus {
    /// That of the simulated bus.
    fn timing(&self) -> Result<CanTiming> {
        CanTiming::new(self.bitrate, self.dbitrate.unwrap_or(self.bitrate))
    }

    fn open(self, agent: &Agent) -> Result<Can> {
        if let Some(interface) = self.interface {
            let can = Can::open(agent, &interface)?;
            log(&format!("clients are on {interface}"));
            return Ok(can);
        }
        let timing = self.timing()?;
        let path = self.simulated.unwrap_or_default(); // required if there is no interface
        let can = Can::simulated(agent, &path, timing)?;
        let (nominal, data) = (timing.nominal_bits_per_s(), timing.data_bits_per_s());
        log(&format!("clients are on the simulated CAN bus {} ({nominal} bit/s, data {data} bit/s)", path.display()));
        Ok(can)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
