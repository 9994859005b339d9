//! A client that waits for a service and calls it with a timeout. It prints an error if there is no server, or if the
//! server ends. Run it with `cargo run --release -p gantry --example add_two_ints_client -- 2 3` while the example
//! `add_two_ints_server` runs.
//!
//! Like ROS 2's `add_two_ints_client`, the program requests the sum of two integers.

mod common;

use clap::Parser;
use gantry::Node;
use gantry_msgs::example_interfaces::srv::AddTwoInts;
use std::{process::ExitCode, time::Duration};

/// Requests the sum of two integers from a server.
#[derive(Parser)]
#[command(allow_negative_numbers = true)]
struct Arguments {
    /// First number
    a: i64,
    /// Second number
    b: i64,
    /// Name of the service
    #[arg(long, default_value = "add_two_ints")]
    service: String,
    /// Timeout of the wait for the server, and of the call, in seconds
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()));
    common::report(run(&arguments).map(|sum| eprintln!("the sum is {sum}")))
}

fn run(arguments: &Arguments) -> gantry::Result<i64> {
    let timeout = Duration::from_secs(arguments.seconds);
    gantry::init()?;
    let mut client = Node::new("add_two_ints_client")?.create_client::<AddTwoInts>(&arguments.service)?;
    client.wait_for_service(timeout)?; // without a server, sending the request returns an error
    let mut request = client.loan_request()?; // shared memory
    (request.a, request.b) = (arguments.a, arguments.b);
    Ok(client.call(request, timeout)?.sum)
}
