//! The worker processes of a run: their start, orders, events and exit.
//!
//! Invariants: every child is waited for. Dropping a `Fleet` leaves no child: each child exits when its stdin ends, or
//! is killed.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use serde::Serialize;

use perf_worker::{
    endpoint::Endpoint,
    worker::protocol::{Order, Plan, REPORTS_FD, Report, times::EXIT},
};

/// The longest line that is read as one report: a row with its histograms has some hundred kilobytes at most.
const LONGEST_LINE_BYTES: u64 = 16 << 20;
/// The number of lines that are no reports after which a worker's reports are not read any more.
const MOST_INVALID_LINES: u32 = 100;
/// The number of characters that are shown of a line that is no report.
const SHOWN_CHARS: usize = 80;

/// An event of a worker process.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every event is a report")]
pub enum Event {
    /// A report.
    Report(Report),
    /// A line that is no report: its number among such lines, and its beginning.
    Invalid(u32, String),
    /// The end of a worker's reports: the worker has exited, or its pipe is closed.
    Closed,
}

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    /// The endpoints of the worker in words, such as `subscription 0`.
    pub label: String,
    /// The process ID of the worker.
    pub pid: u32,
    /// The endpoints of the worker.
    pub endpoints: Vec<Endpoint>,
    /// The number of lines that the worker has sent and that are no reports.
    pub invalid_lines: u32,
    child: Child,
    stdin: Option<ChildStdin>,
    status: Option<ExitStatus>,
}

/// All worker processes of a run.
#[derive(Debug)]
pub struct Fleet {
    /// The workers, in the order of their plans.
    pub workers: Vec<Worker>,
    events: Receiver<(usize, Event)>,
}

impl Fleet {
    /// Starts a worker for each plan.
    ///
    /// # Errors
    /// The reason, as a sentence. The workers that were already started are ended.
    pub fn start(program: &Path, plans: Vec<Plan>) -> Result<Fleet, String> {
        let (sender, events) = mpsc::channel();
        let mut fleet = Fleet { workers: Vec::new(), events };
        for (index, plan) in plans.into_iter().enumerate() {
            let worker = start_worker(program, index, &plan, &sender)
                .map_err(|error| format!("cannot start the worker process for {}: {error}", label(&plan)))?;
            fleet.workers.push(worker);
        }
        Ok(fleet)
    }

    /// Sends an order (for example to start or to end) to all workers that have not closed their standard input.
    pub fn order(&mut self, order: &Order) {
        for worker in &mut self.workers {
            worker.send(order);
        }
    }

    /// Orders each endpoint that receives to take its remaining samples; `expected` is the number of samples for it.
    pub fn drain(&mut self, expected: impl Fn(Endpoint) -> u64) {
        for worker in &mut self.workers {
            let receives = |endpoint: &&Endpoint| !matches!(endpoint, Endpoint::Publisher(_));
            let of_worker = worker.endpoints.iter().filter(receives).map(|endpoint| (*endpoint, expected(*endpoint)));
            let expected = of_worker.collect();
            worker.send(&Order::Drain { expected });
        }
    }

    /// The next event and the index of its worker; `None` after `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<(usize, Event)> {
        self.events.recv_timeout(timeout).ok()
    }

    /// The cause of a worker's exit, in words. A worker that sent too many lines that are no reports is ended here.
    /// `None` if the worker closed its pipe of reports, did not exit in time and was killed.
    pub fn exit_cause(&mut self, worker: usize) -> Option<String> {
        let worker = self.workers.get_mut(worker)?;
        worker.stdin = None;
        if worker.invalid_lines >= MOST_INVALID_LINES {
            worker.end_by(Instant::now());
            return Some(format!(
                "sent {} lines that are not reports, so the process was ended,",
                worker.invalid_lines
            ));
        }
        worker.end_by(Instant::now() + EXIT).map(how_it_exited)
    }

    /// Ends all workers and waits for them. Returns a sentence for each worker that had to be killed.
    pub fn end(&mut self) -> Vec<String> {
        self.workers.iter_mut().for_each(|worker| worker.stdin = None);
        let deadline = Instant::now() + EXIT;
        let killed = self.workers.iter_mut().filter_map(|worker| match worker.end_by(deadline) {
            None => Some(format!("{} (pid {}) did not exit by itself and was killed", worker.label, worker.pid)),
            Some(_) => None,
        });
        killed.collect()
    }

    /// Whether every worker exited by itself and without an error.
    pub fn ended_well(&self) -> bool {
        self.workers.iter().all(|worker| worker.status.is_some_and(|status| status.success()))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.end();
    }
}

