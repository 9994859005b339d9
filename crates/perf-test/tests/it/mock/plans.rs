//! Tests of a worker whose endpoints have different plans: topics, messages, rates, QoS, phases, limits, work and
//! threads.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, PipeReader, Write, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use perf_test::cli;
use perf_worker::clock::{SECOND_NS, now_ns};
use perf_worker::endpoint::{Endpoint, EndpointPlan, Source};
use perf_worker::measure::{
    tally::{Received, Sent},
    threads::ThreadUsage,
};
use perf_worker::pacing::Pace;
use perf_worker::run_spec::{History, MockScript, Reliability, RunSpec};
use perf_worker::worker::protocol::{Order, PROTOCOL, Plan, REPORTS_FD, Report};
use rustix::fs::OFlags;

use crate::program::Memory;

test_support::tests![
    unequal_endpoints_keep_to_their_own_plans,
    endpoints_that_cannot_share_a_thread_say_so,
    a_late_order_to_go_costs_a_shared_thread_no_sample,
    a_worker_that_cannot_report_ends_and_leaves_no_file,
    no_program_of_the_middleware_inherits_the_pipe_for_reports,
    an_order_that_is_not_understood_is_an_error,
];

const MS: i64 = SECOND_NS / 1000;
const RUN_S: i64 = 2;
const PUBLISHERS: [Endpoint; 2] = [Endpoint::Publisher(0), Endpoint::Publisher(1)];
const SUBSCRIPTIONS: [Endpoint; 3] = [Endpoint::Subscription(0), Endpoint::Subscription(1), Endpoint::Subscription(2)];
/// The number of messages that each publisher sends, at 100 and at 20 messages per second.
const SENT: [u64; 2] = [200, 40];
/// The phase of the second publisher: its start is delayed by this time.
const PHASE_NS: i64 = 10 * MS;
/// The work for each message of the subscription that shares the second publisher's thread.
const WORK_NS: i64 = 5 * MS;

fn spec(options: &str) -> RunSpec {
    let line = format!("perf_test --max-runtime {RUN_S} --history-depth 1000 {options}");
    let options = cli::parse(line.split_whitespace().map(Into::into)).unwrap().options;
    cli::resolve(&options).unwrap().spec
}

/// Changes the specification of a run to the mock. `cli` cannot do this, because the mock's worker program is not in
/// the folder of this test program.
fn over_mock(spec: RunSpec, script: &str) -> RunSpec {
    let (mock, communicator): (MockScript, _) = (script.parse().unwrap(), "Mock".to_owned());
    let settings = [("colour".to_owned(), "blue".to_owned())].into();
    RunSpec { communicator, settings, capabilities: mock.limit(spec.capabilities), mock, ..spec }
}

/// A plan whose endpoints all have other values than the specification of the run.
fn plan(communicator: &str) -> Plan {
    let spec = spec("-p 2 -s 3 -m Array4k -r 7");
    let spec = if communicator == "Mock" { over_mock(spec, "latency=1ms") } else { spec };
    let small = self::spec("-m Array128").message;
    let large = self::spec("-m Array1k").message;
    let (rare, often) = (Pace { messages: 30, per_ns: 3 * SECOND_NS / 2 }, Pace::hz(100));
    let on_first = |endpoint, executor| EndpointPlan {
        message: small.clone(),
        pace: often,
        publishers: 1,
        expected: 1,
        executor,
        ..EndpointPlan::of_run(&spec, endpoint, "/first")
    };
    let on_second = |endpoint, executor| {
        let plan = EndpointPlan::of_run(&spec, endpoint, "/second");
        let mut qos = plan.qos;
        (qos.reliability, qos.history) = (Reliability::Reliable, History::KeepAll);
        let message = large.clone();
        EndpointPlan { message, pace: rare, phase_ns: PHASE_NS, qos, publishers: 1, expected: 1, executor, ..plan }
    };
    let working = EndpointPlan { work_ns: WORK_NS, ..on_second(SUBSCRIPTIONS[1], 1) };
    let late = EndpointPlan { late_ns: 1, too_late_ns: u64::MAX, ..on_second(SUBSCRIPTIONS[2], 3) };
    let publisher = EndpointPlan { expected: 2, ..on_second(PUBLISHERS[1], 1) };
    // A publisher that shares a thread is not always the first endpoint of that thread.
    let endpoints = vec![on_first(PUBLISHERS[0], 0), working, publisher, late, on_first(SUBSCRIPTIONS[0], 2)];
    Plan { protocol: PROTOCOL, name: String::new(), spec, row_delay_ns: 1, endpoints }
}

