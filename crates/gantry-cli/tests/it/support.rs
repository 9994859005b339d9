//! Runs of the command, and the nodes that it asks.

use gantry::Node;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::Read,
    process::{Command, Stdio},
};
pub use test_support::{PATIENCE, Peer, eventually, tests};

/// A run that has ended.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The output as JSON: one value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

pub fn command(domain_id: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    command.args(arguments).args(["--domain-id", &domain_id.to_string()]);
    command
}

/// Runs the command to its end.
#[track_caller]
pub fn gantry(domain_id: u32, arguments: &[&str]) -> Run {
    run(&mut command(domain_id, arguments))
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The same; the run succeeds, and this is its output.
#[track_caller]
pub fn prints(domain_id: u32, arguments: &[&str]) -> String {
    let run = gantry(domain_id, arguments);
    assert_eq!((run.code, &*run.err), (Some(0), ""), "{arguments:?}: {}", run.out);
    run.out
}

/// The same; the run fails, and this is its error.
#[track_caller]
pub fn fails(domain_id: u32, arguments: &[&str]) -> String {
    let run = gantry(domain_id, arguments);
    assert_eq!(run.code, Some(1), "{arguments:?}: {} {}", run.out, run.err);
    run.err
}

/// Starts the command, to read its lines while it runs; what it writes to standard error is read at its end.
pub fn start(domain_id: u32, arguments: &[&str]) -> Peer {
    Peer::start(command(domain_id, arguments).stderr(Stdio::piped()))
}

/// Ctrl-C; the end is in order, and this is the standard error.
#[track_caller]
pub fn interrupt(mut run: Peer) -> String {
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    let status = run.child.wait().unwrap();
    let mut error = String::new();
    run.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert!(status.success(), "{status}: {error}");
    error
}

pub fn node_in(domain_id: u32, name: &str) -> Node {
    Node::builder(name).domain_id(domain_id).build().unwrap()
}