impl Worker {
    /// Sends a message as a line.
    fn send(&mut self, message: &impl Serialize) {
        let Some(stdin) = &mut self.stdin else { return };
        let sent = serde_json::to_vec(message).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            stdin.write_all(&line)
        });
        // A worker that has closed its stdin has exited or will exit soon; the end of its reports is a separate event.
        if sent.is_err() {
            self.stdin = None;
        }
    }

    /// Waits for the exit until `deadline`; `None` if the worker had to be killed.
    fn end_by(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            self.status = self.status.or_else(|| self.child.try_wait().ok().flatten());
            if self.status.is_some() {
                return self.status;
            }
            if Instant::now() >= deadline {
                // The kill fails only if the worker has just exited.
                let _ = self.child.kill();
                self.status = self.child.wait().ok();
                return None;
            }
            // The worker's reports are no longer needed, only its exit. Between its last report and its
            // exit, this loop polls.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The exit of a process in words, without the subject of the sentence.
pub fn how_it_exited(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => format!("exited: {status}"),
    }
}

/// The name of a worker in reports.
fn label(plan: &Plan) -> String {
    match endpoints_of(plan).as_slice() {
        _ if !plan.name.is_empty() => plan.name.clone(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => "nothing".to_owned(),
    }
}

fn endpoints_of(plan: &Plan) -> Vec<Endpoint> {
    plan.endpoints.iter().map(|plan| plan.endpoint).collect()
}

fn start_worker(program: &Path, index: usize, plan: &Plan, events: &Sender<(usize, Event)>) -> std::io::Result<Worker> {
    let endpoints = endpoints_of(plan);
    let label = label(plan);
    let mut command = Command::new(program);
    let (reports, its_end) = pipe()?;
    let mapping = FdMapping { parent_fd: its_end.into(), child_fd: REPORTS_FD };
    command.arg0("perf_test").args(["worker", &label]).fd_mappings(vec![mapping]).map_err(std::io::Error::other)?;
    // A middleware may print on standard output, where the coordinator prints the results, so the worker's standard
    // output is standard error.
    command.stdin(Stdio::piped()).stdout(std::io::stderr());
    let mut child = command.spawn()?;
    // Closes the worker's end of the pipe in this process, so that the pipe ends with the worker.
    drop(command);
    let stdin = child.stdin.take();
    let mut worker =
        Worker { label: label.clone(), pid: child.id(), endpoints, invalid_lines: 0, child, stdin, status: None };
    worker.send(plan);
    let events = events.clone();
    let listen = move || {
        let mut said = BufReader::new(reports);
        let (mut line, mut invalid_lines) = (Vec::new(), 0);
        // The pipe is closed after this loop, so the writes of a process that floods the pipe fail, and the process
        // ends, too.
        while invalid_lines < MOST_INVALID_LINES
            && said.by_ref().take(LONGEST_LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|length| length > 0)
        {
            let garbled = |_| {
                invalid_lines += 1;
                let shown = String::from_utf8_lossy(&line).trim_end().chars().take(SHOWN_CHARS).collect();
                Event::Invalid(invalid_lines, shown)
            };
            let event = serde_json::from_slice(&line).map_or_else(garbled, Event::Report);
            if events.send((index, event)).is_err() {
                return;
            }
            line.clear();
        }
        let _ = events.send((index, Event::Closed));
    };
    std::thread::Builder::new().name(format!("from {label}")).spawn(listen)?;
    Ok(worker)
}
