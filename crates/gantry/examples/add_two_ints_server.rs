//! A service with a callback, a request that is read in place and a response that is written in place. Run it with
//! `cargo run --release -p gantry --example add_two_ints_server`, then run the example `add_two_ints_client`.
//!
//! Like ROS 2's `add_two_ints_server`, the program adds two integers.

mod common;

use clap::Parser;
use gantry::{Executor, Node, Request, Service, SingleThreadedExecutor};
use gantry_msgs::example_interfaces::srv::AddTwoInts;
use std::{process::ExitCode, time::Duration};

/// Adds two integers for each request.
#[derive(Parser)]
struct Arguments {
    /// Name of the service
    #[arg(long, default_value = "add_two_ints")]
    service: String,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> gantry::Result<()> {
    gantry::init()?;
    let node = Node::new("add_two_ints_server")?;
    node.create_service_with_callback::<AddTwoInts>(&arguments.service, |service, request| {
        let (a, b) = (request.a, request.b);
        match answer(service, &request) {
            Ok(()) => eprintln!("add_two_ints_server: {a} + {b}"),
            Err(error) => eprintln!("add_two_ints_server: {a} + {b} was not answered: {error}"),
        }
    })?;
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node)?;
    match arguments.seconds {
        Some(seconds) => executor.spin_until(Duration::from_secs(seconds), &mut || false).map(|_| ()),
        None => executor.spin(),
    }
}

fn answer(service: &mut Service<AddTwoInts>, request: &Request<AddTwoInts>) -> gantry::Result<()> {
    let mut response = service.loan_response(request.id())?; // shared memory
    response.sum = request.a.wrapping_add(request.b);
    Ok(service.send_response(request.id(), response)?)
}
