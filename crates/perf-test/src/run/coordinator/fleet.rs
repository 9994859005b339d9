//! The worker processes of a run: their start, orders, events and exit.
//!
//! Invariants: every child process is waited for. Dropping a `Fleet` leaves no child: each child exits when its
//! standard input ends, or is killed.

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

/// The longest line that is read as one report. A row with its histograms has a few hundred kilobytes at most.
const LONGEST_LINE_BYTES: u64 = 16 << 20;
/// The number of invalid lines (lines that are no reports) after which a worker's pipe is no longer read.
const MOST_INVALID_LINES: u32 = 100;
/// The number of characters of an invalid line that a warning shows.
const SHOWN_CHARS: usize = 80;

/// An event that a worker process causes.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every event is a report")]
pub enum Event {
    /// A report of the worker.
    Report(Report),
    /// A line that is no report: the number of such lines so far, and the beginning of the line.
    Invalid(u32, String),
    /// The end of a worker's reports: the worker has exited or closed its pipe.
    Closed,
}

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    /// The worker's endpoints in words, such as `subscription 0`.
    pub label: String,
    /// The process ID of the worker.
    pub pid: u32,
    /// The endpoints of the worker.
    pub endpoints: Vec<Endpoint>,
    /// The number of lines from the worker that are no reports.
    pub invalid_lines: u32,
    child: Child,
    stdin: Option<ChildStdin>,
    status: Option<ExitStatus>,
}

/// All worker processes of a run.
#[derive(Debug)]
pub struct Fleet {
    /// The workers, in the order of the plans with which they were started.
    pub workers: Vec<Worker>,
    events: Receiver<(usize, Event)>,
}

impl Fleet {
    /// Starts one worker for each plan.
    ///
    /// # Errors
    /// The reason, as a sentence. Workers that have already started are ended.
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

    /// Sends an order, for example to start or to end, to all workers whose standard input is open.
    pub fn order(&mut self, order: &Order) {
        for worker in &mut self.workers {
            worker.send(order);
        }
    }

    /// Orders each endpoint that receives to take its remaining samples. `expected` gives the number of samples that an
    /// endpoint should have in all.
    pub fn drain(&mut self, expected: impl Fn(Endpoint) -> u64) {
        for worker in &mut self.workers {
            let receives = |endpoint: &&Endpoint| !matches!(endpoint, Endpoint::Publisher(_));
            let of_worker = worker.endpoints.iter().filter(receives).map(|endpoint| (*endpoint, expected(*endpoint)));
            let expected = of_worker.collect();
            worker.send(&Order::Drain { expected });
        }
    }

    /// The next event, with the index of its worker; `None` if there is none within `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<(usize, Event)> {
        self.events.recv_timeout(timeout).ok()
    }

    /// A phrase for the cause of a worker's exit. A worker that sent too many invalid lines is killed here. `None` if
    /// the worker did not exit in time after its reports ended, and was killed.
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
    /// Sends a message to the worker as one line of JSON.
    fn send(&mut self, message: &impl Serialize) {
        let Some(stdin) = &mut self.stdin else { return };
        let sent = serde_json::to_vec(message).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            stdin.write_all(&line)
        });
        // The worker has exited or will exit soon; the end of its reports is a separate event.
        if sent.is_err() {
            self.stdin = None;
        }
    }

    /// Waits for the worker's exit until `deadline`, then kills it. `None` if it was killed.
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
            // Waits for the exit by polling. The worker's reports are no longer read here.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The exit of a process as a phrase without a subject, such as `was killed by signal 9`.
pub fn how_it_exited(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => format!("exited: {status}"),
    }
}

/// The worker's name in reports.
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
    // Standard output is for the coordinator's results. The worker prints to standard error instead, because a
    // middleware may print on standard output.
    command.stdin(Stdio::piped()).stdout(std::io::stderr());
    let mut child = command.spawn()?;
    // `command` owns the worker's end of the pipe. Dropping it here lets the pipe end when the worker ends.
    drop(command);
    let stdin = child.stdin.take();
    let mut worker =
        Worker { label: label.clone(), pid: child.id(), endpoints, invalid_lines: 0, child, stdin, status: None };
    worker.send(plan);
    let events = events.clone();
    let listen = move || {
        let mut said = BufReader::new(reports);
        let (mut line, mut invalid_lines) = (Vec::new(), 0);
        // After this loop the pipe is closed. A worker that sends too many lines then fails to write, and ends.
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
