//! The tables of a topology's run: a row for each publisher and each subscription of a topic, and the totals.

use std::collections::BTreeMap;

use super::{
    cells::{NOT_COUNTED, rate, sorted, table},
    chain, overload, services,
};
use crate::{
    common::units::{format_ns, several},
    log::{PublisherEntry, SubscriptionEntry, Summary},
    report::summary::text::times,
    topology::NodeOptions,
};
use perf_worker::{
    choice::Choice,
    endpoint::{Endpoint, EndpointPlan},
    run_spec::RunSpec,
};

const PUBLISHER_COLUMNS: [&str; 11] =
    ["topic", "publisher", "pass by", "bytes", "Hz", "sent", "skipped", "refused", "unsent", "late by: p50", "max"];
const SUBSCRIPTION_COLUMNS: [&str; 13] = [
    "topic",
    "subscription",
    "sent",
    "received",
    "overwritten",
    "lost",
    "unreported",
    "late",
    "too late",
    "mean",
    "p50",
    "p99",
    "max",
];
/// The note on subscriptions that ended before they could report.
const UNREPORTED: &str =
    "  unreported: sent, and the process of the subscription ended before it could report them as received or lost";
/// The note on lost messages, if the middleware counts overwritten messages separately.
const LOST: &str = "  lost: sent, not received, and not overwritten (dropped from the history before the callback ran)";
/// The note on lost messages, if the middleware does not count overwritten messages.
const LOST_OR_OVERWRITTEN: &str = "  lost: sent and not received; lost, or overwritten (dropped from the history before the callback ran): this middleware does not \
     count which";

/// The lines of the tables and of the totals. Topic names are shown without the run's id.
pub fn lines(
    plans: &BTreeMap<Endpoint, &EndpointPlan>,
    (spec, nodes): (&RunSpec, &NodeOptions),
    summary: &Summary,
) -> Vec<String> {
    let counts_overwritten = spec.capabilities.overwritten;
    // Endpoints of services are left out: they have their own tables.
    let of_topic = |endpoint: Endpoint| plans.get(&endpoint).filter(|plan| !plan.service);
    let publishers =
        summary.publishers.iter().filter_map(|figures| Some(publisher(of_topic(figures.endpoint())?, figures)));
    let subscriptions = summary
        .subscriptions
        .iter()
        .filter_map(|figures| Some(subscription(of_topic(figures.endpoint())?, figures, counts_overwritten)));
    let executor = spec.executor.as_deref().unwrap_or_default();
    let mut lines = vec![
        String::new(),
        format!(
            "summary of {:.1} s{}: {} over {}, executor {executor}, {}, executors wait in the middleware's own way",
            summary.measured_s,
            if summary.stopped_early { format!(" of {} s (ended early)", spec.max_runtime_s) } else { String::new() },
            spec.topic,
            spec.communicator,
            several(summary.workers.len(), "process", "processes")
        ),
        format!("late: {}", nodes.limits()),
        String::new(),
    ];
    lines.extend(table(&PUBLISHER_COLUMNS, sorted(publishers), ""));
    lines.extend(table(&SUBSCRIPTION_COLUMNS, sorted(subscriptions), ""));
    lines.extend(services::lines(plans, spec, summary));
    lines.extend(chain::lines(plans, summary));
    if summary.unreported() > 0 {
        lines.push(UNREPORTED.to_owned());
    }
    lines.extend([if counts_overwritten { LOST } else { LOST_OR_OVERWRITTEN }.to_owned(), String::new()]);
    lines.extend(overload::lines(plans, summary));
    lines.extend(totals(spec, summary));
    lines
}

fn publisher(plan: &EndpointPlan, figures: &PublisherEntry) -> Vec<String> {
    let sent = &figures.sent;
    let [p50, _, max] = times(&figures.lateness, figures.p50_ns, figures.p99_ns);
    let counts = [sent.samples, sent.skipped, sent.refused, sent.unsent].map(|count| count.to_string());
    let names = [plan.given_topic().to_owned(), plan.node.clone(), plan.pass_by.name().to_owned()];
    let message = [plan.message.bytes.to_string(), rate(plan)];
    names.into_iter().chain(message).chain(counts).chain([p50, max]).collect()
}

