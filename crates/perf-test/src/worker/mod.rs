//! A worker process: one or more endpoints on threads, their orders on stdin, their reports on stdout.
//!
//! Started by the coordinator as the same executable. The endpoints' threads never write or wait for
//! anybody while they measure: they hand finished rows to the main thread, which reports them. The
//! worker ends when its stdin ends, so it never outlives the coordinator.

pub mod placement;
pub mod protocol;
mod publisher;
mod rows;
mod subscriber;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::experiment::{Durability, Experiment, History, Reliability};
use crate::measure::usage::Usage;
use crate::messages::{Benchmark, WithType, with_type};
use protocol::{Counts, Endpoint, Order, Plan, Report};
use rows::Outgoing;

/// Rows that may wait for the reporting thread before an endpoint has to wait for it.
const OUTGOING_CAPACITY: usize = 1024;
/// How long an orderly end may take once the coordinator is gone.
const LAST_MOMENT: Duration = Duration::from_secs(2);
/// `Flags::expected` before the order to drain.
const NOT_DRAINING: u64 = u64::MAX;

/// What the order-reading thread tells the endpoints while they measure.
#[derive(Debug)]
struct Flags {
    /// Publish no more.
    stop: AtomicBool,
    /// End at once: the coordinator is gone or does not care any more.
    abandon: Arc<AtomicBool>,
    /// Samples to expect in all; `NOT_DRAINING` while more may be sent.
    expected: AtomicU64,
}

impl Flags {
    fn abandoned(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }
}

/// What every endpoint has.
struct Context {
    endpoint: Endpoint,
    experiment: Experiment,
    /// The full name.
    topic: String,
    orders: Receiver<Order>,
    flags: Arc<Flags>,
    outgoing: SyncSender<Outgoing>,
}

impl Context {
    fn report(&self, report: Report) {
        // Fails only if the main thread is gone, and then the process is ending.
        let _ = self.outgoing.send(Outgoing::Control(report));
    }

    fn node(&self) -> Result<gantry::Node, gantry::Error> {
        let name = self.endpoint.to_string().replace(' ', "_");
        gantry::Node::builder(&format!("perf_test_{name}")).domain_id(self.experiment.domain_id).build()
    }

    fn qos(&self) -> gantry::Qos {
        let qos = gantry::Qos::default();
        let qos = match self.experiment.reliability {
            Reliability::Reliable => qos.reliable(),
            Reliability::BestEffort => qos.best_effort(),
        };
        let qos = match self.experiment.durability {
            Durability::TransientLocal => qos.transient_local(),
            Durability::Volatile => qos.volatile(),
        };
        match self.experiment.history {
            History::KeepLast => qos.keep_last(self.experiment.history_depth),
            History::KeepAll => qos.keep_all(),
        }
    }
}

impl WithType for &mut Context {
    type Output = Result<(), String>;

    fn run<M: Benchmark>(self) -> Self::Output {
        match self.endpoint {
            Endpoint::Publisher(_) => publisher::run::<M>(self),
            Endpoint::Subscription(_) => subscriber::run::<M>(self),
        }
    }
}

/// Runs this process as a worker until its endpoints are done or the coordinator is gone.
#[must_use]
pub fn run() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            // If nobody reads this any more, nobody is left to tell.
            let _ = write_line(&Report::Failed(None, sentence));
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), String> {
    let abandon = Arc::new(AtomicBool::new(false));
    prepare_process(&abandon).map_err(|error| format!("a worker cannot set up its signals: {error}"))?;
    let plan = read_plan()?;
    let flags = Arc::new(Flags { stop: AtomicBool::new(false), abandon, expected: AtomicU64::new(NOT_DRAINING) });
    let (outgoing, reports) = mpsc::sync_channel(OUTGOING_CAPACITY);
    let mut senders = Vec::new();
    let mut threads = Vec::new();
    for endpoint in plan.endpoints {
        let (sender, orders) = mpsc::channel();
        senders.push(sender);
        let context = Context {
            endpoint,
            experiment: plan.experiment.clone(),
            topic: plan.topic.clone(),
            orders,
            flags: flags.clone(),
            outgoing: outgoing.clone(),
        };
        let builder = std::thread::Builder::new().name(endpoint.to_string());
        let thread = builder.spawn(move || run_endpoint(context));
        threads.push(thread.map_err(|error| format!("cannot start a thread for {endpoint}: {error}"))?);
    }
    let to_main = outgoing.clone();
    drop(outgoing);
    std::thread::spawn(move || obey(&senders, &flags, &to_main));
    report_until_done(&reports, threads.len())?;
    for thread in threads {
        // A panic was printed by its own thread; the endpoint's `Guard` has reported it.
        let _ = thread.join();
    }
    Ok(())
}

