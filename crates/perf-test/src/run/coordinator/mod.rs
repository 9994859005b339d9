//! The coordinator does one run, from its first process to its summary.
//!
//! The coordinator starts the daemons that the middleware needs, then the workers. It waits until the endpoints are
//! matched and orders the workers to start. It merges and reports their rows, lets the endpoints take the remaining
//! samples, and ends all processes. While the workers measure, it sends them nothing. `worker::protocol` in
//! `perf_worker` defines the messages between coordinator and workers.

mod chains;
pub mod daemon;
mod finish;
mod fleet;
mod growths;
mod ledger;
mod measure;
mod senders;
mod set_up;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::{
    common::{
        error::Failure,
        idle::Awake,
        interrupt::Interrupt,
        warning::{Warning, WarningKind},
    },
    communicator::Communicator,
    log::Summary,
    measure::{daemon::Daemon, overload::Growth},
    report::Reports,
    system::{Watch, root_folder},
};
use daemon::StartedDaemon;
use fleet::{Event, Fleet};
use growths::growths;
use ledger::Ledger;
use perf_worker::{
    backend::DeviceMemory,
    clock::{SECOND_NS, now_ns},
    endpoint::{Endpoint, EndpointPlan},
    measure::{calibration::Calibration, memory::Footprint, threads::ThreadUsage},
    run_spec::{Phase, Roundtrip, RunSpec, Strategy},
    worker::{
        placement::Placement,
        protocol::{EndpointReport, PROTOCOL, Plan, times::ROW_DELAY_NS},
    },
};
use senders::senders;

/// The longest wait for an event. After it, the coordinator checks the clock and Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Measures a run with workers for these plans. Each row is reported as soon as it is complete.
///
/// # Errors
/// [`Failure::Measurement`] if the run cannot start or its reports cannot be written; [`Failure::Hung`] if a process
/// was not ready in time.
pub fn run(
    spec: &RunSpec,
    communicator: &Communicator,
    workers: Vec<Plan>,
    reports: &mut Reports,
    interrupt: &Interrupt,
) -> Result<Summary, Failure> {
    let is_quiet = reports.is_quiet();
    let calibrate = || {
        if is_quiet {
            return Ok(Calibration::default());
        }
        Calibration::measure(spec.message.bytes, spec.rate_hz, spec.qos.depth).map_err(Failure::Measurement)
    };
    Placement::for_run(spec).check().map_err(Failure::Usage)?;
    let program = communicator.worker();
    // Keeps the CPUs awake until the workers have exited.
    let _awake = if spec.prevent_cpu_idle { Some(Awake::hold().map_err(Failure::Usage)?) } else { None };
    let mut daemons = Vec::new();
    for wanted in &spec.daemons {
        daemons.extend(Daemon::find(wanted).map_err(Failure::Usage)?);
    }
    let warnings = communicator.warning().into_iter().collect();
    let summary = Summary { calibration_before: calibrate()?, warnings, ..Summary::default() };
    let watch = Watch::start(&root_folder());
    let mut started = Vec::new();
    for command in &spec.daemon_commands {
        let daemon = StartedDaemon::start(command, interrupt)?;
        daemons.push(Daemon::started(daemon.pid, &daemon.name));
        started.push(daemon);
    }
    let senders = senders(&workers);
    let plans = workers.iter().flat_map(|worker| &worker.endpoints).map(|plan| (plan.endpoint, plan.clone())).collect();
    let growths = growths(&plans, &senders);
    let ledger = Ledger::new(senders, workers.len(), spec.left_out_s());
    let begun_ns = now_ns();
    let fleet = Fleet::start(&program, workers).map_err(Failure::Measurement)?;
    let mut run = Run {
        spec,
        communicator,
        reports,
        interrupt,
        fleet,
        ledger,
        growths,
        working: plans.keys().copied().collect(),
        plans,
        endpoint_reports: BTreeMap::new(),
        failed_endpoints: BTreeMap::new(),
        ended: BTreeMap::new(),
        started,
        daemons,
        daemon_readings: 0,
        summary,
        begun_ns,
        start_ns: 0,
        late_starts: Vec::new(),
        stopped_ns: None,
    };
    let set_up = run.set_up();
    let set_up = set_up.map_err(if run.summary.hung { Failure::Hung } else { Failure::Measurement });
    let measured = set_up.and_then(|()| run.measure()).and_then(|()| run.drain());
    run.end_processes();
    measured?;
    run.summary.warnings.extend(watch.end());
    run.summary.calibration_after = calibrate().unwrap_or_else(|failure| {
        run.warn(WarningKind::Calibration, [format!("the machine could not be calibrated after the run: {failure}")]);
        run.summary.calibration_before
    });
    Ok(run.finish())
}

