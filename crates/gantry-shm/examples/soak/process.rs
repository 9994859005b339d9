//! A worker as the coordinator sees it.

use crate::{
    Result,
    counts::{Counts, KINDS},
};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A worker that runs says something every 100 ms.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// A worker that was told to end has to by then. One operation may wait 5 s for the registry lock, some one after another.
const END_LIMIT: Duration = Duration::from_secs(120);

/// What the coordinator did to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Runs,
    StoppedUntil(Instant),
    Ends { told: Instant },
    Killed,
}

/// What it said so far.
pub struct Said {
    pub counts: Counts,
    pub forked: Vec<Pid>,
    failure: Option<String>,
    last: Instant,
}

/// A worker; killed when dropped.
pub struct Process {
    pub number: u64,
    seed: u64,
    pub state: State,
    child: Child,
    stdin: Option<ChildStdin>,
    said: Arc<Mutex<Said>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts this program as a worker.
    pub fn start(number: u64, seed: u64, root: &Path) -> Result<Process> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let mut command = Command::new(program);
        command.arg("--worker").arg(root).args(["--seed", &seed.to_string()]);
        command.process_group(0); // Ctrl-C is for the coordinator
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("cannot start worker {number}: {e}"))?;
        let said = Said { counts: [0; KINDS], forked: Vec::new(), failure: None, last: Instant::now() };
        let said = Arc::new(Mutex::new(said));
        let (stdin, stdout, hears) = (child.stdin.take(), child.stdout.take(), said.clone());
        let reader = std::thread::spawn(move || stdout.into_iter().for_each(|stdout| hear(stdout, &hears)));
        Ok(Process { number, seed, state: State::Runs, child, stdin, said, reader: Some(reader) })
    }

    /// `kill -9`.
    pub fn kill(&mut self) -> Result<()> {
        self.state = State::Killed;
        self.send(Signal::KILL)
    }

    /// SIGSTOP, until [`Process::go_on`].
    pub fn stop(&mut self, until: Instant) -> Result<()> {
        self.state = State::StoppedUntil(until);
        self.send(Signal::STOP)
    }

    /// SIGCONT.
    pub fn go_on(&mut self) -> Result<()> {
        self.state = State::Runs;
        self.said().last = Instant::now();
        self.send(Signal::CONT)
    }

    /// Tells it to end by itself.
    pub fn tell_to_end(&mut self) {
        self.state = State::Ends { told: Instant::now() };
        self.stdin = None;
    }

    fn send(&self, signal: Signal) -> Result<()> {
        let sent = kill_process(Pid::from_child(&self.child), signal); // it was not waited for, so the pid is its own
        sent.map_err(|e| format!("cannot send {signal:?} to worker {}: {e}", self.number))
    }

    /// What it said.
    pub fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is gone, as it should be; an error if it should not, or hangs.
    pub fn is_gone(&mut self) -> Result<bool> {
        let status = self.child.try_wait().map_err(|e| format!("cannot wait for worker {}: {e}", self.number))?;
        let Some(status) = status else { return self.check_life().map(|()| false) };
        self.join_reader();
        let failure = self.said().failure.take();
        match failure {
            Some(why) => Err(self.sentence(&why)),
            None if self.may_end_with(status) => Ok(true),
            None => Err(self.sentence(&format!("it ended: {status}; {}", self.expectation()))),
        }
    }

    fn may_end_with(&self, status: ExitStatus) -> bool {
        match self.state {
            State::Killed => status.signal() == Some(Signal::KILL.as_raw()),
            State::Ends { .. } => status.success(),
            State::Runs | State::StoppedUntil(_) => false,
        }
    }

    fn expectation(&self) -> &'static str {
        match self.state {
            State::Killed => "it was killed by signal 9",
            State::Ends { .. } => "it was told to end well",
            State::Runs | State::StoppedUntil(_) => "nobody told it to end",
        }
    }

    fn check_life(&self) -> Result<()> {
        let silence = self.said().last.elapsed();
        match self.state {
            State::Runs if silence > SILENCE_LIMIT => {
                Err(self.sentence(&format!("it hangs: it has said nothing for {silence:?}")))
            }
            State::Ends { told } if told.elapsed() > END_LIMIT => {
                Err(self.sentence(&format!("it does not end, though it was told to {:?} ago", told.elapsed())))
            }
            _ => Ok(()),
        }
    }

    /// Returns when all it said was heard.
    fn join_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }

    fn sentence(&self, what: &str) -> String {
        format!("worker {} (pid {}, its seed {}): {what}", self.number, self.child.id(), self.seed)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.join_reader();
    }
}

/// The last words of a killed worker may be cut.
fn hear(stdout: ChildStdout, said: &Mutex<Said>) {
    for line in BufReader::new(stdout).lines().map_while(|line| line.ok()) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.last = Instant::now();
        match line.split_once(' ') {
            Some(("counts", numbers)) => {
                let numbers: Vec<u64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
                if let Ok(counts) = numbers.try_into() {
                    said.counts = counts;
                }
            }
            Some(("forked", pid)) => said.forked.extend(pid.parse().ok().and_then(Pid::from_raw)),
            Some(("failed", why)) => said.failure = Some(why.to_owned()),
            _ => {}
        }
    }
}
