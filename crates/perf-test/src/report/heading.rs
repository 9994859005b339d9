//! What stands above the tables: what runs, and what each column is in its true unit.
//!
//! Used by `main` before a run begins. What the payload goes through and how readers wait stand here,
//! because they explain most unfair comparisons.

use std::fmt::Write;

use crate::report::outputs::Tables;
use crate::run_spec::{Content, Roundtrip, RunSpec, Strategy, Threshold, Touch, Wait, name_of};
use crate::units::format_ns;

/// The heading of a run as lines of text; `topic` is the full name.
#[must_use]
pub fn heading(spec: &RunSpec, topic: &str) -> Vec<String> {
    let rate = match spec.rate_hz {
        0 => "as fast as possible".to_owned(),
        rate_hz => format!("{rate_hz} Hz, open loop"),
    };
    let (message, bytes, layout) = (&spec.message, spec.message_bytes, spec.layout.name());
    let mut lines = vec![
        ("program", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
        ("over", over(spec)),
        ("message", format!("{message}, {bytes} bytes ({layout} layout)")),
        ("path", path(spec)),
        ("payload", format!("time and id (of iRobot's, the header) right before publish; {}", besides(spec))),
        ("touch", touch(spec.touch).to_owned()),
        ("rate", rate),
        ("QoS", spec.qos()),
        ("who", who(spec)),
    ];
    lines.extend(round_trip(spec.roundtrip).map(|what| ("round trip", what.to_owned())));
    lines.push(("readers", readers(spec)));
    lines.push(("matching", matching(spec)));
    lines.push(("topic", format!("{topic} in domain {}", spec.domain_id)));
    lines.push(("runtime", runtime(spec)));
    lines.push(("late", late(spec)));
    lines.push(("placement", placement(spec)));
    if spec.check_memory {
        lines.push(("memory", "allocations of the measuring threads are counted".to_owned()));
    }
    if !spec.daemons.is_empty() {
        lines.push(("daemons", format!("{}, measured beside the workers", spec.daemons.join(", "))));
    }
    lines.extend(spec.heading_notes.iter().map(|note| ("note", note.clone())));
    lines.into_iter().map(|(name, value)| format!("{name:<12}{value}")).chain([String::new()]).collect()
}

fn over(spec: &RunSpec) -> String {
    match spec.communicator.as_str() {
        "Mock" => format!("Mock, no middleware: {}", spec.mock),
        name => name.to_owned(),
    }
}

fn path(spec: &RunSpec) -> String {
    let path = match (spec.zero_copy, spec.shared_memory) {
        (true, false) => "zero copy: loaned, written and read in place",
        (true, true) => "zero copy: loaned, written and read in place in shared memory",
        (false, false) => "copy: copied in on publish, copied out on take",
        (false, true) => "copy: copied into shared memory on publish, copied out on take",
    };
    path.to_owned()
}

fn touch(touch: Touch) -> &'static str {
    match touch {
        Touch::Stamp => "stamp: nothing besides",
        Touch::Page => {
            "page: a byte of every page is written before the stamp and read after reception, outside the latency"
        }
        Touch::Full => "full: every byte is written before the stamp and read after reception, outside the latency",
    }
}

fn who(spec: &RunSpec) -> String {
    let where_they_run = match spec.strategy {
        Strategy::InterProcess => "the publishers in one process, every subscription in its own",
        Strategy::InterThread => "all on threads of one process",
        Strategy::IntraThread => "all on one thread, which publishes and then takes",
    };
    let (publishers, subscriptions) = (spec.publishers, spec.subscriptions);
    let strategy = name_of(spec.strategy);
    format!("publishers {publishers}, subscriptions {subscriptions}, {strategy}: {where_they_run}")
}

fn round_trip(roundtrip: Roundtrip) -> Option<&'static str> {
    match roundtrip {
        Roundtrip::None => None,
        Roundtrip::Main => Some("Main: to another program's relay and back; latencies are of the way there and back"),
        Roundtrip::Relay => Some("Relay: what another program sends goes back to it; latencies are known there"),
        Roundtrip::Both => Some("Both: to a relay and back; latencies are of the way there and back"),
    }
}

