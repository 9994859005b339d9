//! A daemon of the middleware that the run starts: its readiness, its output and its end.
//!
//! Invariants: a daemon never outlives the coordinator. Dropping a [`StartedDaemon`] ends the daemon. If the
//! coordinator is killed, the kernel ends the daemon by the parent-death signal, which [`become_daemon`] requests in
//! the child process before exec. The daemon leads a process group, which ends with the daemon and does not get the
//! terminal's signals. One exception: the kernel clears the parent-death signal of a program with capabilities or a
//! set-user-ID bit (prctl(2)). Such a daemon outlives a coordinator that SIGKILL ends.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gantry::printable;
use rustix::process::{Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal};

use super::fleet::how_it_exited;
use crate::common::{error::Failure, interrupt::Interrupt};
use perf_worker::{
    backend::{DaemonCommand, Readiness},
    clock::now_ns,
    worker::protocol::times::{DAEMON_EXIT, DAEMON_READY},
};

/// The longest wait for the last lines of a daemon that has exited. The output may not end, because a process that the
/// daemon left behind may hold the pipe open.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);
/// The period at which a daemon is checked while it starts or ends.
const POLL: Duration = Duration::from_millis(2);
/// The number of lines of output that are kept, the newest ones.
const LAST_LINES: usize = 200;
/// The number of last lines that the sentence about a daemon's exit shows at most.
const LAST_WORDS: usize = 5;
/// The longest line of output. A longer one is printed as several lines.
const LONGEST_LINE_BYTES: u64 = 1 << 16;

/// A daemon that was started and is ready.
#[derive(Debug)]
pub struct StartedDaemon {
    /// The name of the daemon in reports.
    pub name: String,
    /// The process ID of the daemon.
    pub pid: u32,
    child: Child,
    output: Arc<Output>,
    readers: Vec<JoinHandle<()>>,
    status: Option<ExitStatus>,
}

/// The output of a daemon, which is copied to standard error line by line.
#[derive(Debug)]
struct Output {
    name: String,
    ready: Readiness,
    /// Whether the daemon has printed the line that shows that it is ready. `listen` stores it (Release), and
    /// `wait_until_ready` loads it (Acquire).
    has_ready_line: AtomicBool,
    /// The last lines, each with the time at which it was read, ns.
    last_lines: Mutex<VecDeque<(i64, String)>>,
}

impl StartedDaemon {
    /// Starts the daemon and waits until it is ready. Must be called on the main thread, because the kernel sends the
    /// parent-death signal when the thread that started the child ends.
    ///
    /// # Errors
    /// [`Failure::Measurement`]: the daemon does not start or exits, or the user has interrupted the run;
    /// [`Failure::Hung`]: the daemon is not ready in time. After an error the daemon is no longer running.
    pub fn start(daemon: &DaemonCommand, interrupt: &Interrupt) -> Result<StartedDaemon, Failure> {
        // `/proc/self/exe` is the running program, even if its file has been replaced since the start.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("perf_test").args(["daemon", &std::process::id().to_string(), "--"]).args(&daemon.command);
        start(command, daemon, DAEMON_READY, interrupt)
    }

    /// A sentence about the daemon's exit, with its last lines; `None` if it is running. `when` is a phrase for the
    /// time.
    pub fn exit(&mut self, when: &str) -> Option<String> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
            self.status?;
            // Processes that the daemon has started must not outlive it.
            self.kill_group(Signal::KILL);
        }
        let how = how_it_exited(self.status?);
        Some(format!("the daemon {} (pid {}) {how} {when}{}", self.name, self.pid, self.last_words()))
    }

    /// Kills the daemon and waits for its exit.
    pub fn kill(&mut self) {
        self.kill_group(Signal::KILL);
        self.status = self.child.wait().ok();
    }

    /// Asks the daemon to end and waits for its exit. Returns a sentence if the daemon had to be killed.
    pub fn end(&mut self) -> Option<String> {
        if self.status.is_some() {
            return None;
        }
        self.kill_group(Signal::TERM);
        let deadline = Instant::now() + DAEMON_EXIT;
        while Instant::now() < deadline {
            self.status = self.child.try_wait().ok().flatten();
            if self.status.is_some() {
                self.kill_group(Signal::KILL);
                return None;
            }
            std::thread::sleep(POLL);
        }
        self.kill_group(Signal::KILL);
        self.status = self.child.wait().ok();
        let (name, pid, waited_s) = (&self.name, self.pid, DAEMON_EXIT.as_secs());
        Some(format!("the daemon {name} (pid {pid}) did not end within {waited_s} s after SIGTERM and was killed"))
    }

    fn kill_group(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // The kill fails if no process of the group is left.
            let _ = kill_process_group(group, signal);
        }
    }

    fn wait_until_ready(
        &mut self,
        before: Option<FileState>,
        timeout: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + timeout;
        loop {
            let is_ready = match &self.output.ready {
                Readiness::File(path) => FileState::of_file(path).is_some_and(|state| Some(state) != before),
                Readiness::Line(_) => self.output.has_ready_line.load(Ordering::Acquire),
            };
            if let Some(sentence) = self.exit("before it was ready") {
                return Err(Failure::Measurement(sentence));
            }
            if is_ready {
                return Ok(());
            }
            if interrupt.is_requested() {
                return Err(Failure::Measurement("interrupted before the start: nothing was measured".to_owned()));
            }
            if Instant::now() >= deadline {
                let sign = match &self.output.ready {
                    Readiness::File(path) => format!("there is no new file or socket {}", path.display()),
                    Readiness::Line(text) => format!("it has not printed {text:?}"),
                };
                let (name, waited_s) = (&self.name, timeout.as_secs());
                return Err(Failure::Hung(format!(
                    "the daemon {name} was not ready within {waited_s} s: {sign}{}",
                    self.last_words()
                )));
            }
            std::thread::sleep(POLL);
        }
    }

    /// The kept lines of output that were read since `time_ns`, each with the time at which it was read, ns.
    #[must_use]
    pub fn said_since(&self, time_ns: i64) -> Vec<(i64, String)> {
        let lines = self.output.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|(at_ns, _)| *at_ns >= time_ns).cloned().collect()
    }

    /// The daemon's last lines, as the end of a sentence. If the daemon has exited, waits for the rest of its output.
    fn last_words(&self) -> String {
        let deadline = Instant::now() + LAST_WORDS_TIMEOUT;
        while self.status.is_some() && !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        let lines = self.output.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return "; it has printed nothing".to_owned();
        }
        let last = lines.iter().skip(lines.len().saturating_sub(LAST_WORDS)).map(|(_, line)| line.as_str());
        format!("; its last lines: {}", last.collect::<Vec<_>>().join(" | "))
    }
}

