//! What `ros2 topic echo` does: prints the messages of any topic as YAML, knowing nothing but its name.
//!
//! `cargo run --release -p gantry --example echo -- /image --no-arr`. Shown here: `topic_types` says what is published, with the
//! full definition of the type; a generic subscription takes the bytes; a dynamic view walks them by the definition.

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

/// How long to wait before looking again whether a topic is there.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Prints the messages of a topic.
#[derive(Parser)]
struct Arguments {
    /// The topic
    topic: String,
    /// Ends after the first message
    #[arg(long)]
    once: bool,
    /// Prints all of long texts, arrays and sequences
    #[arg(long)]
    full_length: bool,
    /// Prints only type and length of arrays and sequences
    #[arg(long)]
    no_arr: bool,
    /// How long to run [default: until Ctrl-C]
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
                // Whoever reads has seen enough, as `head` does.
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
                return Err(
                    format!("nobody publishes on {topic}; is its publisher running, in the same domain?").into()
                );
            }
            (None, _) => thread::sleep(LOOK_AGAIN),
        }
    }
}
