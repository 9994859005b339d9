//! The heading of a run: its options, and the meaning and units of the tables' columns.
//!
//! The heading includes the treatment of the payload and the wait strategy, because differences in these two explain
//! most unfair comparisons.

use std::fmt::Write;

use crate::common::units::format_ns;
use crate::report::outputs::Tables;
use crate::system::process::Process;
use perf_worker::backend::DeliveryKind;
use perf_worker::choice::Choice;
use perf_worker::run_spec::{
    Content, History, Phase, Qos, Reliability, Roundtrip, RtScope, RunSpec, Strategy, Touch, Wait,
};

/// The suffix of the line `message` in a run with `--raw`.
const RAW: &str = ", raw: bytes without a type, nothing is serialised";

/// The heading of a run as lines of text. `topic` is the full topic name. `process` is this process, whose scheduling
/// the workers inherit.
#[must_use]
pub fn heading(spec: &RunSpec, topic: &str, process: &Process) -> Vec<String> {
    let rate = match spec.rate_hz {
        0 => "as fast as possible".to_owned(),
        rate_hz => format!("{rate_hz} Hz, open loop{}", phases(spec)),
    };
    let (message, bytes, layout) = (&spec.message.name, spec.message.bytes, spec.message.layout.name());
    let rest = rest_of_payload(spec);
    let stamp = if spec.raw { "time and id" } else { "time and id (iRobot messages: the header)" };
    let mut lines = vec![
        ("program", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
        ("middleware", middleware(spec)),
        ("settings", settings(spec)),
        ("message", format!("{message}, {bytes} bytes ({layout} layout){}", if spec.raw { RAW } else { "" })),
        ("path", path(spec).to_owned()),
        ("payload", format!("{stamp} are written right before publish; {rest}")),
        ("touch", touch(spec.touch).to_owned()),
        ("rate", rate),
        ("QoS", qos(spec.qos)),
        ("endpoints", endpoints(spec)),
    ];
    lines.extend(round_trip(spec.roundtrip).map(|what| ("round trip", what.to_owned())));
    lines.extend(work(spec).map(|work| ("work", work)));
    lines.push(("readers", readers(spec)));
    lines.push(("matching", matching(spec)));
    lines.push(("topic", format!("{topic} in domain {}", spec.domain_id)));
    lines.push(("runtime", runtime(spec)));
    lines.push(("late", late(spec)));
    lines.push(("placement", placement(spec)));
    let scheduling = process.scheduling().filter(|_| process.is_special());
    lines.extend(scheduling.map(|how| ("scheduling", format!("{how}, inherited by all processes of the run"))));
    lines.extend(spec.phases.then(|| ("phases", phases_marked(spec))));
    let memory = "allocations of the measuring threads are counted";
    lines.extend(spec.check_memory.then(|| ("memory", memory.to_owned())));
    let beside = |names: String| ("daemons", format!("{names}, measured beside the workers"));
    lines.extend((!spec.daemons.is_empty()).then(|| beside(spec.daemons.join(", "))));
    lines.extend(
        spec.daemon_commands
            .iter()
            .map(|daemon| ("daemon", format!("{}, started by the run: {}", daemon.name, daemon.command.join(" ")))),
    );
    lines.extend(spec.heading_notes.iter().map(|note| ("note", note.clone())));
    named_lines(lines)
}

/// Formats names and values as the lines of a heading.
pub fn named_lines(lines: impl IntoIterator<Item = (&'static str, String)>) -> Vec<String> {
    lines.into_iter().map(|(name, value)| format!("{name:<12}{value}")).chain([String::new()]).collect()
}

fn phases(spec: &RunSpec) -> &'static str {
    match spec.phase {
        _ if spec.publishers < 2 => "",
        Phase::Spread => "; the publishers are spread evenly over a period",
        Phase::Aligned => "; the publishers are aligned: all send at the same time",
        Phase::Random => "; each publisher has a random phase",
    }
}

/// The middleware and its version, as text.
pub fn middleware(spec: &RunSpec) -> String {
    match spec.communicator.as_str() {
        "Mock" => format!("Mock, no middleware: {}", spec.mock),
        name => format!("{name} {}", spec.middleware_version),
    }
}

/// The phases of a message for which the middleware takes time stamps, as text.
fn phases_marked(spec: &RunSpec) -> String {
    let found = match (spec.communicator.as_str(), spec.zero_copy) {
        ("Gantry", true) => "none is marked: with zero copy Gantry serialises nothing",
        ("Gantry", false) => "deserialise is marked: the take with its copy",
        _ => "as far as the middleware marks them",
    };
    format!("{found}; each mark costs a reading of the clock, which is part of the latency")
}

/// The QoS as text. If RELIABLE permits losses with this history, the text says so.
fn qos(qos: Qos) -> String {
    match (qos.reliability, qos.history) {
        (Reliability::Reliable, History::KeepLast) => {
            format!("{qos}: a reader that falls behind loses the oldest messages; with KEEP_ALL it loses none")
        }
        _ => qos.to_string(),
    }
}

/// The settings of the middleware, as text.
pub fn settings(spec: &RunSpec) -> String {
    let settings: Vec<String> = spec.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if settings.is_empty() { "none".to_owned() } else { settings.join(", ") }
}

fn path(spec: &RunSpec) -> &'static str {
    match (spec.zero_copy, spec.shared_memory) {
        (true, false) => "zero copy: loaned, written and read in place",
        (true, true) => "zero copy: loaned, written and read in place in shared memory",
        (false, false) => "copy: copied in on publish, copied out on take",
        (false, true) => "copy: copied into shared memory on publish, copied out on take",
    }
}

