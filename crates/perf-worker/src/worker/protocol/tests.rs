//! Tests that `docs/internals/worker-protocol.md` agrees with the types of the protocol. Authors of workers in other
//! languages have only this page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::{
    backend::{Capabilities, DaemonCommand, DeliveryKind, Description, MatchingKind, Readiness, Setting},
    choice::Choice,
    measure::{
        events::{Event, Events, Trouble},
        memory::Memory,
        moments::Moments,
        tally::{Received, Relayed, Sent},
    },
    run_spec::{
        Durability, History, Layout, PassBy, Phase, Reliability, Roundtrip, RtScope, Strategy, Touch, Wait,
        tests::example,
    },
};

const PAGE: &str = include_str!("../../../../../docs/internals/worker-protocol.md");

fn plan() -> Plan {
    let endpoint = EndpointPlan::of_run(&example(), Endpoint::Relay(0), "/test_topic");
    Plan { protocol: PROTOCOL, name: String::new(), spec: example(), row_delay_ns: 1, endpoints: vec![endpoint] }
}

/// Events of each kind.
fn events() -> Events {
    let troubles = [
        Trouble::Late { latency_ns: 1, limit_ns: 1 },
        Trouble::TooLate { latency_ns: 1, limit_ns: 1 },
        Trouble::Missing { messages: 1 },
        Trouble::Unsent { messages: 1 },
    ];
    Events { kept: troubles.map(|trouble| Event { at_ns: 1, id: 1, trouble }).to_vec(), more: 1 }
}

/// Counts of each kind.
fn counts() -> Counts {
    let times = Moments { n: 1, min: 1.0, max: 1.0, mean: 1.0, m2: 1.0 };
    Counts {
        sent: Sent {
            samples: 1,
            reserve_ns: times,
            lateness_ns: times,
            prepare_ns: times,
            publish_ns: times,
            serialise_ns: times,
            ..Sent::default()
        },
        lateness: vec![(1, 1)],
        received: Received {
            samples: 1,
            latency_ns: times,
            response_ns: times,
            read_ns: times,
            transport_ns: times,
            wake_up_ns: times,
            deserialise_ns: times,
            ..Received::default()
        },
        latencies: vec![(1, 1)],
        responses: vec![(1, 1)],
        relayed: Relayed { samples: 1, ..Relayed::default() },
        events: events(),
    }
}

/// One value of each order and report, with every field.
fn everything() -> Vec<Value> {
    let endpoint = Endpoint::Publisher(0);
    let clock = Some(OtherClock { offset_ns: 1, error_ns: 1 });
    let (counts, resources) = (Box::new(counts()), Resources::default());
    let thread = ThreadUsage::all_of_this_process().unwrap().swap_remove(0);
    let status = MatchStatus {
        endpoint: Endpoint::Subscription(0),
        matched: Matching::Count(0),
        expected: 1,
        mismatches: Vec::new(),
    };
    let reports = [
        Report::Opened { effective: [("name".to_owned(), "value".to_owned())].into() },
        Report::Ready { endpoint, created_ns: 1, source: Some([1; 16]), clock },
        Report::Matched { endpoint, matched_ns: 1 },
        Report::Unmatched(status.clone()),
        Report::Explained(status),
        Report::Started(resources),
        Report::Row { endpoint, second: 0, whole: true, counts: counts.clone(), resources },
        Report::ProcessRow { second: 0, whole: true, counts: counts.clone(), gaps: vec![(endpoint, 1)], resources },
        Report::Total { endpoint, counts },
        Report::Finished { endpoint, report: EndpointReport::default(), resources },
        Report::Ended {
            footprint: Footprint::default(),
            threads: vec![thread],
            device: Some(DeviceMemory::default()),
            instrument_bytes: Some(1),
        },
        Report::Warning(endpoint, "odd".to_owned()),
        Report::Failed(None, "over".to_owned()),
    ];
    let orders = [
        Order::Explain,
        Order::Go {
            start_ns: 1,
            sources: vec![Source { source: [1; 16], phase_ns: 2, clock, limits_ns: Some((3, 4)) }],
        },
        Order::Stop,
        Order::Drain { expected: vec![(Endpoint::Relay(0), 1)] },
    ];
    let orders = orders.iter().map(|order| serde_json::to_value(order).unwrap());
    let reports = reports.iter().map(|report| serde_json::to_value(report).unwrap());
    let settings = vec![Setting::new("name", &["value"], "meaning")];
    let described = Description { version: "1".to_owned(), capabilities: Capabilities::all(), settings };
    let daemon = |ready| DaemonCommand { name: "router".to_owned(), command: vec!["router".to_owned()], ready };
    let daemons = [Readiness::File("/path".into()), Readiness::Line("text".to_owned())].map(daemon);
    let programs = [serde_json::to_value(plan()), serde_json::to_value(described), serde_json::to_value(daemons)];
    orders.chain(reports).chain(programs.map(Result::unwrap)).collect()
}

fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.keys().cloned());
            fields.values().for_each(|value| names(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

fn values<T: Choice + Serialize>() -> impl Iterator<Item = String> {
    T::ALL.iter().map(|(value, ..)| serde_json::to_value(value).unwrap().as_str().unwrap().to_owned())
}

#[test]
fn the_page_has_every_field_and_every_value() {
    let mut found = BTreeSet::new();
    everything().iter().for_each(|value| names(value, &mut found));
    found.extend(values::<Layout>().chain(values::<Strategy>()).chain(values::<Roundtrip>()).chain(values::<Wait>()));
    found.extend(values::<Touch>().chain(values::<Reliability>()).chain(values::<Durability>()));
    found.extend(values::<History>().chain(values::<RtScope>()).chain(values::<Phase>()).chain(values::<PassBy>()));
    found.extend(values::<DeliveryKind>().chain(values::<MatchingKind>()));
    let (rules, _) = PAGE.split_once("## Example").unwrap();
    let missing: Vec<&String> = found
        .iter()
        .filter(|name| ![format!("`{name}`"), format!("\"{name}\"")].iter().any(|n| rules.contains(n)))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/internals/worker-protocol.md does not describe {missing:?}: add a field of RunSpec to the table \"Spec\", in the row \
         \"no concern of the worker\" if workers ignore it. docs/internals/releasing.md says when PROTOCOL must be raised"
    );
}

#[test]
fn the_page_has_the_numbers_of_the_code() {
    let seconds = |time_ns: i64| format!("{} s", time_ns as f64 / 1e9);
    for (number, words) in [
        (format!("{PROTOCOL}"), "The protocol has version {} ("),
        (format!("{PROTOCOL}"), "`protocol`, a number: {}"),
        (seconds(times::READY_NS), "Each endpoint has {} for `Ready`"),
        (seconds(times::FINISH_NS), "and {} after `Stop`, `Drain` or the end"),
        (seconds(times::ROW_OVERDUE_NS), "A row that is {} late is shown without"),
        (seconds(times::CATCH_UP_NS), "are still sent up to {} after that"),
        (format!("{} ms", times::PROBE_INTERVAL_NS / 1_000_000), "a publisher sends one every {}:"),
        (format!("{} ms", times::QUIET_NS / 1_000_000), "Subscriptions take probes until {} before the start"),
        (format!("{} ms", times::ROW_DELAY_NS / 1_000_000), "at most {} after its second"),
        (seconds(times::SHORTEST_DRAIN_NS), "at least {} and"),
        (seconds(times::LONGEST_DRAIN_NS), "at most {}. This time"),
        (format!("{}", times::MOST_REFUSALS), "After {} in a row, report `Failed`"),
        ((u64::BITS - 1).to_string(), "one of the {} before it"),
        (format!("{UNKNOWN}"), "({} if it is not known)"),
        (format!("{REPORTS_FD}"), "descriptor {}, the writing end of a pipe"),
        (format!("{:?}", times::EXIT), "ends with exit code 0 within {} after"),
        (format!("{:?}", times::DAEMON_READY), "the sign that it is ready, within {}:"),
        (format!("{:?}", times::DAEMON_EXIT), "by SIGTERM, and after {} by SIGKILL"),
    ] {
        // `Duration` prints no space between number and unit, but the page has one.
        let number = number
            .strip_suffix('s')
            .filter(|number| !number.ends_with('m'))
            .map_or(number.clone(), |number| format!("{} s", number.trim_end()));
        let words = words.replace("{}", &number);
        let text = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words), "docs/internals/worker-protocol.md does not say {words:?}");
    }
}

#[test]
fn the_examples_of_the_page_are_understood() {
    let (mut said, mut heard) = (0, 0);
    for line in PAGE.lines() {
        if let Some(order) = line.strip_prefix("-> ") {
            let understood =
                serde_json::from_str::<Order>(order).is_ok() || serde_json::from_str::<Plan>(order).is_ok();
            assert!(
                understood,
                "the example of docs/internals/worker-protocol.md is not understood (its plan lacks a new field of RunSpec?): {order}"
            );
            said += 1;
        } else if let Some(report) = line.strip_prefix("<- ") {
            serde_json::from_str::<Report>(report).unwrap_or_else(|error| panic!("{error}: {report}"));
            heard += 1;
        }
    }
    assert!(said >= 3 && heard >= 8, "{said} orders and {heard} reports");
}

#[test]
fn counts_that_are_left_out_are_zero() {
    let row = json!({"Row": {
        "endpoint": {"Publisher": 0}, "second": 0, "whole": true, "later": "fields are passed over",
        "counts": {"sent": {"samples": 3, "lateness_ns": {"n": 3, "mean": 2.0}}},
        "resources": {"usage": {"taken_ns": 1}, "memory": serde_json::to_value(Memory::default()).unwrap()},
    }});
    let Report::Row { counts, .. } = serde_json::from_value(row).unwrap() else { panic!("another report") };
    let lateness_ns = Moments { n: 3, mean: 2.0, ..Moments::default() };
    assert_eq!(*counts, Counts { sent: Sent { samples: 3, lateness_ns, ..Sent::default() }, ..Counts::default() });
    let finished = json!({"Finished": {"endpoint": {"Publisher": 0}, "report": {}, "resources": {
        "usage": {}, "memory": serde_json::to_value(Memory::default()).unwrap()}}});
    assert!(matches!(serde_json::from_value(finished), Ok(Report::Finished { .. })));
}
