//! A subscription with a callback that reads a text in place, and an executor that ends after a number of messages. Run it
//! with `cargo run --release -p gantry --example listener`, beside the example `talker`.
//!
//! As ROS 2's `demo_nodes_cpp listener`, it prints the messages on `/chatter`.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Executor, Node, Qos, SingleThreadedExecutor};
use gantry_msgs::std_msgs::String as Text;
use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::*},
    },
    time::Duration,
};

/// Prints the messages of a topic of texts.
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
    // Arguments after `--ros-args` are for the node.
    common::report(run(&Arguments::parse_from(std::env::args().take_while(|argument| argument != "--ros-args"))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let node = Node::builder("listener").ros_arguments(std::env::args()).build()?;
    let count = Arc::new(AtomicU64::new(0));
    let heard = count.clone();
    node.create_subscription_with_callback::<Text>(&arguments.topic, Qos::default(), move |message| {
        println!("I heard: '{}'", message.data());
        heard.fetch_add(1, Relaxed);
    })?;
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node)?;
    let timeout = arguments.seconds.map_or(Duration::MAX, Duration::from_secs);
    let is_enough =
        executor.spin_until(timeout, &mut || arguments.count.is_some_and(|wanted| count.load(Relaxed) >= wanted))?;
    match arguments.count {
        Some(wanted) if !is_enough => {
            let (count, topic) = (count.load(Relaxed), &arguments.topic);
            Err(format!("{count} of {wanted} messages came on {topic}; is a talker running, in the same domain?")
                .into())
        }
        _ => Ok(()),
    }
}
