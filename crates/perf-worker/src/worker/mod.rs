//! A worker process: one or more endpoints on threads. Orders arrive on stdin, and reports leave through a pipe.
//!
//! A worker is a program that contains a middleware. During the measurement the endpoints' threads neither write output
//! nor wait for another thread. They pass finished rows (the figures of one second) to the main thread, which reports
//! them. For each message, these threads access only their own memory and three flags. If the middleware delivers
//! messages on its own threads, each message also takes a lock. `tests/realtime` shows that the loops do not allocate,
//! and make no system call but the sleep until a message is due. No test shows that they take no lock. Once a second,
//! passing a row may take a lock and wake the main thread. The worker ends when its stdin ends, so it never outlives
//! the coordinator.

mod channel;
mod context;
mod executors;
mod loops;
mod matching;
mod orders;
pub mod own_cost;
pub mod placement;
mod program;
pub mod protocol;
mod recording;
mod reporting;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::{
    backend::{Backend, Session},
    endpoint::Endpoint,
    measure::usage::Usage,
};
use channel::Channel;
use context::account::InstrumentAccount;
use context::outgoing::{OUTGOING_CAPACITY, Outgoing};
use context::{Context, Flags, NOT_DRAINING};
pub use executors::KEEPER_THREAD;
use loops::{publisher, relay, shared_thread, subscriber};
pub use orders::ORDERS_THREAD;
use orders::{OrderChannel, Orders};
use placement::Placement;
pub use program::{exit_code, main};
use protocol::{PROTOCOL, Plan, Report};
use reporting::reporter::Reporter;

