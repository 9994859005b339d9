//! A process of a run: the agent, the emulator, or the program on the host. The process ends when its value is dropped,
//! or when this program ends.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The time that a process gets to end by itself, before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(2);

/// A process, whose output is read line by line.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    /// The lines that the process has printed so far on standard output and standard error.
    pub said: Vec<String>,
    lines: Receiver<String>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts a program. The calling thread must live longer than the process: the process dies with the thread that
    /// started it.
    ///
    /// # Errors
    /// The reason, as a sentence, if the program cannot be started.
    pub fn start<A: AsRef<OsStr>>(program: &OsStr, arguments: impl IntoIterator<Item = A>) -> Result<Process, String> {
        let name = program.to_string_lossy().into_owned();
        // The new process starts as this program, with the hidden command `daemon`. It asks the kernel for a signal at
        // the end of its parent, and then executes the given program.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("perf_test").args(["daemon", &std::process::id().to_string(), "--"]).arg(program).args(arguments);
        // In its own process group, the process does not get the terminal's Ctrl-C.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let (sender, lines) = channel();
        let outputs: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|it| Box::new(it) as _), child.stderr.take().map(|it| Box::new(it) as _)];
        let read = |output| {
            let sender: Sender<String> = sender.clone();
            std::thread::spawn(move || {
                let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
                // Sending fails only after the `Process` was dropped.
                lines.map(|line| String::from_utf8_lossy(&line).into_owned()).for_each(|line| drop(sender.send(line)));
            })
        };
        let readers = outputs.into_iter().flatten().map(read).collect();
        Ok(Process { name, input: child.stdin.take(), child, said: Vec::new(), lines, readers })
    }

    /// Returns the next line of the process; `None` if no line comes within `timeout`.
    pub fn line(&mut self, timeout: Duration) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => {
                self.said.push(line.clone());
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.failure("has ended")),
        }
    }

    /// Writes a line to the standard input of the process.
    ///
    /// # Errors
    /// The reason, as a sentence, if the process has ended.
    pub fn give(&mut self, line: &str) -> Result<(), String> {
        let given = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        if given.is_some_and(|given| given.is_ok()) { Ok(()) } else { Err(self.failure("has ended")) }
    }

    /// Waits for the end of the process. Returns `None` if the process does not end within `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() >= deadline {
                self.said.extend(self.lines.try_iter());
                return status;
            }
            sleep(POLL);
        }
    }

    /// The text of an error: the name of the process, then `what`, then the last line that the process printed.
    #[must_use]
    pub fn failure(&self, what: &str) -> String {
        let last = self.said.iter().rev().find(|line| !line.trim().is_empty());
        let said = last.map_or("it has printed nothing".to_owned(), |line| format!("its last line: {}", line.trim()));
        format!("{} {what}; {said}", self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.wait(Duration::ZERO).is_none() {
            if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::TERM);
            }
            if self.wait(END_TIMEOUT).is_none() {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}
