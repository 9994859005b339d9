//! A timer with a callback, a string that is written in shared memory, and an executor. Run it with `cargo run
//! --release -p gantry --example talker`, then run the example `listener`.
//!
//! Like ROS 2's `demo_nodes_cpp talker`, the program publishes a greeting on `/chatter` at a fixed period.

#![expect(clippy::print_stdout, reason = "this is a program")]

use clap::Parser;
use gantry::{Executor, Node, Publisher, Qos, SingleThreadedExecutor};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use std::time::Duration;

/// Publishes a greeting at a fixed period.
#[derive(Parser)]
struct Arguments {
    /// Topic to publish on
    #[arg(long, default_value = "/chatter")]
    topic: String,
    /// Period of the messages in milliseconds
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    period: u64,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

fn main() -> gantry::Result<()> {
    let arguments = Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()));
    gantry::init()?; // Ctrl-C shuts the program down, and the node uses --ros-args
    let node = Node::new("talker")?;
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
