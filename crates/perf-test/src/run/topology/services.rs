//! The tables of services: a row for each client with its requests and responses, and a row for each server.

use std::collections::BTreeMap;

use super::cells::{NOT_COUNTED, rate, sorted, table};
use crate::{common::units::format_ns, log::Summary, report::summary::text::times};
use perf_worker::{
    endpoint::{Endpoint, EndpointPlan},
    run_spec::RunSpec,
};

const CLIENT_COLUMNS: [&str; 18] = [
    "service",
    "client",
    "bytes",
    "Hz",
    "requests",
    "skipped",
    "refused",
    "unsent",
    "late by: max",
    "answered",
    "lost",
    "unreported",
    "late",
    "too late",
    "response: mean",
    "p50",
    "p99",
    "max",
];
const SERVER_COLUMNS: [&str; 6] = ["service", "server", "requests", "responses", "refused", "overwritten"];

/// The lines of the tables, with an empty line after each table. There are no lines if the topology has no services.
pub fn lines(plans: &BTreeMap<Endpoint, &EndpointPlan>, spec: &RunSpec, summary: &Summary) -> Vec<String> {
    let of_services = || plans.values().filter(|plan| plan.service);
    let clients = sorted(of_services().filter_map(|plan| client(plan, summary)));
    let servers = sorted(of_services().filter_map(|plan| server(plan, spec, summary)));
    [table(&CLIENT_COLUMNS, clients, ""), table(&SERVER_COLUMNS, servers, "")].concat()
}

fn client(plan: &EndpointPlan, summary: &Summary) -> Option<Vec<String>> {
    let responses = summary.subscriptions.iter().find(|of| of.endpoint() == plan.endpoint)?;
    let requests = summary.publishers.iter().find(|of| Some(of.endpoint()) == plan.answers)?;
    let (sent, received) = (&requests.sent, &responses.received);
    let [_, _, late_by] = times(&requests.lateness, requests.p50_ns, requests.p99_ns);
    let counts = [sent.samples, sent.skipped, sent.refused, sent.unsent].map(|count| count.to_string());
    let answers = [received.samples, responses.lost, responses.unreported(), received.late, received.too_late];
    let mean = responses.latency.mean_ns.map_or(String::new(), format_ns);
    let names = [plan.given_topic().to_owned(), plan.node.clone(), plan.message.bytes.to_string(), rate(plan)];
    let row = names.into_iter().chain(counts).chain([late_by]).chain(answers.map(|count| count.to_string()));
    Some(row.chain([mean]).chain(times(&responses.latency, responses.p50_ns, responses.p99_ns)).collect())
}

fn server(plan: &EndpointPlan, spec: &RunSpec, summary: &Summary) -> Option<Vec<String>> {
    let of = summary.servers.iter().find(|of| of.endpoint() == plan.endpoint)?;
    let counts = [of.sent, of.relayed.samples, of.relayed.refused].map(|count| count.to_string());
    let is_counted = spec.capabilities.overwritten;
    let overwritten = if is_counted { of.relayed.overwritten.to_string() } else { NOT_COUNTED.to_owned() };
    let names = [plan.given_topic().to_owned(), plan.node.clone()];
    Some(names.into_iter().chain(counts).chain([overwritten]).collect())
}
