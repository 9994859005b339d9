//! The table of overload in a topology. Each row shows the slowest subscription of a topic: the sum of its latencies,
//! the time after which this sum exceeds the period, the growth of the latency, and the time until the queue overflows.
//! The module `measure::overload` computes these figures.

use std::collections::BTreeMap;

use super::cells::table;
use crate::{
    common::{
        units::format_ns,
        warning::{Warning, WarningKind},
    },
    log::{SubscriptionEntry, Summary},
    measure::overload::Overload,
};
use perf_worker::endpoint::{Endpoint, EndpointPlan};

const COLUMNS: [&str; 7] =
    ["topic", "slowest subscription", "period", "Σ latency", "outgrows it after", "grows by", "queue full in"];
const NOTE: &str = "  Σ latency: received - sent of all messages of the topic's slowest subscription, and the moment when this sum outgrew the \
     period; \n  grows by: per second, if it is shown (99.9 %); a latency that does not grow overflows no queue";
const NONE: &str = "-";

/// The lines of the table, then an empty line. Each topic has a row for the subscription with the largest sum of
/// latencies. There are no lines if no topic has such a sum.
pub fn lines(plans: &BTreeMap<Endpoint, &EndpointPlan>, summary: &Summary) -> Vec<String> {
    let mut slowest: BTreeMap<&str, (&EndpointPlan, &Overload)> = BTreeMap::new();
    for figures in &summary.subscriptions {
        let (Some(plan), Some(overload)) = (plans.get(&figures.endpoint()), &figures.overload) else { continue };
        let of_topic = slowest.entry(plan.given_topic()).or_insert((plan, overload));
        if overload.cumulative_latency_ns > of_topic.1.cumulative_latency_ns {
            *of_topic = (plan, overload);
        }
    }
    let line = |(topic, (plan, overload)): (&str, (&EndpointPlan, &Overload))| {
        let seconds = |seconds: Option<f64>| seconds.map_or(NONE.to_owned(), |s| format!("{s:.1} s"));
        let growth = overload.shown_growth_ns_per_s().map_or(NONE.to_owned(), |ns| format!("{}/s", format_ns(ns)));
        vec![
            topic.to_owned(),
            plan.node.clone(),
            format_ns(overload.period_ns),
            format_ns(overload.cumulative_latency_ns),
            seconds(overload.outgrows_period_after_s),
            growth,
            seconds(overload.overflows_in_s),
        ]
    };
    table(&COLUMNS, slowest.into_iter().map(line).collect(), NOTE)
}

/// A warning for each queue that will overflow.
pub fn warnings(plans: &BTreeMap<Endpoint, &EndpointPlan>, summary: &Summary) -> Vec<Warning> {
    let of = |figures: &SubscriptionEntry| {
        let (plan, overload) = (plans.get(&figures.endpoint())?, figures.overload?);
        let growth_ns = overload.shown_growth_ns_per_s()?;
        if !overload.is_to_come(summary.measured_s, plan.late_ns) {
            return None;
        }
        let full = overload.overflows_in_s.map_or("its queue has no limit".to_owned(), |seconds| {
            format!("its queue of {} messages is full in {seconds:.1} s", plan.qos.depth)
        });
        let sentence =
            format!("drops to come: {plan} waits longer by {} in each second, and {full}", format_ns(growth_ns));
        let hint = "Its executor has more to do than it can: lower rates, or give its nodes another executor";
        Some(Warning::new(WarningKind::Overload, sentence, hint))
    };
    summary.subscriptions.iter().filter_map(of).collect()
}
