//! The options, names and numbers that all roles of the program share.

use clap::{Parser, ValueEnum};
use std::error::Error;

/// Calls a service by many clients, and kills servers and clients.
#[derive(Clone, Debug, Parser)]
pub struct Arguments {
    /// Number of calls that are answered before the run ends
    #[arg(long, default_value_t = 1_000_000)]
    pub calls: u64,
    /// Number of clients, half of them hot
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub clients: u64,
    /// Number of servers
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub servers: u64,
    /// Number of kills, at about equal numbers of calls
    #[arg(long, default_value_t = 20)]
    pub kills: u64,
    /// Seed of the choice of what is killed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Role of this process; used by the program itself
    #[arg(long, hide = true)]
    pub role: Option<Role>,
    /// Number of the first client of this process
    #[arg(long, hide = true, default_value_t = 0)]
    pub first: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Role {
    Server,
    Clients,
}

pub type AnyResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

pub const SERVICE: &str = "service_soak";
/// The number of requests that a slow client keeps in flight.
pub const SLOW_IN_FLIGHT: u64 = 3;
/// The number of clients in one process.
pub const CLIENTS_PER_PROCESS: u64 = 10;

/// Starts a thread that reads standard input. The thread ends when the coordinator closes this input.
pub fn until_closed() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| {
        // The copy ends when the coordinator closes the pipe.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    })
}