/// The plans of the workers of a run without a topology. `topic` is the full topic name.
#[must_use]
pub fn plans(spec: &RunSpec, topic: &str) -> Vec<Plan> {
    let there = format!("{topic}_main");
    let back = format!("{topic}_relay");
    let (to, from) = match spec.roundtrip {
        Roundtrip::None | Roundtrip::Service => (topic, topic),
        _ => (there.as_str(), back.as_str()),
    };
    let service = spec.roundtrip == Roundtrip::Service;
    let phases_ns: Vec<i64> = (0..spec.publishers).map(|index| phase_ns(spec, index)).collect();
    let publishers = (0..).zip(&phases_ns).map(|(index, phase_ns)| EndpointPlan {
        phase_ns: *phase_ns,
        ..EndpointPlan::of_run(spec, Endpoint::Publisher(index), to)
    });
    let subscriptions = (0..spec.subscriptions).map(|index| {
        let plan = EndpointPlan::of_run(spec, Endpoint::Subscription(index), from);
        match phases_ns.get(index as usize).filter(|_| service) {
            // A client of a service receives only the responses to its own requests.
            Some(phase_ns) => {
                let answers = Some(Endpoint::Publisher(index));
                EndpointPlan { publishers: 1, phase_ns: *phase_ns, answers, ..plan }
            }
            None => plan,
        }
    });
    let relay_topic = if service { "" } else { from };
    let relays = matches!(spec.roundtrip, Roundtrip::Relay | Roundtrip::Both | Roundtrip::Service).then(|| {
        EndpointPlan { relay_topic: relay_topic.to_owned(), ..EndpointPlan::of_run(spec, Endpoint::Relay(0), to) }
    });
    let executor = |plan: &EndpointPlan, index| match plan.endpoint {
        _ if spec.strategy == Strategy::IntraThread => 0,
        // Each client of a service has its own thread.
        Endpoint::Subscription(client) if service => client,
        _ => index,
    };
    let numbered = |(plan, index)| EndpointPlan { index, executor: executor(&plan, index), service, ..plan };
    let mut endpoints: Vec<EndpointPlan> =
        publishers.chain(relays).chain(subscriptions).zip(0..).map(numbered).collect();
    let is_relay = |plan: &EndpointPlan| matches!(plan.endpoint, Endpoint::Relay(_));
    if service {
        endpoints.sort_by_key(is_relay);
    }
    let together = spec.strategy != Strategy::InterProcess;
    // With INTER_PROCESS, all publishers (or all clients of a service) share one process, and every other endpoint has
    // its own process. With the other strategies, all endpoints are in one process.
    let shares = |plan: &EndpointPlan| is_publisher(&plan.endpoint) || (service && !is_relay(plan));
    let same = |one: &EndpointPlan, other: &EndpointPlan| together || (shares(one) && shares(other));
    // Rows are reported at the latest halfway between two messages, so that a report does not delay a message.
    let row_delay_ns = spec.gap_ns().map_or(ROW_DELAY_NS, |gap_ns| ROW_DELAY_NS.min(gap_ns / 2));
    let plan = |endpoints: &[EndpointPlan]| Plan {
        protocol: PROTOCOL,
        name: String::new(),
        spec: spec.clone(),
        row_delay_ns,
        endpoints: endpoints.to_vec(),
    };
    endpoints.chunk_by(same).map(plan).collect()
}

/// The delay of publisher `index`'s first message after the start, nanoseconds.
fn phase_ns(spec: &RunSpec, index: u32) -> i64 {
    let Some(period_ns) = SECOND_NS.checked_div(i64::from(spec.rate_hz)) else { return 0 };
    match spec.phase {
        Phase::Spread => period_ns * i64::from(index) / i64::from(spec.publishers),
        Phase::Random if spec.publishers > 1 => (RandomState::new().hash_one(index) % period_ns as u64) as i64,
        Phase::Aligned | Phase::Random => 0,
    }
}

fn is_publisher(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Publisher(_))
}

/// A kind of endpoint: its name in sentences, and its predicate.
type Kind = (&'static str, fn(&Endpoint) -> bool);

/// All kinds of endpoints.
const KINDS: [Kind; 3] = [
    ("publishers", is_publisher),
    ("subscriptions", |endpoint| matches!(endpoint, Endpoint::Subscription(_))),
    ("relays", |endpoint| matches!(endpoint, Endpoint::Relay(_))),
];

/// The kinds of endpoint without which a run ends: if all endpoints of such a kind are gone, the run is over. A
/// topology continues without servers.
fn needed(spec: &RunSpec) -> &'static [Kind] {
    let [ends @ .., _] = &KINDS;
    if spec.executor.is_some() { ends } else { &KINDS }
}

