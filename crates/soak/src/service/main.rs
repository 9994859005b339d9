//! Many clients call a service while processes are killed. A request must not fail if a server answered it. Run it with
//! `cargo run --release -p soak --bin service_soak`.
//!
//! Servers and clients are processes; a process has up to ten clients, each in a thread. Every second client is hot: it
//! calls without a pause. The other clients are slow: they send a few requests, and look for responses every few
//! milliseconds. The program kills and restarts servers and processes of clients at random. It exits with 1 and an
//! error text in four cases: a response is wrong; a request fails although not all of its servers have ended; more
//! requests fail because of ended servers than were in flight at the kills; files are left behind.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod arguments;
mod client;
mod coordinator;
mod counts;
mod server;

use arguments::{Arguments, Role};
use clap::Parser;
use std::process::ExitCode;

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