fn touch(touch: Touch) -> &'static str {
    match touch {
        Touch::Stamp => "stamp: only time and id",
        Touch::Page => {
            "page: a byte of every page is written before the stamp and read after reception, outside the latency"
        }
        Touch::Full => "full: every byte is written before the stamp and read after reception, outside the latency",
    }
}

fn endpoints(spec: &RunSpec) -> String {
    let processes = match spec.strategy {
        Strategy::InterProcess if spec.roundtrip == Roundtrip::Service => {
            "the clients in one process, the server in its own"
        }
        Strategy::InterProcess => "the publishers in one process, every subscription in its own",
        Strategy::InterThread => "all on threads of one process",
        Strategy::IntraThread => "all on one thread, which publishes and then takes",
    };
    let (publishers, subscriptions) = (spec.publishers, spec.subscriptions);
    let strategy = spec.strategy.name();
    if spec.roundtrip == Roundtrip::Service {
        return format!("clients {publishers}, one server, {strategy}: {processes}");
    }
    format!("publishers {publishers}, subscriptions {subscriptions}, {strategy}: {processes}")
}

fn round_trip(roundtrip: Roundtrip) -> Option<&'static str> {
    match roundtrip {
        Roundtrip::None => None,
        Roundtrip::Main => Some("Main: to the relay of another program and back; latencies are round-trip times"),
        Roundtrip::Relay => {
            Some("Relay: messages of another program go back to it; that program measures the latencies")
        }
        Roundtrip::Service => {
            Some("Service: requests and responses of a service; latencies are from a request to its response")
        }
        Roundtrip::Both => Some("Both: to a relay and back; latencies are round-trip times"),
    }
}

fn work(spec: &RunSpec) -> Option<String> {
    let worker = match spec.roundtrip {
        Roundtrip::None => "each subscription is busy for {} with each message, after it was recorded",
        Roundtrip::Service => "the server is busy for {} with each request, before it answers",
        _ => "the relay is busy for {} with each message, before it sends it back",
    };
    (spec.work_ns > 0).then(|| worker.replace("{}", &format_ns(spec.work_ns as f64)))
}

fn readers(spec: &RunSpec) -> String {
    if spec.strategy == Strategy::IntraThread {
        return "never wait".to_owned();
    }
    let how = match (spec.communicator.as_str(), spec.wait) {
        ("Gantry", Wait::Adaptive) => ": a short busy-wait if that has paid off, then a futex; no busy-wait on one CPU",
        _ => "",
    };
    format!("{}{how}", how_readers_wait(spec))
}

fn matching(spec: &RunSpec) -> String {
    if spec.roundtrip == Roundtrip::Service {
        let (clients, timeout_s) = (spec.publishers, spec.match_timeout_s);
        return format!(
            "before the start each client waits for the server, and the server for {clients} clients, at most {timeout_s} s"
        );
    }
    let how = if spec.has_probes() { "; probes show it, because the middleware does not count endpoints" } else { "" };
    format!(
        "before the start each subscription waits for {} publishers and each publisher for {} subscriptions, at most {} s{how}",
        spec.expected_publishers, spec.expected_subscriptions, spec.match_timeout_s
    )
}

fn runtime(spec: &RunSpec) -> String {
    let mut text = match spec.max_runtime_s {
        0 => "until interrupted".to_owned(),
        run_s => format!("{run_s} s"),
    };
    // Writing to a String cannot fail.
    if spec.warmup_s > 0 {
        let _ = write!(text, " after a warm-up of {} s", spec.warmup_s);
    }
    if spec.ignore_s > 0 {
        let _ = write!(text, ", the first {} s left out", spec.ignore_s);
    }
    text
}

fn late(spec: &RunSpec) -> String {
    let above = |limit_ns: Option<u64>| match limit_ns {
        None => "never".to_owned(),
        Some(limit_ns) => format!("above {}", format_ns(limit_ns as f64)),
    };
    let [late, too_late] = [spec.late_above_ns, spec.too_late_above_ns].map(above);
    format!("{late}, too late {too_late}; both stay in all statistics")
}

