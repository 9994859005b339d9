//! The worker processes of a run: starting them, talking to them, and what became of each.
//!
//! Used by the coordinator. Invariants: every child is waited for; when a `Fleet` is dropped, no
//! child is left, because each ends when its stdin ends or is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use crate::communicator::Program;
use crate::endpoint::Endpoint;
use crate::worker::protocol::{Order, Plan, Report};

/// How long workers may take to end by themselves.
const ORDERLY_END: Duration = Duration::from_secs(3);

/// The longest line that is taken for one report: a row with its histograms has some hundred kilobytes at most.
const LONGEST_LINE_BYTES: u64 = 16 << 20;

/// What a worker process did.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every event is a report")]
pub enum Event {
    /// It said something.
    Said(Report),
    /// It said something that is no report.
    Garbled(String),
    /// Its stdout is closed: it is over.
    Closed,
}

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    /// What it does, as `subscription 0`.
    pub label: String,
    /// Its process id.
    pub pid: u32,
    /// What lives in it.
    pub endpoints: Vec<Endpoint>,
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
    /// A sentence; workers that were started before are ended.
    pub fn start(program: &Program, plans: Vec<Plan>) -> Result<Fleet, String> {
        let (sender, events) = mpsc::channel();
        let mut fleet = Fleet { workers: Vec::new(), events };
        for (index, plan) in plans.into_iter().enumerate() {
            let worker = start_worker(program, index, &plan, &sender).map_err(|error| {
                format!("cannot start the worker process for {}: {error}", label(&endpoints_of(&plan)))
            })?;
            fleet.workers.push(worker);
        }
        Ok(fleet)
    }

    /// Tells all workers that still listen.
    pub fn order(&mut self, order: Order) {
        for worker in &mut self.workers {
            worker.order(order);
        }
    }

    /// The next event and the index of its worker; `None` if nothing happens for `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<(usize, Event)> {
        self.events.recv_timeout(timeout).ok()
    }

    /// How a worker that is over ended. One that has only closed its output and goes on is killed after a while.
    pub fn ending(&mut self, worker: usize) -> String {
        let Some(worker) = self.workers.get_mut(worker) else { return "is unknown".to_owned() };
        worker.stdin = None;
        let deadline = Instant::now() + ORDERLY_END;
        while !worker.is_over() && Instant::now() < deadline {
            // The moment between closed stdout and exit.
            std::thread::sleep(Duration::from_millis(1));
        }
        if worker.status.is_none() {
            // Fails only if it has just ended.
            let _ = worker.child.kill();
            worker.reap();
            return "closed its output, did not end by itself and was killed".to_owned();
        }
        match worker.status {
            None => "could not be waited for".to_owned(),
            Some(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("was killed by signal {signal}"),
                (None, Some(code)) => format!("ended with exit code {code}"),
                (None, None) => format!("ended: {status}"),
            },
        }
    }

    /// Ends all workers and waits for them. Returns those that had to be killed.
    pub fn end(&mut self) -> Vec<String> {
        self.workers.iter_mut().for_each(|worker| worker.stdin = None);
        let deadline = Instant::now() + ORDERLY_END;
        // Every one is looked at each time, also behind one that hangs.
        while !self.workers.iter_mut().fold(true, |all, worker| worker.is_over() & all) && Instant::now() < deadline {
            // Nothing that is said now matters; the pause is for the moment between closed stdout and exit.
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut killed = Vec::new();
        for worker in self.workers.iter_mut().filter(|worker| worker.status.is_none()) {
            // Fails only if it has just ended.
            let _ = worker.child.kill();
            worker.reap();
            killed.push(format!("{} (pid {}) did not end by itself and was killed", worker.label, worker.pid));
        }
        killed
    }

    /// Whether every worker ended by itself and without an error.
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
    fn order(&mut self, order: Order) {
        let Some(stdin) = &mut self.stdin else { return };
        let sent = serde_json::to_vec(&order).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            stdin.write_all(&line)
        });
        // A worker that does not listen any more is over or will be; its closing is an event of its own.
        if sent.is_err() {
            self.stdin = None;
        }
    }

    fn is_over(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_some()
    }

    fn reap(&mut self) {
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }
}

fn label(endpoints: &[Endpoint]) -> String {
    match endpoints {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => "nothing".to_owned(),
    }
}

fn endpoints_of(plan: &Plan) -> Vec<Endpoint> {
    plan.endpoints.iter().map(|plan| plan.endpoint).collect()
}

fn start_worker(
    program: &Program,
    index: usize,
    plan: &Plan,
    events: &Sender<(usize, Event)>,
) -> std::io::Result<Worker> {
    let endpoints = endpoints_of(plan);
    let label = label(&endpoints);
    let mut command = match program {
        // This very executable, even if the file has been replaced meanwhile.
        Program::This => Command::new("/proc/self/exe"),
        Program::Other(path) => Command::new(path),
    };
    let command = command.arg0("perf_test").args(["worker", &label]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let stdin = child.stdin.take();
    let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no standard output"))?;
    let mut worker = Worker { label: label.clone(), pid: child.id(), endpoints, child, stdin, status: None };
    if let Some(stdin) = &mut worker.stdin {
        let mut line = serde_json::to_vec(plan)?;
        line.push(b'\n');
        // A worker that is gone already says so by its closed stdout.
        let _ = stdin.write_all(&line);
    }
    let events = events.clone();
    let listen = move || {
        let mut said = BufReader::new(stdout);
        let mut line = Vec::new();
        while said.by_ref().take(LONGEST_LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let garbled = |_| Event::Garbled(String::from_utf8_lossy(&line).trim_end().to_owned());
            let event = serde_json::from_slice(&line).map_or_else(garbled, Event::Said);
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
