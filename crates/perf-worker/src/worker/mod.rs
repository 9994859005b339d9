//! A worker process: one or more endpoints on threads, their orders on stdin, their reports over a pipe.
//!
//! A worker is a program that contains a middleware. While they measure, the endpoints' threads neither write nor
//! wait for another thread: they hand finished rows to the main thread, which reports them. From message to
//! message these threads touch their own memory and read three flags; if the middleware delivers messages on its
//! own threads, each message takes a lock. `tests/realtime` shows that the loops allocate nothing and make no
//! system call but the sleep until a message is due; no test shows that they take no lock. Once a second, the
//! hand-over of a row may take a lock and wake the main thread. The worker ends when its stdin ends, so it never
//! outlives the coordinator.

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

/// Runs this process as a worker until its endpoints are done or the coordinator has gone. `backends` are the
/// middlewares that it can measure. Returns the exit code.
#[must_use]
pub fn run(backends: &[&'static dyn Backend]) -> u8 {
    let mut channel = match Channel::inherit() {
        Ok(channel) => channel,
        Err(sentence) => {
            // Writing fails only if the console has gone.
            let _ = writeln!(std::io::stderr().lock(), "{sentence}");
            return 1;
        }
    };
    match run_worker(backends, &mut channel) {
        Ok(()) => 0,
        Err(sentence) => {
            // Sending fails only if the coordinator has gone.
            let _ = channel.send(&Report::Failed(None, sentence));
            1
        }
    }
}

fn run_worker(backends: &[&'static dyn Backend], channel: &mut Channel) -> Result<(), String> {
    let abandon = Arc::new(AtomicBool::new(false));
    prepare_process(&abandon).map_err(|error| format!("a worker cannot set up its signals: {error}"))?;
    let plan = read_plan()?;
    // As in the name of the worker program, `-` and `_` are equivalent.
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let named = |backend: &&&dyn Backend| plain(backend.name()) == plain(&plan.spec.communicator);
    let Some(backend) = backends.iter().find(named).copied() else {
        return Err(format!("this worker does not know the communicator {}", plan.spec.communicator));
    };
    let (spec, row_delay_ns) = (Arc::new(plan.spec), plan.row_delay_ns);
    let placement = Placement::of(&spec);
    // Other threads start later and inherit this scheduling.
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
        // One thread of the instrument, the keeper, serves all executors of the process.
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

/// The threads of the endpoints. Dropping this value ends the threads and waits until they are gone: only after this
/// the session can remove its files.
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
            // A panic has been reported.
            let _ = thread.join();
        }
    }
}

/// Sets up the signals: the coordinator handles the terminal's signals, and its death sends this process SIGTERM.
fn prepare_process(abandon: &Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    // Rust's runtime ignores SIGPIPE, but a program in C does not: the signal would kill the worker if the coordinator
    // or a peer of the middleware has gone.
    signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::new(AtomicBool::new(false)))?;
    signal_hook::flag::register(signal_hook::consts::SIGTERM, abandon.clone())?;
    // Without this name, `ps` and `top` show `exe`, the name of the link through which the process was started.
    rustix::thread::set_name(c"perf_test")?;
    // The signal is not SIGKILL, because shared memory must be removed first.
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
        return Err(format!("the worker speaks protocol {PROTOCOL}, perf_test {theirs}: install both of one version"));
    }
    Ok(plan)
}

/// Notifies the main thread when an endpoint's thread ends, even if it panics.
struct ExitGuard {
    outgoing: SyncSender<Outgoing>,
    endpoint: Endpoint,
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let sentence = "its thread panicked; the message is on standard error".to_owned();
            let _ = self.outgoing.send(Outgoing::Control(Box::new(Report::Failed(Some(self.endpoint), sentence))));
        }
        let _ = self.outgoing.send(Outgoing::ThreadEnded);
    }
}

/// The work of a thread: one endpoint, or all endpoints that share the thread.
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
