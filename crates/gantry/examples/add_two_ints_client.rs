//! A client: asks for a sum, as ROS 2's `add_two_ints_client` does.
//!
//! `cargo run --release -p gantry --example add_two_ints_client -- 2 3`. Shown here: waiting for a service, a call with a time-out, and
//! what is said when there is no server or it dies.

mod common;

use clap::Parser;
use gantry::Node;
use gantry_msgs::example_interfaces::srv::AddTwoInts;
use std::{process::ExitCode, time::Duration};

/// Asks a server for the sum of two integers.
#[derive(Parser)]
#[command(allow_negative_numbers = true)]
struct Arguments {
    /// One of them
    a: i64,
    /// The other
    b: i64,
    /// Name of the service
    #[arg(long, default_value = "add_two_ints")]
    service: String,
    /// How long to wait for the server, and again for the answer
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse()).map(|sum| eprintln!("the sum is {sum}")))
}

fn run(arguments: &Arguments) -> gantry::Result<i64> {
    let timeout = Duration::from_secs(arguments.seconds);
    let mut client = Node::new("add_two_ints_client")?.create_client::<AddTwoInts>(&arguments.service)?;
    client.wait_for_service(timeout)?; // if there is none, the request says so
    let mut request = client.loan_request()?; // shared memory
    (request.a, request.b) = (arguments.a, arguments.b);
    Ok(client.call(request, timeout)?.sum)
}