/// A worker that the test controls, and its reports.
struct Driven {
    worker: Child,
    reports: BufReader<PipeReader>,
}

impl Driven {
    fn start(memory: &Memory, plan: &Plan) -> Driven {
        let (reports, its_end) = pipe().unwrap();
        let mapping = FdMapping { parent_fd: its_end.into(), child_fd: REPORTS_FD };
        let mut command = memory.worker(&plan.spec.communicator);
        command.arg0("perf_test").fd_mappings(vec![mapping]).unwrap();
        let worker = command.stdin(Stdio::piped()).spawn().unwrap();
        drop(command);
        let mut driven = Driven { worker, reports: BufReader::new(reports) };
        driven.say(&serde_json::to_string(plan).unwrap());
        driven
    }

    fn say(&mut self, line: &str) {
        writeln!(self.worker.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn order(&mut self, order: &Order) {
        self.say(&serde_json::to_string(order).unwrap());
    }

    fn next(&mut self) -> Report {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Reads reports until all endpoints are matched. Returns the sources (ids) of the publishers.
    fn wait_until_matched(&mut self, endpoints: usize) -> Vec<Source> {
        let (mut sources, mut unmatched) = (Vec::new(), endpoints);
        while unmatched > 0 {
            match self.next() {
                Report::Ready { source: Some(source), .. } => {
                    sources.push(Source { source, phase_ns: 0, clock: None, limits_ns: None })
                }
                Report::Matched { .. } => unmatched -= 1,
                Report::Opened { .. } | Report::Ready { .. } => {}
                report => panic!("{report:?}"),
            }
        }
        sources
    }

    /// Reads reports until all endpoints have finished. Returns the numbers of samples sent and received.
    fn wait_until_ended(&mut self) -> (u64, u64) {
        let (mut sent, mut received) = (0, 0);
        loop {
            match self.next() {
                Report::Row { counts, .. } => {
                    sent += counts.sent.samples;
                    received += counts.received.samples;
                }
                Report::Ended { .. } => return (sent, received),
                Report::Started(_) | Report::Finished { .. } => {}
                report => panic!("{report:?}"),
            }
        }
    }

    fn end(mut self) {
        drop(self.worker.stdin.take());
        assert!(self.worker.wait().unwrap().success());
    }
}

/// The counts of each endpoint, and the usage of the threads.
type Results = (BTreeMap<Endpoint, (Sent, Received)>, Vec<ThreadUsage>);

fn run(plan: &Plan) -> Results {
    let memory = Memory::new();
    let mut driven = Driven::start(&memory, plan);
    let (mut sources, mut unmatched) = (Vec::new(), plan.endpoints.len());
    let mut counts: BTreeMap<Endpoint, (Sent, Received)> = BTreeMap::new();
    loop {
        match driven.next() {
            Report::Ready { endpoint, source: Some(source), .. } => {
                let plan = plan.endpoints.iter().find(|plan| plan.endpoint == endpoint).unwrap();
                sources.push(Source { source, phase_ns: plan.phase_ns, clock: None, limits_ns: None });
            }
            Report::Matched { .. } => unmatched -= 1,
            Report::Row { endpoint, counts: of, .. } => {
                let (sent, received) = counts.entry(endpoint).or_default();
                sent.samples += of.sent.samples;
                sent.lateness_ns.merge(&of.sent.lateness_ns);
                received.merge(&of.received);
                continue;
            }
            Report::Ended { threads, .. } => {
                driven.end();
                memory.assert_empty();
                return (counts, threads);
            }
            report @ (Report::Failed(..) | Report::Unmatched(_) | Report::Warning(..)) => panic!("{report:?}"),
            _ => continue,
        }
        if unmatched == 0 {
            unmatched = usize::MAX;
            driven.order(&Order::Go { start_ns: now_ns() + 100 * MS, sources: sources.clone() });
            // The order to drain is sent early. It has a number of messages for each subscription, after which it ends.
            let expected = SUBSCRIPTIONS.into_iter().zip([SENT[0], SENT[1], SENT[1]]).collect();
            driven.order(&Order::Drain { expected });
        }
    }
}

fn unequal_endpoints_keep_to_their_own_plans() {
    for communicator in ["Mock", "Gantry"] {
        let (counts, threads) = run(&plan(communicator));
        let sent = PUBLISHERS.map(|endpoint| counts[&endpoint].0);
        assert_eq!(sent.map(|sent| sent.samples), SENT, "{communicator}");
        let received = SUBSCRIPTIONS.map(|endpoint| counts[&endpoint].1);
        let samples = received.map(|of| (of.samples, of.bytes, of.missed, of.duplicates));
        let (first, second) = ((SENT[0], SENT[0] * 128, 0, 0), (SENT[1], SENT[1] * 1024, 0, 0));
        assert_eq!(samples, [first, second, second], "{communicator}");
        // The latency from the due time is the latency from the send time plus the lateness of the publisher. This also
        // holds for a publisher with a phase.
        for (received, publisher) in received.iter().zip([0, 1, 1]) {
            let (response, latency) = (received.response_ns, received.latency_ns);
            let expected_ns = latency.mean + sent[publisher].lateness_ns.mean;
            assert!((response.mean - expected_ns).abs() < 1.0, "{communicator}: {response:?}, {latency:?}");
        }
        if communicator == "Mock" {
            let means = received.map(|of| (of.latency_ns.min, of.latency_ns.max));
            assert_eq!(means, [(MS as f64, MS as f64); 3]);
        }
        assert_eq!((received[2].late, received[2].too_late), (SENT[1], 0), "{communicator}");
        let cpu_ns = |name: &str| threads.iter().find(|thread| thread.name == name).map(|thread| thread.cpu_ns as i64);
        let (working_ns, idle_ns) = (cpu_ns("subscription 1").unwrap(), cpu_ns("subscription 2").unwrap());
        // The thread worked for 200 ms of wall-clock time, but other programs may have used most of the CPU time.
        assert!(working_ns > 2 * idle_ns, "{working_ns} ns, {idle_ns} ns");
    }
}

fn endpoints_that_cannot_share_a_thread_say_so() {
    let mut refused: Vec<(Plan, &str)> = Vec::new();
    for (first, second) in [(PUBLISHERS[0], PUBLISHERS[1]), (SUBSCRIPTIONS[0], SUBSCRIPTIONS[1])] {
        let mut plan = plan("Mock");
        plan.endpoints.retain(|plan| plan.endpoint == first || plan.endpoint == second);
        plan.endpoints.iter_mut().for_each(|plan| plan.executor = 5);
        refused.push((plan, "cannot be on one thread"));
    }
    let mut client = plan("Mock");
    client.endpoints.truncate(1);
    client.endpoints[0].service = true;
    refused.push((client, "which are a client"));
    for (plan, words) in refused {
        let memory = Memory::new();
        let mut driven = Driven::start(&memory, &plan);
        assert!(matches!(driven.next(), Report::Opened { .. }));
        let Report::Failed(Some(_), sentence) = driven.next() else { panic!("{plan:?}") };
        assert!(sentence.contains(words), "{sentence}");
        let _ = driven.worker.stdin.take();
        let _ = driven.worker.wait();
    }
}

/// There are two workers. One has a publisher. The other has a publisher of another topic, and on the same thread a
/// subscription to the first topic.
fn a_late_order_to_go_costs_a_shared_thread_no_sample() {
    let spec = over_mock(spec("-p 2 -s 1 -r 50"), "matching=unknown");
    let of = |endpoint, topic, expected| {
        let plan = EndpointPlan::of_run(&spec, endpoint, topic);
        EndpointPlan { expected, publishers: 1, ..plan }
    };
    let plan =
        |endpoints| Plan { protocol: PROTOCOL, name: String::new(), spec: spec.clone(), row_delay_ns: 1, endpoints };
    let memory = Memory::new();
    let shared = vec![of(PUBLISHERS[1], "/second", 0), of(SUBSCRIPTIONS[0], "/first", 1)];
    let mut late = Driven::start(&memory, &plan(shared));
    let mut early = Driven::start(&memory, &plan(vec![of(PUBLISHERS[0], "/first", 1)]));
    early.wait_until_matched(1);
    let sources = late.wait_until_matched(2);
    let go = Order::Go { start_ns: now_ns() + 100 * MS, sources };
    early.order(&go);
    // When the late worker gets the order `Go`, it has already taken all messages, together with the probes.
    let (sent, _) = early.wait_until_ended();
    late.order(&go);
    late.order(&Order::Drain { expected: vec![(SUBSCRIPTIONS[0], sent)] });
    assert_eq!((sent, late.wait_until_ended().1), (50 * RUN_S as u64, sent));
    early.end();
    late.end();
}

/// Starts a worker over Gantry, and waits until its endpoints are matched.
fn matched(memory: &Memory) -> Driven {
    let spec = spec("-c Gantry -r 1000");
    let endpoints = [PUBLISHERS[0], SUBSCRIPTIONS[0]].into_iter().zip(0..);
    let of = |(endpoint, executor)| EndpointPlan { executor, ..EndpointPlan::of_run(&spec, endpoint, "/topic") };
    let endpoints = endpoints.map(of).collect();
    let mut driven =
        Driven::start(memory, &Plan { protocol: PROTOCOL, name: String::new(), spec, row_delay_ns: 1, endpoints });
    driven.wait_until_matched(2);
    driven
}

fn a_worker_that_cannot_report_ends_and_leaves_no_file() {
    let memory = Memory::new();
    let Driven { mut worker, reports } = matched(&memory);
    drop(reports);
    let go = Order::Go { start_ns: now_ns(), sources: Vec::new() };
    writeln!(worker.stdin.as_mut().unwrap(), "{}", serde_json::to_string(&go).unwrap()).unwrap();
    // The worker's standard input stays open (`wait` would close it), so only the closed pipe of reports ends the
    // worker.
    let stdin = worker.stdin.take();
    assert_eq!(worker.wait().unwrap().code(), Some(1));
    memory.assert_empty();
    drop(stdin);
}

fn no_program_of_the_middleware_inherits_the_pipe_for_reports() {
    let memory = Memory::new();
    let driven = matched(&memory);
    let fdinfo = std::fs::read_to_string(format!("/proc/{}/fdinfo/{REPORTS_FD}", driven.worker.id())).unwrap();
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
    assert_eq!(flags & OFlags::CLOEXEC.bits(), OFlags::CLOEXEC.bits(), "{fdinfo}");
    let Driven { mut worker, .. } = driven;
    drop(worker.stdin.take());
    worker.wait().unwrap();
}

fn an_order_that_is_not_understood_is_an_error() {
    let memory = Memory::new();
    let mut driven = matched(&memory);
    driven.say("\"Dance\"");
    let Report::Failed(None, sentence) = driven.next() else { panic!("no failure") };
    assert!(sentence.contains("Dance"), "{sentence}");
    let Driven { mut worker, .. } = driven;
    let _ = worker.wait();
    memory.assert_empty();
}
