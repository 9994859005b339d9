//! A worker process, from the coordinator's side.

use crate::{
    accounts::counts::{Counts, KINDS},
    outcome::Result,
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

/// The longest time without a report from a running worker. A worker reports every 100 ms.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// The time within which a worker ends after the coordinator has asked it to. One operation may wait 5 s for the
/// registry lock, and several operations may follow each other.
const END_LIMIT: Duration = Duration::from_secs(120);

/// The state of a worker, as the coordinator has caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Runs,
    StoppedUntil(Instant),
    Ends { asked: Instant },
    Killed,
}

/// The reports that a worker has sent.
pub struct Reports {
    pub counts: Counts,
    pub forked: Vec<Pid>,
    failure: Option<String>,
    last: Instant,
}

/// A worker process. It is killed when this value is dropped.
pub struct Process {
    pub number: u64,
    seed: u64,
    pub state: State,
    child: Child,
    stdin: Option<ChildStdin>,
    reports: Arc<Mutex<Reports>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts this program as a worker.
    pub fn start(number: u64, seed: u64, root: &Path) -> Result<Process> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let mut command = Command::new(program);
        command.arg("--worker").arg(root).args(["--seed", &seed.to_string()]);
        command.process_group(0); // so that Ctrl-C reaches only the coordinator
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| format!("cannot start worker {number}: {e}"))?;
        let reports = Reports { counts: [0; KINDS], forked: Vec::new(), failure: None, last: Instant::now() };
        let reports = Arc::new(Mutex::new(reports));
        let (stdin, stdout, shared) = (child.stdin.take(), child.stdout.take(), reports.clone());
        let reader = std::thread::spawn(move || stdout.into_iter().for_each(|stdout| read_reports(stdout, &shared)));
        Ok(Process { number, seed, state: State::Runs, child, stdin, reports, reader: Some(reader) })
    }

    /// `kill -9`.
    pub fn kill(&mut self) -> Result<()> {
        self.state = State::Killed;
        self.send(Signal::KILL)
    }

    /// Sends SIGSTOP. [`Process::resume`] lets the worker continue.
    pub fn stop(&mut self, until: Instant) -> Result<()> {
        self.state = State::StoppedUntil(until);
        self.send(Signal::STOP)
    }

    /// Sends SIGCONT.
    pub fn resume(&mut self) -> Result<()> {
        self.state = State::Runs;
        self.reports().last = Instant::now();
        self.send(Signal::CONT)
    }

    /// Asks the worker to end, by closing its standard input.
    pub fn ask_to_end(&mut self) {
        self.state = State::Ends { asked: Instant::now() };
        self.stdin = None;
    }

    fn send(&self, signal: Signal) -> Result<()> {
        let sent = kill_process(Pid::from_child(&self.child), signal); // no wait was made, so the pid is not reused
        sent.map_err(|e| format!("cannot send {signal:?} to worker {}: {e}", self.number))
    }

    /// The worker's reports.
    pub fn reports(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the worker has exited after it was killed or asked to end. An error means that it exited without being
    /// asked, or hangs.
    pub fn has_exited(&mut self) -> Result<bool> {
        let status = self.child.try_wait().map_err(|e| format!("cannot wait for worker {}: {e}", self.number))?;
        let Some(status) = status else { return self.check_life().map(|()| false) };
        self.join_reader();
        let failure = self.reports().failure.take();
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
            State::Ends { .. } => "it was asked to end",
            State::Runs | State::StoppedUntil(_) => "it was not asked to end",
        }
    }

    fn check_life(&self) -> Result<()> {
        let silence = self.reports().last.elapsed();
        match self.state {
            State::Runs if silence > SILENCE_LIMIT => {
                Err(self.sentence(&format!("it hangs: it has reported nothing for {silence:?}")))
            }
            State::Ends { asked } if asked.elapsed() > END_LIMIT => {
                Err(self.sentence(&format!("it does not end, though it was asked to {:?} ago", asked.elapsed())))
            }
            _ => Ok(()),
        }
    }

    /// Waits until all reports of the worker are read.
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
        // `kill` fails if the worker has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.join_reader();
    }
}

/// Reads the reports of a worker. The last line of a killed worker may be incomplete.
fn read_reports(stdout: ChildStdout, reports: &Mutex<Reports>) {
    for line in BufReader::new(stdout).lines().map_while(|line| line.ok()) {
        let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.last = Instant::now();
        match line.split_once(' ') {
            Some(("counts", numbers)) => {
                let numbers: Vec<u64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
                if let Ok(counts) = numbers.try_into() {
                    reports.counts = counts;
                }
            }
            Some(("forked", pid)) => reports.forked.extend(pid.parse().ok().and_then(Pid::from_raw)),
            Some(("failed", why)) => reports.failure = Some(why.to_owned()),
            _ => {}
        }
    }
}