impl Drop for StartedDaemon {
    fn drop(&mut self) {
        self.end();
    }
}

impl Output {
    /// Copies the lines of `stream` to standard error until the stream ends.
    fn listen(&self, stream: impl Read) {
        let mut said = BufReader::new(stream);
        let mut line = Vec::new();
        while said.by_ref().take(LONGEST_LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line);
            let text = printable(text.trim_end(), &['\t']).into_owned();
            // The write fails only if standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "{}: {text}", self.name);
            let is_ready = matches!(&self.ready, Readiness::Line(sign) if text.contains(sign.as_str()));
            self.keep(text);
            if is_ready {
                self.has_ready_line.store(true, Ordering::Release);
            }
            line.clear();
        }
    }

    /// Keeps a line of output, and drops the oldest line if there are too many.
    fn keep(&self, line: String) {
        let mut last_lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        last_lines.push_back((now_ns(), line));
        if last_lines.len() > LAST_LINES {
            last_lines.pop_front();
        }
    }
}

/// The inode and change time of a file. They distinguish a new file from an old one that another daemon left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    inode: u64,
    changed: (i64, i64),
}

impl FileState {
    fn of_file(path: &Path) -> Option<FileState> {
        let found = path.metadata().ok()?;
        Some(FileState { inode: found.ino(), changed: (found.ctime(), found.ctime_nsec()) })
    }
}

fn start(
    mut command: Command,
    daemon: &DaemonCommand,
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<StartedDaemon, Failure> {
    let (name, failed) = (&daemon.name, Failure::Measurement);
    let before = match &daemon.ready {
        Readiness::File(path) => FileState::of_file(path),
        Readiness::Line(_) => None,
    };
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(format!("cannot start the daemon {name}: {error}")))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let output = Arc::new(Output {
        name: name.clone(),
        ready: daemon.ready.clone(),
        has_ready_line: AtomicBool::new(false),
        last_lines: Mutex::default(),
    });
    let pid = child.id();
    let mut started =
        StartedDaemon { name: name.clone(), pid, child, output: output.clone(), readers: Vec::new(), status: None };
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [stdout.map(|it| Box::new(it) as _), stderr.map(|it| Box::new(it) as _)];
    for stream in streams.into_iter().flatten() {
        let output = output.clone();
        let reader = std::thread::Builder::new().name(format!("from {name}")).spawn(move || output.listen(stream));
        let reader = reader.map_err(|error| failed(format!("cannot start a thread for the daemon {name}: {error}")))?;
        started.readers.push(reader);
    }
    started.wait_until_ready(before, timeout, interrupt)?;
    Ok(started)
}

/// Replaces this process by the daemon `command` (exec). The daemon ends when the coordinator `parent` ends.
///
/// # Errors
/// Returns only if the program cannot be executed.
#[must_use]
pub fn become_daemon(parent: u32, command: &[OsString]) -> Failure {
    let [program, arguments @ ..] = command else {
        return Failure::Usage("a daemon needs a command".to_owned());
    };
    // SIGTERM instead of SIGKILL lets a daemon remove its shared memory before it exits.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::TERM)) {
        return Failure::Measurement(format!("a daemon cannot be bound to the run: {error}"));
    }
    if getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()) != Some(parent) {
        return Failure::Measurement("the run has ended before its daemon began".to_owned());
    }
    let error = Command::new(program).args(arguments).exec();
    Failure::Measurement(format!(
        "cannot start {}: {error}; install it, or add its folder to the PATH",
        program.to_string_lossy()
    ))
}

#[cfg(test)]
mod tests;
