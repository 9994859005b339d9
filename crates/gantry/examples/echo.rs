//! The generic API: prints the messages of any topic as YAML, as `ros2 topic echo` does. Run it with
//! `cargo run --release -p gantry --example echo -- /image --no-arr`, beside the example `camera`.
//!
//! Only the topic's name is known: `topic_types` returns the published type with its full definition, a generic subscription
//! takes the bytes, and a dynamic view reads them by the definition.

mod common;

use clap::Parser;
use gantry::{Node, Qos, TypeDescription};
use gantry_cdr::ByteOrder;
use gantry_dynamic::{MessageType, Yaml};
use gantry_idl::{Definitions, TypeName};
use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

/// The pause between two looks for a publisher.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Prints the messages of a topic.
#[derive(Parser)]
struct Arguments {
    /// The topic
    topic: String,
    /// End after the first message
    #[arg(long)]
    once: bool,
    /// Print long texts, arrays and sequences in full
    #[arg(long)]
    full_length: bool,
    /// Print only type and length of arrays and sequences
    #[arg(long)]
    no_arr: bool,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let node = Node::new("echo")?;
    let end = arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
    let description = type_of(&node, &arguments.topic, end)?;
    let name: TypeName = description.name.parse()?;
    let message_type = MessageType::new(&Definitions::from_text(&name, &description.definition)?, &name)?;
    let yaml =
        Yaml { no_arrays: arguments.no_arr, ..if arguments.full_length { Yaml::FULL_LENGTH } else { Yaml::default() } };
    let qos = Qos::default().best_effort();
    let mut subscription = node.create_generic_subscription(&arguments.topic, description, qos)?;
    let mut text = String::new();
    while end.is_none_or(|end| Instant::now() < end) {
        subscription.wait(Duration::from_millis(500))?;
        while let Some(sample) = subscription.take()? {
            let message = message_type.view(sample.bytes(), ByteOrder::LittleEndian)?;
            text.clear();
            yaml.write(&message, &mut text)?;
            match writeln!(io::stdout(), "{text}---") {
                // The reader of the pipe has ended, as `head` does.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
            if arguments.once {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The one type that is published on the topic; waits for a publisher.
fn type_of(node: &Node, topic: &str, end: Option<Instant>) -> Result<TypeDescription, Box<dyn Error>> {
    loop {
        let mut types = node.topic_types(topic)?;
        match (types.pop(), &types[..]) {
            (Some(description), []) => return Ok(description),
            (Some(last), others) => {
                let names: Vec<_> = others.iter().chain([&last]).map(|other| other.name.as_str()).collect();
                return Err(format!("the publishers of {topic} do not agree on its type: {}", names.join(", ")).into());
            }
            (None, _) if end.is_some_and(|end| Instant::now() >= end) => {
                return Err(format!("{topic} has no publisher; is it running, in the same domain?").into());
            }
            (None, _) => thread::sleep(LOOK_AGAIN),
        }
    }
}