/// The terminal's signals are the coordinator's to handle; its death is this process's end.
fn prepare_process(abandon: &Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    signal_hook::flag::register(signal_hook::consts::SIGTERM, abandon.clone())?;
    // `ps` and `top` would show it as `exe`, after the link it was started through.
    rustix::thread::set_name(c"perf_test")?;
    // Not SIGKILL: what lies in shared memory is to be taken away first.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    Ok(())
}

fn read_plan() -> Result<Plan, String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("a worker cannot read its plan: {error}"))?;
    serde_json::from_str(&line)
        .map_err(|error| format!("a worker does not understand its plan ({error}); it is started by perf_test only"))
}

/// Tells the main thread that an endpoint's thread is over, whichever way it ended.
struct Guard {
    outgoing: SyncSender<Outgoing>,
    endpoint: Endpoint,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let sentence = "its thread panicked; the message is on standard error".to_owned();
            let _ = self.outgoing.send(Outgoing::Control(Report::Failed(Some(self.endpoint), sentence)));
        }
        let _ = self.outgoing.send(Outgoing::Over);
    }
}

fn run_endpoint(mut context: Context) {
    let endpoint = context.endpoint;
    let _guard = Guard { outgoing: context.outgoing.clone(), endpoint };
    let (message, layout) = (context.experiment.message.clone(), context.experiment.layout);
    let result = with_type(&message, layout, &mut context)
        .unwrap_or_else(|| Err(format!("there is no message `{message}` in the {} layout", layout.name())));
    if let Err(sentence) = result {
        context.report(Report::Failed(Some(endpoint), sentence));
    }
}

/// Reads orders until stdin ends, then gives the endpoints a last moment.
fn obey(endpoints: &[Sender<Order>], flags: &Flags, outgoing: &SyncSender<Outgoing>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(order) = line.map_err(|_| ()).and_then(|line| serde_json::from_str(&line).map_err(|_| ())) else {
            break;
        };
        match order {
            Order::Stop => flags.stop.store(true, Ordering::Relaxed),
            Order::Drain { expected } => flags.expected.store(expected, Ordering::Relaxed),
            Order::Explain => tell(endpoints, order),
            Order::Go { .. } => {
                let _ = outgoing.send(Outgoing::Started);
                tell(endpoints, order);
            }
        }
    }
    flags.abandon.store(true, Ordering::Relaxed);
    tell(endpoints, Order::Stop);
    std::thread::sleep(LAST_MOMENT);
    std::process::exit(1);
}

/// For endpoints that wait for an order; one that is over does not.
fn tell(endpoints: &[Sender<Order>], order: Order) {
    for endpoint in endpoints {
        let _ = endpoint.send(order);
    }
}

/// The main thread: everything that is said goes through here.
fn report_until_done(reports: &Receiver<Outgoing>, mut endpoints: usize) -> Result<(), String> {
    while endpoints > 0 {
        let Ok(outgoing) = reports.recv() else { break };
        let report = match outgoing {
            Outgoing::Over => {
                endpoints -= 1;
                continue;
            }
            Outgoing::Control(report) => report,
            Outgoing::Started => Report::Started(Usage::of_this_process()?),
            Outgoing::Finished { endpoint, closing } => {
                Report::Finished { endpoint, closing, usage: Usage::of_this_process()? }
            }
            Outgoing::Sent { endpoint, second, whole, sent } => {
                let usage = Usage::of_this_process()?;
                Report::Row { endpoint, second, whole, counts: Counts::Sent(sent), usage }
            }
            Outgoing::Received { endpoint, second, whole, mut tally, give_back } => {
                let counts = Counts::Received(tally.received, tally.latencies.cells());
                tally.clear();
                // The endpoint may be over already; then the memory is not needed again.
                let _ = give_back.try_send(tally);
                Report::Row { endpoint, second, whole, counts, usage: Usage::of_this_process()? }
            }
        };
        write_line(&report).map_err(|error| format!("a worker cannot report: {error}"))?;
    }
    Ok(())
}

fn write_line(report: &Report) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
