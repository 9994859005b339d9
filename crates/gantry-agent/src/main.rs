//! `gantry-agent`: connects microcontrollers that speak DDS-XRCE with Gantry.
//!
//! The log goes to standard error. The exit code is 0 after SIGINT or SIGTERM, 1 after an error, 2 for wrong arguments.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)] // `eprintln!` panics if standard error is a closed pipe

use clap::{Args, CommandFactory, Parser, Subcommand};
use gantry::MAX_DOMAIN_ID;
use gantry_agent::{
    Access, Agent, Can, ClientKey, Config, DomainChoice, IpNet, Level, Limits, Log, Result, Serial, Tcp, Types, Udp,
};
use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, mpsc},
    time::Duration,
};

/// Whether the program has the simulated CAN bus, so that the help shows its options.
const HAS_SIMULATED_CAN: bool = cfg!(feature = "simulated-can");

/// Connects microcontrollers that speak DDS-XRCE (micro-ROS) with Gantry's topics and services.
#[derive(Debug, Parser)]
#[command(name = "gantry-agent", version, disable_help_subcommand = true)]
struct Cli {
    /// Put all clients into this domain, 0 to 232; `any`: let each client choose [default: clients may use only the
    /// domain in ROS_DOMAIN_ID (0 if it is not set)]
    #[arg(long, global = true, value_name = "ID|any", value_parser = domain)]
    domain: Option<DomainChoice>,
    /// Accept only clients with these keys, 8 hexadecimal digits each, separated by commas; keys travel in clear text
    /// [default: all]
    #[arg(long, global = true, value_name = "KEYS", value_delimiter = ',', value_parser = key)]
    keys: Vec<ClientKey>,
    /// A folder of packages (DIR/<package>/msg/*.msg) with types beyond ROS 2's standard types; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    definitions: Vec<PathBuf>,
    /// The largest number of clients at the same time
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = Limits::default().clients)]
    max_clients: usize,
    /// The largest number of clients at one IP address
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = Limits::default().clients_of_host)]
    max_clients_per_address: usize,
    /// The largest shared memory for the data that one client publishes, in MiB; for all clients together, four times
    /// as much
    #[arg(long, global = true, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_memory: u32,
    /// The longest silence that a client may choose before the agent asks it for a sign of life
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60))]
    max_silence: u32,
    /// Log each client and each object that comes or goes, too
    #[arg(long, short, global = true)]
    verbose: bool,
    /// Log the counters of each client at this interval
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
    /// Clients on a pseudoterminal, for emulators; prints the path of the pseudoterminal
    Pty,
    /// Clients on a CAN FD bus, whose adapter may be pulled out and plugged in again
    Can(Bus),
}

fn domain(text: &str) -> std::result::Result<DomainChoice, String> {
    let id = || text.parse().ok().filter(|id| *id <= MAX_DOMAIN_ID).map(DomainChoice::Always);
    let domain = if text == "any" { Some(DomainChoice::AsAsked) } else { id() };
    domain.ok_or_else(|| format!("a domain is a number from 0 to {MAX_DOMAIN_ID}, or `any`"))
}

fn key(text: &str) -> std::result::Result<ClientKey, String> {
    let digits = Some(text).filter(|text| text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let key = number.map(|number| ClientKey(number.to_be_bytes()));
    key.ok_or_else(|| "a key has 8 hexadecimal digits, as the log names clients".to_owned())
}

/// Parses a network or a single address.
fn network(text: &str) -> std::result::Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    let network = address.or_else(|_| text.parse::<IpNet>());
    network.map_err(|_| "an address as 192.168.7.20, or a network as 192.168.7.0/24".to_owned())
}

/// An address of this machine at which clients connect.
#[derive(Clone, Debug, Args)]
struct Network {
    /// The port
    #[arg(long, short, default_value_t = 8888)]
    port: u16,
    /// The address of this machine at which clients connect; 0.0.0.0 or :: means all addresses of the machine
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Accept only clients at this address, or in this network such as 192.168.7.0/24; may be repeated [default: all]
    #[arg(long, value_name = "ADDRESS", value_parser = network)]
    allow: Vec<IpNet>,
}

