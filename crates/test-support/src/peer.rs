//! A child process of a test. It runs the test program again, in a role that its command line states.
//!
//! The test writes lines to the child's standard input and reads lines from its standard output. The child ends
//! when its standard input ends.

use crate::PATIENCE;
use rustix::process::Pid;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::Receiver,
};

/// The command line that starts this program again. If this program is built for another machine, it begins with the
/// emulator in the environment variable `EMULATOR`.
pub fn this_program() -> Vec<String> {
    let program = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    std::env::var("EMULATOR").into_iter().chain([program]).collect()
}

/// A child process. It is killed when this value is dropped.
pub struct Peer {
    /// The process.
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts the child with pipes to its standard input and output.
    pub fn start(command: &mut Command) -> Peer {
        Peer::start_with(command, Stdio::piped())
    }

    /// Starts the child with this standard input, and a pipe from its standard output.
    pub fn start_with(command: &mut Command, stdin: Stdio) -> Peer {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Peer { child, stdin, lines }
    }

    /// Waits for the next line of the child's output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(why) => panic!("the child wrote no line ({why}); its state is {:?}", self.child.try_wait()),
        }
    }

    /// Writes a line to the child's input.
    #[track_caller]
    pub fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends SIGKILL to the child, and waits until it has ended.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the child's input, and returns the last line that the child wrote.
    #[track_caller]
    pub fn last_line(mut self) -> String {
        self.stdin = None;
        let last = std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok()).last();
        self.finish();
        last.unwrap()
    }

    /// Closes the child's input, and waits until the child has ended successfully.
    #[track_caller]
    pub fn finish(mut self) {
        self.stdin = None;
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// The process id of the child, to send signals.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes a line to the test. The child calls this function.
pub fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").unwrap();
    stdout.flush().unwrap();
}

/// Waits for the next line from the test; `None` if the child has to end. The child calls this function.
pub fn order() -> Option<String> {
    let mut line = String::new();
    (std::io::stdin().read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
}
