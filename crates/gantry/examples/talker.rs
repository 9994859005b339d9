//! A talker, as ROS 2's `demo_nodes_cpp talker`: says hello on `/chatter`, on a timer.
//!
//! `cargo run --release -p gantry --example talker`, and `--example listener` beside it. Shown here: a timer with a callback, a text that
//! is written where its readers read it, and an executor.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Executor, Node, Publisher, Qos, SingleThreadedExecutor};
use gantry_msgs::std_msgs::{String as Text, StringShape};
use std::{process::ExitCode, time::Duration};

/// Says hello.
#[derive(Parser)]
struct Arguments {
    /// Where to publish
    #[arg(long, default_value = "/chatter")]
    topic: String,
    /// Milliseconds between two messages
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    period: u64,
    /// How long to run [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

fn main() -> ExitCode {
    // What follows `--ros-args` is for the node.
    common::report(run(&Arguments::parse_from(std::env::args().take_while(|argument| argument != "--ros-args"))))
}

fn run(arguments: &Arguments) -> gantry::Result<()> {
    let node = Node::builder("talker").ros_arguments(std::env::args()).build()?;
    let mut publisher = node.create_publisher::<Text>(&arguments.topic, Qos::default())?;
    let mut count = 0;
    node.create_timer_with_callback(Duration::from_millis(arguments.period), move |_| {
        count += 1;
        match say(&mut publisher, &format!("Hello World: {count}")) {
            Ok(()) => println!("Publishing: 'Hello World: {count}'"),
            Err(error) => eprintln!("talker: {error}"),
        }
    })?;
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node)?;
    match arguments.seconds {
        Some(seconds) => executor.spin_until(Duration::from_secs(seconds), &mut || false).map(|_| ()),
        None => executor.spin(),
    }
}

fn say(publisher: &mut Publisher<Text>, data: &str) -> gantry::Result<()> {
    let message = publisher.loan_with(StringShape { data })?; // shared memory, with the text in it
    publisher.publish(message)?;
    Ok(())
}