/// Runs this process as a worker until its endpoints have finished or the coordinator has exited. `backends` are the
/// middlewares that the program contains. Returns the exit code.
#[must_use]
pub fn run(backends: &[&'static dyn Backend]) -> u8 {
    let mut channel = match Channel::inherit() {
        Ok(channel) => channel,
        Err(sentence) => {
            // The result is ignored: writing fails only if the console is closed.
            let _ = writeln!(std::io::stderr().lock(), "{sentence}");
            return 1;
        }
    };
    match run_worker(backends, &mut channel) {
        Ok(()) => 0,
        Err(sentence) => {
            // The result is ignored: sending fails only if the coordinator has exited.
            let _ = channel.send(&Report::Failed(None, sentence));
            1
        }
    }
}

fn run_worker(backends: &[&'static dyn Backend], channel: &mut Channel) -> Result<(), String> {
    let abandon = Arc::new(AtomicBool::new(false));
    prepare_process(&abandon).map_err(|error| format!("a worker cannot set up its signals: {error}"))?;
    let plan = read_plan()?;
    // `-` and `_` are equivalent, as in the names of worker programs.
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let named = |backend: &&&dyn Backend| plain(backend.name()) == plain(&plan.spec.communicator);
    let Some(backend) = backends.iter().find(named).copied() else {
        return Err(format!("this worker does not know the communicator {}", plan.spec.communicator));
    };
    let (spec, row_delay_ns) = (Arc::new(plan.spec), plan.row_delay_ns);
    let placement = Placement::for_run(&spec);
    // This comes first, because threads that start later inherit this scheduling.
    let own_scheduling = placement.apply_to_process()?;
    let before = Usage::of_this_thread()?;
    let session: Arc<dyn Session> = Arc::from(backend.open(&spec)?);
    let opening = Usage::of_this_thread()?.since(&before);
    channel.send(&Report::Opened { effective: session.effective() })?;
    let flags = Arc::new(Flags { stop: AtomicBool::new(false), abandon });
    let (outgoing, reports) = mpsc::sync_channel(OUTGOING_CAPACITY);
    let account = InstrumentAccount::default();
    let mut ways = Vec::new();
    let mut threads_of: BTreeMap<u32, Vec<Context>> = BTreeMap::new();
    let endpoints = plan.endpoints.len();
    for plan in plan.endpoints {
        let (sender, orders) = mpsc::channel();
        let expected = Arc::new(AtomicU64::new(NOT_DRAINING));
        ways.push(OrderChannel { endpoint: plan.endpoint, sender, expected: expected.clone() });
        // In a run with executors, one thread of `perf_test` (the keeper) serves all endpoints of the process.
        let thread = if spec.executor.is_some() { 0 } else { plan.executor };
        threads_of.entry(thread).or_default().push(Context {
            plan,
            placement: placement.clone(),
            spec: spec.clone(),
            row_delay_ns,
            orders,
            flags: flags.clone(),
            expected,
            outgoing: outgoing.clone(),
            account: account.clone(),
        });
    }
    let orders = Arc::new(Orders { ways, flags, in_executors: spec.executor.is_some() });
    let mut threads = Threads { running: Vec::new(), orders: orders.clone() };
    threads_of.into_values().try_for_each(|contexts| threads.start(contexts, session.clone()))?;
    if let Some(scheduling) = own_scheduling {
        scheduling.restore()?;
    }
    let reporter = Reporter::new(reports, account.clone(), session.clone(), opening, &spec, endpoints);
    std::thread::Builder::new()
        .name(ORDERS_THREAD.to_owned())
        .spawn(move || orders.read(&outgoing, &account))
        .map_err(|error| format!("cannot start a thread for orders: {error}"))?;
    reporter.run(channel)
}

/// The threads of the endpoints. Dropping this value ends the threads and joins them. The session may remove its files
/// only after that.
struct Threads {
    running: Vec<JoinHandle<()>>,
    orders: Arc<Orders>,
}

impl Threads {
    /// Starts the thread of one endpoint, or of all endpoints that share it.
    fn start(&mut self, contexts: Vec<Context>, session: Arc<dyn Session>) -> Result<(), String> {
        let name = match contexts.first() {
            Some(context) if context.spec.executor.is_some() => KEEPER_THREAD.to_owned(),
            first => first.map(|context| context.plan.endpoint.to_string()).unwrap_or_default(),
        };
        let thread = std::thread::Builder::new().name(name.clone());
        let thread = thread.spawn(move || run_endpoints(&contexts, &*session));
        self.running.push(thread.map_err(|error| format!("cannot start a thread for {name}: {error}"))?);
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.orders.abandon();
        for thread in self.running.drain(..) {
            // The result is ignored, because a panic has already been reported.
            let _ = thread.join();
        }
    }
}

/// Sets up the signals. The worker ignores the terminal's signals, which the coordinator handles. The worker receives
/// SIGTERM if the coordinator dies.
fn prepare_process(abandon: &Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    // Rust's runtime ignores SIGPIPE, but the `main` of a C program does not. The signal would kill the worker when the
    // coordinator or a peer of the middleware exits.
    signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::new(AtomicBool::new(false)))?;
    signal_hook::flag::register(signal_hook::consts::SIGTERM, abandon.clone())?;
    // Without this name, `ps` and `top` show `exe`, the last part of the path `/proc/self/exe` from which the process
    // was started.
    rustix::thread::set_name(c"perf_test")?;
    // The death signal is not SIGKILL, because the worker must remove its shared memory first.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    Ok(())
}

fn read_plan() -> Result<Plan, String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("a worker cannot read its plan: {error}"))?;
    let plan: Plan = serde_json::from_str(&line)
        .map_err(|error| format!("the plan of a worker is not valid ({error}); only perf_test starts workers"))?;
    if plan.protocol != PROTOCOL {
        let theirs = plan.protocol;
        return Err(format!(
            "the worker speaks protocol {PROTOCOL}, perf_test {theirs}: install both programs from one version"
        ));
    }
    Ok(plan)
}

/// Notifies the main thread when an endpoint's thread ends, even by a panic.
struct ExitGuard {
    outgoing: SyncSender<Outgoing>,
    endpoint: Endpoint,
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let sentence = "the thread of the endpoint panicked; the message is on standard error".to_owned();
            let _ = self.outgoing.send(Outgoing::Control(Box::new(Report::Failed(Some(self.endpoint), sentence))));
        }
        let _ = self.outgoing.send(Outgoing::ThreadEnded);
    }
}

/// The main function of an endpoint's thread. It serves one endpoint, or all endpoints that share the thread.
fn run_endpoints(contexts: &[Context], session: &dyn Session) {
    let guard = |context: &Context| ExitGuard { outgoing: context.outgoing.clone(), endpoint: context.plan.endpoint };
    let _guards: Vec<ExitGuard> = contexts.iter().map(guard).collect();
    let Some(context) = contexts.first() else { return };
    let result = match (contexts, context.plan.endpoint) {
        _ if context.spec.executor.is_some() => executors::run(contexts, session),
        ([alone], Endpoint::Publisher(_)) if !alone.plan.service => publisher::run(alone, session),
        ([alone], Endpoint::Subscription(_)) if !alone.plan.service => subscriber::run(alone, session),
        ([alone], Endpoint::Relay(_)) => relay::run(alone, session),
        _ => shared_thread::run(contexts, session),
    };
    if let Err(sentence) = result {
        context.report(Report::Failed(Some(context.plan.endpoint), sentence));
    }
}