fn readers(spec: &RunSpec) -> String {
    if spec.strategy == Strategy::IntraThread {
        return "never wait".to_owned();
    }
    let how = match (spec.communicator.as_str(), spec.wait) {
        ("Gantry", Wait::Adaptive) => ": a short spin if that has paid, then a futex; on one CPU no spin",
        _ => "",
    };
    format!("wait by {}{how}", how_readers_wait(spec.wait))
}

fn matching(spec: &RunSpec) -> String {
    format!(
        "before the start each subscription sees {} publishers, each publisher {} subscriptions, after {} s at most",
        spec.expected_publishers, spec.expected_subscriptions, spec.match_timeout_s
    )
}

fn runtime(spec: &RunSpec) -> String {
    let mut text = match spec.max_runtime_s {
        0 => "until interrupted".to_owned(),
        run_s => format!("{run_s} s"),
    };
    // Nothing that is written to a text fails.
    if spec.warmup_s > 0 {
        let _ = write!(text, " after a warm-up of {} s", spec.warmup_s);
    }
    if spec.ignore_s > 0 {
        let _ = write!(text, ", the first {} s left out", spec.ignore_s);
    }
    text
}

fn late(spec: &RunSpec) -> String {
    let above = |limit: Threshold| match limit.limit_ns(spec.rate_hz) {
        u64::MAX => "never".to_owned(),
        limit_ns => format!("above {}", format_ns(limit_ns as f64)),
    };
    format!("{}, too late {}; both stay in all statistics", above(spec.late), above(spec.too_late))
}

fn placement(spec: &RunSpec) -> String {
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<String>>().join(", ");
    let mut parts = Vec::new();
    if spec.rt_priority > 0 {
        parts.push(format!("real-time priority {} (SCHED_FIFO), memory locked", spec.rt_priority));
    }
    if !spec.rt_cpus.is_empty() {
        parts.push(format!("workers on CPUs {}", list(&spec.rt_cpus)));
    }
    if !spec.pins.is_empty() {
        parts.push(format!("endpoints' threads on CPUs {} in turn", list(&spec.pins)));
    }
    if spec.prevent_cpu_idle {
        parts.push("CPUs kept from sleeping deeply".to_owned());
    }
    if parts.is_empty() { "as the system schedules it, on any CPU".to_owned() } else { parts.join("; ") }
}

/// What is done to the payload besides the stamp and the touch.
fn besides(spec: &RunSpec) -> &'static str {
    match (spec.content, spec.zero_copy) {
        (Content::Plain, true) => "the other bytes stay as they are",
        (Content::BoundedSequence | Content::Sequence, true) => "a loan's length too; the other bytes stay as they are",
        (Content::Fields, true) => {
            "each loan writes all single fields, each take looks at them; the bytes of arrays stay as they are"
        }
        (Content::Text, true) => "each loan writes the whole text, each take checks it: both take time in its bytes",
        (Content::Plain | Content::BoundedSequence | Content::Sequence, false) => "all bytes are copied",
        (Content::Fields, false) => "all is copied, field by field",
        (Content::Text, false) => "all bytes are copied, and each take checks the text",
    }
}

/// How subscriptions wait for samples.
#[must_use]
pub fn how_readers_wait(wait: Wait) -> &'static str {
    match wait {
        Wait::Spin => "spinning",
        Wait::Block => "sleeping at once",
        Wait::Adaptive => "the middleware's own way",
    }
}