fn subscription(plan: &EndpointPlan, figures: &SubscriptionEntry, counts_overwritten: bool) -> Vec<String> {
    let SubscriptionEntry { sent, received, lost, latency, .. } = figures;
    let overwritten = figures.overwritten();
    let (samples, lost) = (received.samples, lost - overwritten);
    let overwritten = if counts_overwritten { overwritten.to_string() } else { NOT_COUNTED.to_owned() };
    let counts = [lost, figures.unreported(), received.late, received.too_late].map(|count| count.to_string());
    let counts = [sent.to_string(), samples.to_string(), overwritten].into_iter().chain(counts);
    let mean = latency.mean_ns.map_or(String::new(), format_ns);
    let times = times(latency, figures.p50_ns, figures.p99_ns);
    let names = [plan.given_topic().to_owned(), plan.node.clone()].into_iter();
    names.chain(counts).chain([mean]).chain(times).collect()
}

fn totals(spec: &RunSpec, summary: &Summary) -> Vec<String> {
    let (sent, received) = (&summary.total.sent, &summary.total.received);
    let percent = |count: u64| 100.0 * count as f64 / received.samples.max(1) as f64;
    let expected: u64 = summary.subscriptions.iter().map(|of| of.sent).sum();
    let of_expected = 100.0 * summary.lost as f64 / expected.max(1) as f64;
    let missing = match spec.capabilities.overwritten {
        true => format!("{} overwritten, {} lost", summary.overwritten(), summary.unexplained),
        false => "lost or overwritten".to_owned(),
    };
    let mut lines = vec![
        format!(
            "  {:<13} {} published, {} skipped, {} refused, {} unsent",
            "sent", summary.sent_at_least, sent.skipped, sent.refused, sent.unsent
        ),
        format!(
            "  {:<13} {} of {expected} that were sent to subscriptions and clients; missing {} ({of_expected:.3} %): {missing}; {} unreported",
            "received",
            received.samples,
            summary.lost,
            summary.unreported()
        ),
        format!(
            "  {:<13} {} ({:.3} %); too late {} ({:.3} %); of {} received",
            "late",
            received.late,
            percent(received.late),
            received.too_late,
            percent(received.too_late),
            received.samples
        ),
    ];
    lines.extend(summary.latency_lines(spec));
    lines.extend(summary.machine_lines(spec));
    lines.extend(summary.warning_lines());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::{spec, subscription_entry, summary};
    use crate::topology::Processes;
    use perf_worker::{measure::tally::Received, run_spec::Threshold};

    /// The tables of a run in which a subscription received 90 of 100 messages. If the middleware counts overwritten
    /// messages, seven of the ten lost messages were overwritten.
    fn text(counts_overwritten: bool) -> String {
        let overwritten = if counts_overwritten { 7 } else { 0 };
        let mut summary = Summary { lost: 10, unexplained: 10 - overwritten, ..summary("", 1000) };
        let mut spec = spec("");
        spec.capabilities.overwritten = counts_overwritten;
        let received = Received { samples: 90, overwritten, ..Received::default() };
        let figures = subscription_entry(0, 1000, 0);
        summary.subscriptions = vec![SubscriptionEntry { sent: 100, received, lost: 10, ..figures }];
        summary.warnings = summary.figure_warnings(&spec);
        let endpoint = Endpoint::Subscription(0);
        let nodes = NodeOptions {
            processes: Processes::One,
            pass_by: None,
            late: Threshold::LATE,
            too_late: Threshold::TOO_LATE,
        };
        let plan = EndpointPlan { node: "/n".to_owned(), ..EndpointPlan::of_run(&spec, endpoint, "/t") };
        lines(&BTreeMap::from([(endpoint, &plan)]), (&spec, &nodes), &summary).join("\n")
    }

    #[track_caller]
    fn assert_has(text: &str, row: &str, words: &[&str]) {
        let plain = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(plain.contains(row), "{row:?} is not in\n{text}");
        words.iter().for_each(|words| assert!(text.contains(words), "{words:?} is not in\n{text}"));
    }

    #[test]
    fn a_middleware_that_does_not_count_overwritten_messages_has_no_figure_of_them() {
        let counted = "missing 10 (10.000 %): 7 overwritten, 3 lost; 0 unreported";
        assert_has(&text(true), "/t /n 100 90 7 3 0", &[counted, "sent, not received, and not overwritten"]);
        let (counted, text) = ("missing 10 (10.000 %): lost or overwritten; 0 unreported", text(false));
        assert_has(
            &text,
            "/t /n 100 90 - 10 0",
            &[counted, "lost, or overwritten", "10 samples were lost or overwritten"],
        );
        assert!(!text.contains("not overwritten") && !text.contains("not left the history"), "{text}");
    }
}