/// The reason why an endpoint did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointFailure {
    /// The process of the endpoint has exited.
    Exited,
    /// The process of the endpoint runs, but the endpoint failed or does not respond.
    Unresponsive,
}

/// The last report of a worker; empty if the worker exited without one.
#[derive(Debug, Default)]
struct WorkerEnd {
    /// The worker's memory, by kind of memory.
    footprint: Option<Footprint>,
    /// The CPU time of each thread of the worker during the measurement.
    threads: Vec<ThreadUsage>,
    /// The memory of the device (such as a microcontroller) that the worker measured; `None` if it measured its own
    /// process.
    device: Option<DeviceMemory>,
    /// The memory of the worker that holds perf_test's own counters and histograms, bytes.
    instrument_bytes: Option<u64>,
}

struct Run<'a> {
    spec: &'a RunSpec,
    communicator: &'a Communicator,
    reports: &'a mut Reports,
    interrupt: &'a Interrupt,
    fleet: Fleet,
    ledger: Ledger,
    /// For each subscription of a topology, the growth of its latency from second to second.
    growths: BTreeMap<Endpoint, Growth>,
    plans: BTreeMap<Endpoint, EndpointPlan>,
    /// The endpoints that have neither finished nor failed.
    working: BTreeSet<Endpoint>,
    endpoint_reports: BTreeMap<Endpoint, EndpointReport>,
    /// The endpoints that did not finish.
    failed_endpoints: BTreeMap<Endpoint, EndpointFailure>,
    /// The last report of each worker, with its memory and threads.
    ended: BTreeMap<usize, WorkerEnd>,
    /// The daemons that the run has started. They end after the workers.
    started: Vec<StartedDaemon>,
    /// The daemons that are still measured: daemons that this run started, and daemons that the user gave with
    /// `--daemon`.
    daemons: Vec<Daemon>,
    /// The number of measured seconds after which the daemons' CPU time and memory are read again.
    daemon_readings: i64,
    /// The summary so far: set-up times, daemons that have ended, warnings.
    summary: Summary,
    /// The time at which the first worker was started, ns.
    begun_ns: i64,
    start_ns: i64,
    /// The workers that started after the start time: the delay in ns, and the worker's label.
    late_starts: Vec<(i64, String)>,
    /// The time of an early end, ns; `None` if the run did not end early.
    stopped_ns: Option<i64>,
}

