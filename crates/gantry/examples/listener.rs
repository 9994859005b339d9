//! A subscription with a callback that reads a string in place, and an executor that ends after a number of messages.
//! Run it with `cargo run --release -p gantry --example listener` while the example `talker` runs.
//!
//! Like ROS 2's `demo_nodes_cpp listener`, the program prints the messages on `/chatter`.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Executor, Node, Qos, SingleThreadedExecutor};
use gantry_msgs::std_msgs::msg::String as Text;
use std::{cell::Cell, process::ExitCode, sync::mpsc, time::Duration};

/// Prints the strings that are published on a topic.
#[derive(Parser)]
struct Arguments {
    /// Topic to subscribe to
    #[arg(long, default_value = "/chatter")]
    topic: String,
    /// Number of messages after which the program ends [default: no end]
    #[arg(long)]
    count: Option<u64>,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    gantry::init()?; // Ctrl-C shuts the program down, and the node uses --ros-args
    let node = Node::new("listener")?;
    let (heard, hears) = mpsc::channel();
    node.create_subscription_with_callback::<Text>(&arguments.topic, Qos::default(), move |message| {
        println!("I heard: '{}'", message.data());
        let _ = heard.send(()); // the send fails if the loop below has ended; then the message does not count
    })?;
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node)?;
    let (timeout, count) = (arguments.seconds.map_or(Duration::MAX, Duration::from_secs), Cell::new(0));
    let is_enough = executor.spin_until(timeout, &mut || {
        count.set(count.get() + hears.try_iter().count() as u64);
        arguments.count.is_some_and(|wanted| count.get() >= wanted)
    })?;
    match arguments.count {
        Some(wanted) if !is_enough && gantry::ok() => {
            let (count, topic) = (count.get(), &arguments.topic);
            Err(format!("{count} of {wanted} messages came on {topic}; is a talker running, in the same domain?")
                .into())
        }
        _ => Ok(()),
    }
}
