//! Another process of a benchmark: this program again. Its command line contains the role that it plays.
//!
//! The benchmark writes lines to the process's standard input and reads lines from its standard output. The process has
//! its own process group, so that Ctrl-C in the terminal ends only the benchmark. The process then ends because its
//! input ends.

use crate::Result;
use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The first argument on the command line of another process.
pub(crate) const CHILD: &str = "--child";

/// Another process of the benchmark. It is killed when this value is dropped.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this program in a role.
    pub fn start(role: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Process> {
        let program = std::env::current_exe().map_err(|why| format!("cannot find this program's own file: {why}"))?;
        let mut child = Command::new(program)
            .arg(CHILD)
            .args(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|why| format!("cannot start this program as another process: {why}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("another process has no output")?);
        Ok(Process { child, input, output: BufReader::new(output) })
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to the process's standard input.
    pub fn say(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().ok_or("the input of another process was closed")?;
        writeln!(input, "{line}").map_err(|why| format!("another process has closed its input: {why}").into())
    }

    /// Reads the next line of the process's standard output.
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|why| format!("cannot read from another process: {why}"))?;
        if line.is_empty() {
            return Err(format!("another process ended without a line: {}", self.child.wait()?).into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Closes the process's input, and waits until the process has ended.
    pub fn end(&mut self) -> Result<()> {
        self.input = None;
        let status = self.child.wait().map_err(|why| format!("cannot wait for another process: {why}"))?;
        if status.success() { Ok(()) } else { Err(format!("another process ended with {status}").into()) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may already have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
