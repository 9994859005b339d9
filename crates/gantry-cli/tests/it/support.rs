//! Functions that run the command, and the nodes that it examines.

use gantry::{Executor, ExecutorHandle, Node, SingleThreadedExecutor};
use rustix::process::{Signal, kill_process};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc::Receiver,
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

/// Runs the command, which has to succeed. Returns its output.
#[track_caller]
pub fn prints(domain_id: u32, arguments: &[&str]) -> String {
    let run = gantry(domain_id, arguments);
    assert_eq!((run.code, &*run.err), (Some(0), ""), "{arguments:?}: {}", run.out);
    run.out
}

/// Runs the command, which has to fail. Returns its error.
#[track_caller]
pub fn fails(domain_id: u32, arguments: &[&str]) -> String {
    let run = gantry(domain_id, arguments);
    assert_eq!(run.code, Some(1), "{arguments:?}: {} {}", run.out, run.err);
    run.err
}

/// A run of the command that continues; it is killed when this value is dropped.
pub struct Running {
    peer: Peer,
    errors: Receiver<String>,
}

/// Starts the command, so that the test can read its lines while it runs.
pub fn start(domain_id: u32, arguments: &[&str]) -> Running {
    let mut peer = Peer::start(command(domain_id, arguments).stderr(Stdio::piped()));
    let stderr = BufReader::new(peer.child.stderr.take().unwrap());
    let (sender, errors) = std::sync::mpsc::channel();
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    Running { peer, errors }
}

impl Running {
    /// The next line of the output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.peer.line()
    }

    /// The next line of the standard error.
    #[track_caller]
    pub fn error_line(&mut self) -> String {
        self.errors.recv_timeout(PATIENCE).unwrap()
    }

    /// Sends Ctrl-C and expects a normal end. Returns the remaining lines of standard error.
    #[track_caller]
    pub fn interrupt(mut self) -> String {
        kill_process(self.peer.pid(), Signal::INT).unwrap();
        let status = self.peer.child.wait().unwrap();
        let error: String = self.errors.iter().map(|line| line + "\n").collect();
        assert!(status.success(), "{status}: {error}");
        error
    }
}

/// Runs the node in an executor until `work` returns.
pub fn with_executor(node: &Node, work: impl FnOnce()) {
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(node).unwrap();
    let cancel = Cancel(executor.handle());
    std::thread::scope(|threads| {
        threads.spawn(move || executor.spin().unwrap());
        let _cancel = cancel;
        work();
    });
}

/// Cancels the executor when it is dropped, also after a panic.
struct Cancel(ExecutorHandle);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

pub fn node_in(domain_id: u32, name: &str) -> Node {
    Node::builder(name).domain_id(domain_id).build().unwrap()
}
