//! Calls of a service by many clients, while processes are killed: no request may fail that a server answered. Run
//! it with `cargo run --release -p soak --bin service_soak`.
//!
//! Servers and clients are processes; a process has up to ten clients, each in a thread. Every other client is hot: it
//! calls without a pause. The others are slow: they send a few requests, and look for responses every few
//! milliseconds. The program kills servers and processes of clients at random and starts them again. It exits with 1
//! and a sentence if a response is wrong, if a request fails for another reason than the death of all its servers, if
//! more requests fail because of such deaths than were in flight at the kills, or if files are left behind.

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
/// The number of requests that a slow client has in flight.
const SLOW_IN_FLIGHT: u64 = 3;
/// Clients of one process.
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

/// Starts a thread that reads the process's input and ends when the coordinator closes it.
fn until_told() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| {
        // The coordinator closes the pipe.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    })
}