/// The options of a CAN FD bus.
#[derive(Debug, Args)]
struct Bus {
    /// The SocketCAN interface, such as can0
    #[arg(required_unless_present = "simulated")]
    interface: Option<String>,
    /// Simulate a bus instead: create a socket at this path, to which programs on this machine connect as nodes of the
    /// bus
    #[arg(long, value_name = "PATH", conflicts_with = "interface", hide = !HAS_SIMULATED_CAN)]
    simulated: Option<PathBuf>,
    /// The nominal bit rate of the simulated bus, in bits per second, 10000 to 1000000
    #[arg(long, value_name = "RATE", requires = "simulated", default_value_t = 500_000, hide = !HAS_SIMULATED_CAN)]
    bitrate: u32,
    /// The data bit rate of the simulated bus, in bits per second, from --bitrate to 8000000 [default: --bitrate,
    /// without a bit rate switch]
    #[arg(long, value_name = "RATE", requires = "simulated", hide = !HAS_SIMULATED_CAN)]
    dbitrate: Option<u32>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Command::Can(bus) = &cli.transport
        && let Err(sentence) = bus.check()
    {
        Cli::command().error(clap::error::ErrorKind::ValueValidation, sentence).exit();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error. The line is lost if standard error is closed.
fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn run(cli: Cli) -> Result<()> {
    // From here on, a signal ends the program in an orderly way.
    gantry::init_with_arguments([])?;
    let (sender, shutdown) = mpsc::channel();
    gantry::on_shutdown(move || {
        let _ = sender.send(()); // the receiver is gone if the program has already ended with an error
    });
    let mut types = Types::standard();
    if !cli.definitions.is_empty() {
        types = types.with_folders(&cli.definitions)?;
    }
    let domain = match cli.domain {
        Some(choice) => choice,
        None => DomainChoice::Only(gantry::default_domain_id()?),
    };
    let memory_bytes = (cli.max_memory as usize) << 20;
    let networks = match &cli.transport {
        Command::Udp(network) | Command::Tcp(network) => network.allow.clone(),
        _ => Vec::new(),
    };
    let max_level = if cli.verbose { Level::Info } else { Level::Warning };
    let agent = Agent::new(Config {
        domain,
        types: Arc::new(types),
        limits: Limits {
            clients: cli.max_clients,
            clients_of_host: cli.max_clients_per_address,
            writer_bytes: memory_bytes,
            all_writer_bytes: 4 * memory_bytes,
            silence_ms: cli.max_silence * 1000,
            ..Limits::default()
        },
        access: Access { networks, keys: cli.keys },
        log: Arc::new(Log::new(max_level, |level, line| match level {
            Level::Warning => log(&format!("warning: {line}")),
            Level::Info => log(line),
        })),
    })?;
    let _transport = cli.transport.open(&agent)?;
    let period = cli.statistics.map_or(Duration::MAX, Duration::from_secs);
    while shutdown.recv_timeout(period) == Err(mpsc::RecvTimeoutError::Timeout) {
        agent.statistics().iter().for_each(|client| log(&client.to_string()));
    }
    Ok(())
}

impl Command {
    /// Opens the transport. It serves clients until the returned value is dropped.
    fn open(self, agent: &Agent) -> Result<Box<dyn std::any::Any>> {
        match self {
            Self::Udp(network) => {
                let udp = Udp::open(agent, network.socket())?;
                log(&format!("clients connect to UDP {}: {}", udp.address(), network.reach()));
                Ok(Box::new(udp))
            }
            Self::Tcp(network) => {
                let tcp = Tcp::open(agent, network.socket())?;
                log(&format!("clients connect to TCP {}: {}", tcp.address(), network.reach()));
                Ok(Box::new(tcp))
            }
            Self::Serial { device, baud } => {
                let serial = Serial::open(agent, &device, baud)?;
                log(&format!("clients are on {} at {baud} baud", device.display()));
                Ok(Box::new(serial))
            }
            Self::Pty => {
                let serial = Serial::pseudoterminal(agent)?;
                // The path goes to standard output, so that scripts can read it.
                let _ = writeln!(std::io::stdout(), "{}", serial.path().display());
                Ok(Box::new(serial))
            }
            Self::Can(bus) => Ok(Box::new(bus.open(agent)?)),
        }
    }
}

impl Network {
    fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// Describes for the log which programs can connect, and their permissions.
    fn reach(&self) -> String {
        const RIGHTS: &str = "can publish, subscribe and call services as this user";
        if self.address.to_canonical().is_loopback() {
            return format!(
                "each program on this machine {RIGHTS}. For boards on a network, give --address 0.0.0.0; then each \
                 host that reaches the port has these rights (--allow and --keys restrict the clients)"
            );
        }
        let allowed: Vec<String> = self.allow.iter().map(ToString::to_string).collect();
        match allowed.is_empty() {
            true => format!("each host that reaches this port {RIGHTS} (--allow and --keys restrict the clients)"),
            false => {
                format!("each host in {} {RIGHTS}; the sender of a datagram can state any address", allowed.join(", "))
            }
        }
    }
}

impl Bus {
    /// Checks the options of the simulated bus.
    fn check(&self) -> std::result::Result<(), String> {
        if self.simulated.is_none() {
            return Ok(());
        }
        #[cfg(feature = "simulated-can")]
        return self.timing().map(drop).map_err(|error| error.to_string());
        #[cfg(not(feature = "simulated-can"))]
        Err("this gantry-agent was built without the simulated CAN bus: build it with `--features simulated-can`"
            .to_owned())
    }

    fn open(self, agent: &Agent) -> Result<Can> {
        #[cfg(feature = "simulated-can")]
        if let Some(path) = &self.simulated {
            return self.simulate(agent, path);
        }
        let interface = self.interface.unwrap_or_default(); // clap requires the interface if no simulated bus is chosen
        let can = Can::open(agent, &interface)?;
        log(&format!("clients are on {interface}"));
        Ok(can)
    }
}

#[cfg(feature = "simulated-can")]
impl Bus {
    fn timing(&self) -> Result<gantry_agent::CanTiming> {
        gantry_agent::CanTiming::new(self.bitrate, self.dbitrate.unwrap_or(self.bitrate))
    }

    fn simulate(&self, agent: &Agent, path: &std::path::Path) -> Result<Can> {
        let timing = self.timing()?;
        let can = Can::simulated(agent, path, timing)?;
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