fn placement(spec: &RunSpec) -> String {
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<String>>().join(", ");
    let mut parts = Vec::new();
    if spec.rt_priority > 0 {
        let threads = match spec.rt_scope {
            RtScope::Process => "the threads of endpoints and of the middleware",
            RtScope::Endpoints => "the threads of endpoints",
        };
        parts.push(format!("real-time priority {} (SCHED_FIFO) of {threads}, memory locked", spec.rt_priority));
    }
    if !spec.rt_cpus.is_empty() {
        parts.push(format!("workers on CPUs {}", list(&spec.rt_cpus)));
    }
    if !spec.pins.is_empty() {
        let others = match spec.rt_scope {
            RtScope::Process => ", threads of the middleware on all of these",
            RtScope::Endpoints => "",
        };
        parts.push(format!("threads of endpoints on CPUs {} in turn{others}", list(&spec.pins)));
    }
    if spec.prevent_cpu_idle {
        parts.push("CPUs kept out of deep sleep".to_owned());
    }
    if parts.is_empty() { "scheduled by the system, on any CPU".to_owned() } else { parts.join("; ") }
}

/// The state of the payload bytes that neither the stamp nor `--touch` writes, as text.
fn rest_of_payload(spec: &RunSpec) -> &'static str {
    match (spec.message.content, spec.zero_copy) {
        (Content::Plain, true) => "the other bytes stay as they are",
        (Content::BoundedSequence | Content::Sequence, true) => {
            "the length is written, too; the other bytes stay as they are"
        }
        (Content::Fields, true) => {
            "each loan writes all single fields, each take reads them; the bytes of arrays stay as they are"
        }
        (Content::Text, true) => "each loan writes the whole text, each take checks it: both cost time for each byte",
        (Content::Plain | Content::BoundedSequence | Content::Sequence, false) => "all bytes are copied",
        (Content::Fields, false) => "all fields are copied, one by one",
        (Content::Text, false) => "all bytes are copied, and each take checks the text",
    }
}

/// The way in which subscriptions wait for samples, as text.
#[must_use]
pub fn how_readers_wait(spec: &RunSpec) -> &'static str {
    match (spec.capabilities.delivery, spec.wait) {
        (DeliveryKind::Push, _) => "do not wait: threads of the middleware deliver the messages (push)",
        (DeliveryKind::Pull, Wait::Spin) => "wait by busy-waiting",
        (DeliveryKind::Pull, Wait::Block) => "wait by sleeping immediately",
        (DeliveryKind::Pull, Wait::Adaptive) => "wait by the middleware's own strategy",
    }
}