/// What the columns of the tables mean, as lines of text.
#[must_use]
pub fn legend(tables: Tables) -> Vec<String> {
    let loops = [
        "  publisher loop          s (variance s²) left until the next message is due; negative: late",
        "  subscriber loop         always 0: subscriptions wait for samples, not for a schedule",
    ];
    let above = [
        "The tables show one second each, the last one the piece that is left; every count belongs to exactly that time.",
        "  T_experiment, T_loop    s since the start, s that this row covers",
        "  recv, sent, lost        samples/s, all subscriptions, all publishers, all subscriptions;",
        "                          lost: sent after matching and not received, as the gaps in their numbers show",
        "  data_recv               bytes/s, whole messages",
        "  relative_loss           lost / (lost + recv), 0 to 1",
        "  latency                 s (variance s²), from the stamp right before publish to the sample in hand",
    ];
    let below = [
        "  system usage            sum of all workers since each started, the coordinator not included:",
        "    utime, stime          ns of CPU in user space and in the kernel (not Hz)",
        "    maxrss                KiB (not bytes), sum of each worker's peak; shared pages count in each",
        "    minflt, majflt        page faults without and with input",
        "    nvcsw, nivcsw         context switches by waiting and by force; the others as in getrusage(2)",
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
        let spec = cli::resolve(&options, cli::Defaults::Run).unwrap().spec;
        heading(&spec, "/test_topic").join("\n") + "\n"
    }

    #[test]
    fn what_explains_most_unfair_comparisons_is_stated() {
        for (line, stated) in [
            ("", "over        Gantry\n"),
            ("-c mock --mock lose=10", "over        Mock, no middleware: latency=1ms,lose=10\n"),
            ("", "path        copy: copied into shared memory on publish, copied out on take\n"),
            ("-c mock", "path        copy: copied in on publish, copied out on take\n"),
            ("--zero-copy", "path        zero copy: loaned, written and read in place in shared memory\n"),
            ("--zero-copy", "right before publish; the other bytes stay as they are\n"),
            ("", "right before publish; all bytes are copied\n"),
            ("", "touch       stamp: nothing besides\n"),
            ("--touch page", "touch       page: a byte of every page is written before the stamp"),
            ("--touch full", "touch       full: every byte is written before the stamp and read after reception"),
            ("-e INTER_THREAD -s 3", "publishers 1, subscriptions 3, INTER_THREAD: all on threads of one process\n"),
            (
                "--roundtrip-mode Both",
                "round trip  Both: to a relay and back; latencies are of the way there and back\n",
            ),
            ("--wait spin", "readers     wait by spinning\n"),
            ("--wait block", "readers     wait by sleeping at once\n"),
            ("", "readers     wait by the middleware's own way: a short spin if that has paid, then a futex"),
            ("-e INTRA_THREAD", "readers     never wait\n"),
            (
                "-p 0 --expected-num-pubs 2 --wait-for-matched-timeout 5",
                "sees 2 publishers, each publisher 1 subscriptions, after 5 s",
            ),
            (
                "--warmup 2 --ignore 1 --max-runtime 30",
                "runtime     30 s after a warm-up of 2 s, the first 1 s left out\n",
            ),
            ("-r 100", "late        above 2.50 ms, too late above 10.00 ms; both stay in all statistics\n"),
            ("-r 0 --late 1ms", "late        above 1.00 ms, too late above 50.00 ms"),
            ("", "placement   as the system schedules it, on any CPU\n"),
            (
                "--use-rt-prio 50 --use-rt-cpus 10 --pin 3,1 --prevent-cpu-idle",
                "placement   real-time priority 50 (SCHED_FIFO), memory locked; workers on CPUs 1, 3; endpoints' threads on CPUs 3, 1 in \
                 turn; CPUs kept from sleeping deeply\n",
            ),
            ("--check-memory", "memory      allocations of the measuring threads are counted\n"),
            ("--daemon 1", "daemons     1, measured beside the workers\n"),
            ("--shared-memory", "note        --shared-memory is always so"),
        ] {
            let text = text(line);
            assert!(text.contains(stated), "{line}: {stated:?} is not in\n{text}");
        }
        assert!(!text("").contains("round trip") && !text("").contains("note  "));
    }

    #[test]
    fn the_legend_explains_the_tables_that_are_shown() {
        let has_loops = |tables| legend(tables).iter().any(|line| line.contains("publisher loop"));
        assert!(has_loops(Tables::V1) && !has_loops(Tables::V2));
    }
}
