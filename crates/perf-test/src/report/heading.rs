//! What stands above the tables: what runs, and what each column is in its true unit.
//!
//! Used by `main` before a run begins. What the payload goes through and how readers wait stand here,
//! because they explain most unfair comparisons.

use crate::experiment::{Content, Experiment, Wait, name_of};

/// The heading of a run as lines of text; `topic` is the full name.
#[must_use]
pub fn heading(experiment: &Experiment, topic: &str) -> Vec<String> {
    let rate = match experiment.rate_hz {
        0 => "as fast as possible".to_owned(),
        rate_hz => format!("{rate_hz} Hz, open loop"),
    };
    let path = if experiment.zero_copy {
        "zero copy: loaned, written and read in place in shared memory"
    } else {
        "copy: copied into shared memory on publish, copied out on take"
    };
    let runtime = match experiment.max_runtime_s {
        0 => "until interrupted".to_owned(),
        run_s => format!("{run_s} s"),
    };
    let ignored = match experiment.ignore_s {
        0 => String::new(),
        ignore_s => format!(", the first {ignore_s} s left out"),
    };
    let lines = [
        ("program", format!("Gantry perf_test {}", env!("CARGO_PKG_VERSION"))),
        (
            "message",
            format!("{}, {} bytes ({} layout)", experiment.message, experiment.message_bytes, experiment.layout.name()),
        ),
        ("path", path.to_owned()),
        (
            "payload",
            format!(
                "stamped: time and id (of iRobot's, the header) are written right before publish; {}",
                besides(experiment)
            ),
        ),
        ("rate", rate),
        ("QoS", experiment.qos()),
        (
            "who",
            format!(
                "publishers {}, subscriptions {}, {}",
                experiment.publishers,
                experiment.subscriptions,
                name_of(experiment.strategy)
            ),
        ),
        ("readers", format!("wait by {}", how_readers_wait(experiment.wait))),
        ("topic", format!("{topic} in domain {}", experiment.domain_id)),
        ("runtime", format!("{runtime}{ignored}")),
    ];
    lines.into_iter().map(|(name, value)| format!("{name:<9}{value}")).chain([String::new()]).collect()
}

/// What is done to the payload besides the stamp.
fn besides(experiment: &Experiment) -> &'static str {
    match (experiment.content, experiment.zero_copy) {
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
pub fn legend() -> Vec<String> {
    [
        "The tables show one second each, the last one the piece that is left; every count belongs to exactly that time.",
        "  T_experiment, T_loop    s since the start, s that this row covers",
        "  recv, sent, lost        samples/s, all subscriptions, all publishers, all subscriptions;",
        "                          lost: sent after matching and not received, as the gaps in their numbers show",
        "  data_recv               bytes/s, whole messages",
        "  relative_loss           lost / (lost + recv), 0 to 1",
        "  latency                 s (variance s²), from the stamp right before publish to the sample in hand",
        "  publisher loop          s (variance s²) left until the next message is due; negative: late",
        "  subscriber loop         always 0: subscriptions wait for samples, not for a schedule",
        "  system usage            sum of all workers since each started, the coordinator not included:",
        "    utime, stime          ns of CPU in user space and in the kernel (not Hz)",
        "    maxrss                KiB (not bytes), sum of each worker's peak; shared pages count in each",
        "    minflt, majflt        page faults without and with input",
        "    nvcsw, nivcsw         context switches by waiting and by force; the others as in getrusage(2)",
        "",
    ]
    .map(str::to_owned)
    .into()
}