impl Run<'_> {
    /// Ends all workers and then the daemons. Removes the files of processes that ended with an error.
    fn end_processes(&mut self) {
        let several = self.fleet.workers.iter().filter(|worker| worker.invalid_lines > 1);
        let invalid = several.map(|worker| {
            format!("{} (pid {}) sent {} lines that are not reports", worker.label, worker.pid, worker.invalid_lines)
        });
        let invalid: Vec<String> = invalid.collect();
        let workers = [invalid, self.fleet.end()].concat();
        let daemons: Vec<String> = self.started.iter_mut().filter_map(StartedDaemon::end).collect();
        let ended_well = self.fleet.ended_well() && daemons.is_empty();
        let left = if ended_well { None } else { self.communicator.clean_up(self.spec).err() };
        let left = left.map(|why| format!("files of a worker or daemon could not be removed: {why}"));
        self.warn(WarningKind::Worker, workers);
        self.warn(WarningKind::Daemon, daemons);
        self.warn(WarningKind::LeftBehind, left);
    }

    /// Adds warnings of one kind, without a hint.
    fn warn(&mut self, kind: WarningKind, sentences: impl IntoIterator<Item = String>) {
        self.summary.warnings.extend(sentences.into_iter().map(|sentence| Warning::new(kind, sentence, "")));
    }

    /// The name of an endpoint in sentences: its topic and node, or its kind and index.
    fn name(&self, endpoint: Endpoint) -> String {
        self.plans.get(&endpoint).map_or_else(|| endpoint.to_string(), EndpointPlan::to_string)
    }

    /// A phrase about the exit of a worker or about its invalid line.
    fn exit_description(&mut self, worker: usize, event: &Event) -> String {
        let how = match event {
            Event::Invalid(_, line) => format!("sent {line:?}, which is not a report,"),
            _ => self.fleet.exit_cause(worker).unwrap_or_else(|| {
                self.summary.hung = true;
                "ended its reports, did not exit by itself and was killed".to_owned()
            }),
        };
        match self.fleet.workers.get(worker) {
            Some(worker) => format!("the process of {} (pid {}) {how}", worker.label, worker.pid),
            None => how,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn spec(options: &str) -> RunSpec {
        let line = format!("perf_test {options}");
        let cli = cli::parse(line.split_whitespace().map(Into::into)).unwrap();
        cli::resolve(&cli.options).unwrap().spec
    }

    fn phases_ns(options: &str) -> Vec<i64> {
        let plans = plans(&spec(options), "/topic");
        plans.iter().flat_map(|plan| &plan.endpoints).map(|plan| plan.phase_ns).collect()
    }

    #[test]
    fn publishers_begin_at_their_phases_and_others_have_none() {
        const MS: i64 = SECOND_NS / 1000;
        // The last two values are of subscriptions.
        assert_eq!(phases_ns("-p 4 -s 2 -r 10"), [0, 25 * MS, 50 * MS, 75 * MS, 0, 0]);
        assert_eq!(phases_ns("-p 4 -s 2 -r 10 --phase aligned"), [0; 6]);
        for options in ["-r 10", "-r 10 --phase random", "-p 3 -s 0 -r 0", "-p 3 -s 0 -r 0 --phase random"] {
            assert!(phases_ns(options).iter().all(|phase_ns| *phase_ns == 0), "{options}");
        }
        let (one, other) = (phases_ns("-p 8 -s 0 -r 10 --phase random"), phases_ns("-p 8 -s 0 -r 10 --phase random"));
        assert!(one.iter().all(|phase_ns| (0..100 * MS).contains(phase_ns)) && one != other, "{one:?} {other:?}");
    }

    #[test]
    fn a_client_is_a_thread_and_receives_what_it_asked_for() {
        let plans = plans(&spec("--roundtrip-mode Service -p 2 -r 10 --phase random --work 1ms"), "/service");
        let endpoints: Vec<Vec<Endpoint>> =
            plans.iter().map(|plan| plan.endpoints.iter().map(|plan| plan.endpoint).collect()).collect();
        let (publisher, subscription, server) = (Endpoint::Publisher, Endpoint::Subscription, Endpoint::Relay(0));
        assert_eq!(endpoints, [vec![publisher(0), publisher(1), subscription(0), subscription(1)], vec![server]]);
        let [requests @ .., _, _] = plans[0].endpoints.as_slice() else { panic!("{endpoints:?}") };
        for (request, response) in requests.iter().zip(&plans[0].endpoints[2..]) {
            assert_eq!((request.executor, request.phase_ns), (response.executor, response.phase_ns));
            assert_eq!((response.publishers, response.expected, request.expected), (1, 1, 1));
        }
        let [served] = plans[1].endpoints.as_slice() else { panic!("{endpoints:?}") };
        assert_eq!((served.publishers, served.expected, served.work_ns), (2, 2, 1_000_000));
        assert_eq!(senders(&plans)[&subscription(1)], [publisher(1)]);
        assert_eq!(senders(&plans)[&server], [publisher(0), publisher(1)]);
    }

    #[test]
    fn endpoints_receive_from_the_publishers_of_their_topic() {
        let (publisher, subscription, relay) = (Endpoint::Publisher, Endpoint::Subscription, Endpoint::Relay(0));
        for mode in ["Both", "Main"] {
            let senders = senders(&plans(&spec(&format!("--roundtrip-mode {mode}")), "/topic"));
            assert_eq!(senders[&subscription(0)], [publisher(0)], "{mode}");
        }
        assert!(senders(&plans(&spec("--roundtrip-mode Relay"), "/topic"))[&relay].is_empty());
        let mut two = plans(&spec("-p 2 -s 2"), "/one");
        for plan in two.iter_mut().flat_map(|plan| &mut plan.endpoints) {
            if matches!(plan.endpoint, Endpoint::Publisher(1) | Endpoint::Subscription(1)) {
                plan.topic = "/other".to_owned();
            }
        }
        let senders = senders(&two);
        assert_eq!([0, 1].map(|index| senders[&subscription(index)].clone()), [[publisher(0)], [publisher(1)]]);
    }

    #[test]
    fn no_message_is_due_when_rows_are_handed_over() {
        for options in
            ["-r 10", "-p 2 -r 10", "-p 4 -s 2 -r 10", "-p 3 -r 7", "-p 64 -r 1000", "-p 4 -r 10 --phase aligned"]
        {
            let spec = spec(options);
            let (gap_ns, period_ns) = (spec.gap_ns().unwrap(), SECOND_NS / i64::from(spec.rate_hz));
            for phase_ns in phases_ns(options) {
                let between_ns = (gap_ns / 2 - phase_ns).rem_euclid(period_ns);
                let distance_ns = between_ns.min(period_ns - between_ns);
                assert!(
                    distance_ns >= gap_ns / 2 - 1,
                    "{options}: {distance_ns} ns from a message with a gap of {gap_ns} ns"
                );
            }
        }
    }
}
