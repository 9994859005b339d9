//! A worker process: one or more endpoints on threads, their orders on stdin, their reports on stdout.
//!
//! Started by the coordinator as the same executable, or as another one that brings a middleware along. The endpoints' threads never
//! write or wait for anybody while they measure: they hand finished rows to the main thread, which reports them. From message to
//! message they touch their own memory and read three flags: `tests/realtime` shows that nothing is allocated and no system call made
//! but the sleep until a message is due; that nothing is locked shows by reading. Once a second the hand-over may lock and wake. The
//! worker ends when its stdin ends, so it never outlives the coordinator.

mod draining;
mod intra_thread;
mod matching;
mod notes;
pub mod own_cost;
pub mod placement;
pub mod protocol;
mod publisher;
mod relay;
pub mod rows;
mod subscriber;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::backend::Backend;
use crate::endpoint::{Endpoint, EndpointPlan};
use crate::measure::memory::Footprint;
use crate::measure::resources::Resources;
use crate::measure::threads::{ThreadUsage, since};
use crate::run_spec::{RunSpec, Strategy};
use placement::Placement;
use protocol::{Closing, Order, PROTOCOL, Plan, Report};
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
    plan: EndpointPlan,
    placement: Placement,
    spec: Arc<RunSpec>,
    orders: Receiver<Order>,
    flags: Arc<Flags>,
    outgoing: SyncSender<Outgoing>,
}

impl Context {
    fn report(&self, report: Report) {
        // Fails only if the main thread is gone, and then the process is ending.
        let _ = self.outgoing.send(Outgoing::Control(report));
    }

    /// Says that all is done, and stays: others may still read what is this endpoint's, and its memory is yet to be looked at.
    fn finish(&self, closing: Closing) {
        let _ = self.outgoing.send(Outgoing::Finished { endpoint: self.plan.endpoint, closing });
    }

    fn stay_until_the_end(&self) {
        while !self.flags.abandoned() && self.orders.recv().is_ok() {}
    }
}

/// Runs this process as a worker until its endpoints are done or the coordinator is gone. `backends` are the middlewares that it
/// can measure.
#[must_use]
pub fn run(backends: &[&'static dyn Backend]) -> ExitCode {
    match work(backends) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            // If nobody reads this any more, nobody is left to tell.
            let _ = write_line(&Report::Failed(None, sentence));
            ExitCode::FAILURE
        }
    }
}

fn work(backends: &[&'static dyn Backend]) -> Result<(), String> {
    let abandon = Arc::new(AtomicBool::new(false));
    prepare_process(&abandon).map_err(|error| format!("a worker cannot set up its signals: {error}"))?;
    let plan = read_plan()?;
    let named = |backend: &&&dyn Backend| backend.name().eq_ignore_ascii_case(&plan.spec.communicator);
    let Some(backend) = backends.iter().find(named).copied() else {
        return Err(format!("this worker does not know the communicator {}", plan.spec.communicator));
    };
    let spec = Arc::new(plan.spec);
    let placement = Placement::of(&spec);
    // Before there are other threads, which inherit it.
    placement.apply_to_process()?;
    let flags = Arc::new(Flags { stop: AtomicBool::new(false), abandon, expected: AtomicU64::new(NOT_DRAINING) });
    let (outgoing, reports) = mpsc::sync_channel(OUTGOING_CAPACITY);
    let mut senders = Vec::new();
    let contexts: Vec<Context> = plan
        .endpoints
        .into_iter()
        .map(|plan| {
            let (sender, orders) = mpsc::channel();
            senders.push(sender);
            Context {
                plan,
                placement: placement.clone(),
                spec: spec.clone(),
                orders,
                flags: flags.clone(),
                outgoing: outgoing.clone(),
            }
        })
        .collect();
    let endpoints = contexts.len();
    let threads = if spec.strategy == Strategy::IntraThread { vec![contexts] } else { one_each(contexts) };
    for contexts in threads {
        let name = contexts.first().map(|context| context.plan.endpoint.to_string()).unwrap_or_default();
        let builder = std::thread::Builder::new().name(name.clone());
        let thread = builder.spawn(move || run_endpoints(&contexts, backend));
        thread.map_err(|error| format!("cannot start a thread for {name}: {error}"))?;
    }
    let to_main = outgoing.clone();
    drop(outgoing);
    std::thread::Builder::new()
        .name("orders".to_owned())
        .spawn(move || obey(&senders, &flags, &to_main))
        .map_err(|error| format!("cannot start a thread for orders: {error}"))?;
    report_until_done(&reports, endpoints)
}

fn one_each(contexts: Vec<Context>) -> Vec<Vec<Context>> {
    contexts.into_iter().map(|context| vec![context]).collect()
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
    let plan: Plan = serde_json::from_str(&line)
        .map_err(|error| format!("a worker does not understand its plan ({error}); it is started by perf_test only"))?;
    if plan.protocol != PROTOCOL {
        let theirs = plan.protocol;
        return Err(format!("the worker speaks protocol {PROTOCOL}, perf_test {theirs}: install both of one version"));
    }
    Ok(plan)
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

/// A thread's work: one endpoint, or with INTRA_THREAD all.
fn run_endpoints(contexts: &[Context], backend: &dyn Backend) {
    let guard = |context: &Context| Guard { outgoing: context.outgoing.clone(), endpoint: context.plan.endpoint };
    let _guards: Vec<Guard> = contexts.iter().map(guard).collect();
    let [context, others @ ..] = contexts else { return };
    let result = if !others.is_empty() {
        intra_thread::run(context, others, backend)
    } else {
        match context.plan.endpoint {
            Endpoint::Publisher(_) => publisher::run(context, backend),
            Endpoint::Subscription(_) => subscriber::run(context, backend),
            Endpoint::Relay(_) => relay::run(context, backend),
        }
    };
    if let Err(sentence) = result {
        context.report(Report::Failed(Some(context.plan.endpoint), sentence));
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
fn report_until_done(reports: &Receiver<Outgoing>, endpoints: usize) -> Result<(), String> {
    let (mut alive, mut unfinished) = (endpoints, endpoints);
    let mut threads_before = Vec::new();
    while alive > 0 {
        let Ok(outgoing) = reports.recv() else { break };
        let report = match outgoing {
            Outgoing::Over => {
                alive -= 1;
                continue;
            }
            Outgoing::Control(report) => report,
            Outgoing::Started => {
                threads_before = ThreadUsage::all_of_this_process()?;
                Report::Started(Resources::of_this_process()?)
            }
            Outgoing::Row { endpoint, second, whole, mut tally, give_back } => {
                let counts = Box::new(tally.counts());
                tally.clear();
                // The endpoint may be over already; then the memory is not needed again.
                let _ = give_back.try_send(tally);
                Report::Row { endpoint, second, whole, counts, resources: Resources::of_this_process()? }
            }
            Outgoing::Finished { endpoint, closing } => {
                unfinished = unfinished.saturating_sub(1);
                say(&Report::Finished { endpoint, closing, resources: Resources::of_this_process()? })?;
                if unfinished > 0 {
                    continue;
                }
                let threads = since(&ThreadUsage::all_of_this_process()?, &threads_before);
                Report::Ended { footprint: Footprint::of_this_process()?, threads }
            }
        };
        say(&report)?;
    }
    Ok(())
}

fn say(report: &Report) -> Result<(), String> {
    write_line(report).map_err(|error| format!("a worker cannot report: {error}"))
}

fn write_line(report: &Report) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