/// Lines of text that explain the columns of the tables.
#[must_use]
pub fn legend(tables: Tables) -> Vec<String> {
    let loops = [
        "  publisher loop          s (variance s²) left until the next message is due; negative if late",
        "  subscriber loop         always 0: subscriptions wait for samples, not for a schedule",
    ];
    let above = [
        "Each set of tables shows one second, the last one the rest; every count belongs to exactly that time.",
        "  T_experiment, T_loop    s since the start, s covered by this row",
        "  recv, sent, lost        samples/s of all subscriptions, all publishers, all subscriptions;",
        "                          lost: sent after matching and not received, by the gaps in the sequence numbers",
        "  data_recv               bytes/s, whole messages",
        "  relative_loss           lost / (lost + recv), 0 to 1",
        "  latency                 s (variance s²), from the stamp right before publish until take returns the sample",
    ];
    let below = [
        "  system usage            sum of all workers since each started, without the coordinator:",
        "    utime, stime          ns of CPU in user space and in the kernel (not Hz)",
        "    maxrss                KiB (not bytes), sum of the peaks of all workers; shared pages count in each",
        "    minflt, majflt        page faults without and with I/O",
        "    nvcsw, nivcsw         voluntary and involuntary context switches; the others as in getrusage(2)",
        "",
    ];
    let loops: &[&str] = if tables == Tables::V1 { &loops } else { &[] };
    above.iter().chain(loops).chain(&below).map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn text(line: &str) -> String {
        let arguments = ["perf_test"].into_iter().chain(line.split_whitespace());
        let options = cli::parse(arguments.map(Into::into)).unwrap().options;
        let spec = cli::resolve(&options).unwrap().spec;
        heading(&spec, "/test_topic", &Process::default()).join("\n") + "\n"
    }

    fn assert_states(line: &str, stated: &str) {
        let text = text(line);
        assert!(text.contains(stated), "{line}: {stated:?} is not in\n{text}");
    }

    #[test]
    fn the_heading_explains_most_unfair_comparisons() {
        for (line, stated) in [
            ("", concat!("middleware  Gantry ", env!("CARGO_PKG_VERSION"), "\n")),
            ("--publishing async", "settings    participants one, publishing async, transport shared-memory\n"),
            ("-c mock --mock lose=10", "middleware  Mock, no middleware: latency=1ms,lose=10\n"),
            ("", "path        copy: copied into shared memory on publish, copied out on take\n"),
            ("-c mock", "path        copy: copied in on publish, copied out on take\n"),
            ("--zero-copy", "path        zero copy: loaned, written and read in place in shared memory\n"),
            ("--zero-copy", "right before publish; the other bytes stay as they are\n"),
            ("", "right before publish; all bytes are copied\n"),
            ("", "touch       stamp: only time and id\n"),
            ("--touch page", "touch       page: a byte of every page is written before the stamp"),
            ("--touch full", "touch       full: every byte is written before the stamp and read after reception"),
            ("-e INTER_THREAD -s 3", "publishers 1, subscriptions 3, INTER_THREAD: all on threads of one process\n"),
            ("--roundtrip-mode Both", "round trip  Both: to a relay and back; latencies are round-trip times\n"),
            ("--roundtrip-mode Service -p 2", "round trip  Service: requests and responses of a service;"),
            (
                "--roundtrip-mode Service -p 2",
                "endpoints   clients 2, one server, INTER_PROCESS: the clients in one process",
            ),
            (
                "--roundtrip-mode Service -p 2",
                "each client waits for the server, and the server for 2 clients, at most 30 s\n",
            ),
            (
                "--roundtrip-mode Service",
                "QoS         RELIABLE, VOLATILE, KEEP_LAST 16: a reader that falls behind loses the oldest messages;",
            ),
            (
                "--work 1ms",
                "work        each subscription is busy for 1.00 ms with each message, after it was recorded\n",
            ),
            ("--roundtrip-mode Service --work 1ms", "work        the server is busy for 1.00 ms with each request,"),
        ] {
            assert_states(line, stated);
        }
        assert!(!text("").contains("round trip") && !text("").contains("note  "));
    }

    #[test]
    fn the_heading_states_how_threads_wait_and_where_they_run() {
        for (line, stated) in [
            ("--wait spin", "readers     wait by busy-waiting\n"),
            ("--wait block", "readers     wait by sleeping immediately\n"),
            (
                "",
                "readers     wait by the middleware's own strategy: a short busy-wait if that has paid off, then a futex",
            ),
            ("-e INTRA_THREAD", "readers     never wait\n"),
            (
                "-p 0 --expected-num-pubs 2 --wait-for-matched-timeout 5",
                "waits for 2 publishers and each publisher for 1 subscriptions, at most 5 s",
            ),
            (
                "--warmup 2 --ignore 1 --max-runtime 30",
                "runtime     30 s after a warm-up of 2 s, the first 1 s left out\n",
            ),
            ("-r 100", "late        above 2.50 ms, too late above 10.00 ms; both stay in all statistics\n"),
            ("-r 0 --late 1ms", "late        above 1.00 ms, too late above 50.00 ms"),
            ("", "placement   scheduled by the system, on any CPU\n"),
            (
                "--use-rt-prio 50 --rt-scope endpoints --use-rt-cpus 10 --pin 3,1 --prevent-cpu-idle",
                "placement   real-time priority 50 (SCHED_FIFO) of the threads of endpoints, memory locked; workers on CPUs 1, 3; threads of endpoints on CPUs 3, 1 in \
                 turn; CPUs kept out of deep sleep\n",
            ),
            (
                "--raw -m Array1k",
                "message     Array1k, 1024 bytes (2.x layout), raw: bytes without a type, nothing is serialised\n",
            ),
            ("--phases", "phases      deserialise is marked: the take with its copy; each mark costs"),
            ("--phases --zero-copy", "phases      none is marked: with zero copy Gantry serialises nothing; each"),
            ("--check-memory", "memory      allocations of the measuring threads are counted\n"),
            (
                "--use-rt-prio 50 --pin 3",
                "placement   real-time priority 50 (SCHED_FIFO) of the threads of endpoints and of the middleware, memory locked; \
                 threads of endpoints on CPUs 3 in turn, threads of the middleware on all of these\n",
            ),
            ("--rt-scope process", "note        --rt-scope process has no effect: this run has neither"),
            ("-c Mock --mock daemon", "daemon      mockd, started by the run: sh -c "),
            ("--daemon 1", "daemons     1, measured beside the workers\n"),
            ("--shared-memory", "note        --shared-memory is always in effect"),
        ] {
            assert_states(line, stated);
        }
    }

    #[test]
    fn the_legend_explains_the_tables_that_are_shown() {
        let has_loops = |tables| legend(tables).iter().any(|line| line.contains("publisher loop"));
        assert!(has_loops(Tables::V1) && !has_loops(Tables::V2));
    }
}
