//! Many clients call a service while processes are killed. A request must not fail if a server answered it. Run it with
//! `cargo run --release -p soak --bin service_soak`.
//!
//! Servers and clients are processes; a process has up to ten clients, each in a thread. Every second client is hot: it
//! calls without a pause. The other clients are slow: they send a few requests, and look for responses every few
//! milliseconds. The program kills and restarts servers and processes of clients at random. It exits with 1 and an
//! error text in four cases: a response is wrong; a request fails although not all of its servers have ended; more
//! requests fail because of ended servers than were in flight at the kills; files are left behind.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod client;
mod coordinator;
mod counts;
mod server;

use clap::{Parser, ValueEnum};
use std::{error::Error, process::ExitCode};

/// Calls a service by many clients, and kills servers and clients.
#[derive(Clone, Debug, Parser)]
struct Arguments {
    /// Number of calls that are answered before the run ends
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// Number of clients, half of them hot
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    clients: u64,
    /// Number of servers
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10))]
    servers: u64,
    /// Number of kills, at about equal numbers of calls
    #[arg(long, default_value_t = 20)]
    kills: u64,
    /// Seed of the choice of what is killed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Role of this process; used by the program itself
    #[arg(long, hide = true)]
    role: Option<Role>,
    /// Number of the first client of this process
    #[arg(long, hide = true, default_value_t = 0)]
    first: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    Server,
    Clients,
}

type AnyResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SERVICE: &str = "service_soak";
/// The number of requests that a slow client keeps in flight.
const SLOW_IN_FLIGHT: u64 = 3;
/// The number of clients in one process.
const CLIENTS_PER_PROCESS: u64 = 10;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.role {
        None => coordinator::run(&arguments),
        Some(Role::Server) => server::run(),
        Some(Role::Clients) => client::run(&arguments),
    };
    if let Err(error) = result {
        eprintln!("service_soak: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Starts a thread that reads standard input. The thread ends when the coordinator closes this input.
fn until_told() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| {
        // The copy ends when the coordinator closes the pipe.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    })
}
