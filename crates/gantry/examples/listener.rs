//! A listener, as ROS 2's `demo_nodes_cpp listener`: prints what it hears on `/chatter`.
//!
//! `cargo run --release -p gantry --example listener`, and `--example talker` beside it. Shown here: a subscription with a callback that
//! reads a text in place, and an executor that ends when there was enough.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Executor, Node, Qos, SingleThreadedExecutor};
use gantry_msgs::std_msgs::String as Text;
use std::{cell::Cell, process::ExitCode, sync::mpsc, time::Duration};

/// Prints what it hears.
#[derive(Parser)]
struct Arguments {
    /// Where to listen
    #[arg(long, default_value = "/chatter")]
    topic: String,
    /// How many messages to wait for [default: no end]
    #[arg(long)]
    count: Option<u64>,
    /// How long to run [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

fn main() -> ExitCode {
    // What follows `--ros-args` is for the node.
    common::report(run(&Arguments::parse_from(std::env::args().take_while(|argument| argument != "--ros-args"))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let node = Node::builder("listener").ros_arguments(std::env::args()).build()?;
    let (heard, hears) = mpsc::channel();
    node.create_subscription_with_callback::<Text>(&arguments.topic, Qos::default(), move |message| {
        println!("I heard: '{}'", message.data());
        let _ = heard.send(()); // nobody counts any more once it ends
    })?;
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node)?;
    let (timeout, count) = (arguments.seconds.map_or(Duration::MAX, Duration::from_secs), Cell::new(0));
    let is_enough = executor.spin_until(timeout, &mut || {
        count.set(count.get() + hears.try_iter().count() as u64);
        arguments.count.is_some_and(|wanted| count.get() >= wanted)
    })?;
    match arguments.count {
        Some(wanted) if !is_enough => {
            let (count, topic) = (count.get(), &arguments.topic);
            Err(format!("{count} of {wanted} messages came on {topic}; is a talker running, in the same domain?")
                .into())
        }
        _ => Ok(()),
    }
}
