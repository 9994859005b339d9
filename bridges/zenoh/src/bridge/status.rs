//! The status of the bridge, published once a second.

use super::Context;
use gantry::{Node, Publisher, Qos};
use gantry_bridge::{LinkStatus, Rates, Status, TopicStatus};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use std::{collections::HashMap, sync::atomic::Ordering::Relaxed};
use zenoh::Wait;

/// Publishes the status on `~/status` of the bridge's node.
pub struct StatusPublisher {
    publisher: Publisher<Text>,
    rates: Rates,
}

/// The part of the status that the bridge's tables have.
pub struct Tables<'a> {
    pub local_nodes: usize,
    pub far_nodes: usize,
    pub waiting: HashMap<&'a str, usize>,
    pub mismatches: Vec<String>,
}

impl StatusPublisher {
    pub fn new(node: &Node) -> gantry::Result<StatusPublisher> {
        let publisher = node.create_publisher("~/status", Qos::default().keep_last(1).transient_local())?;
        Ok(StatusPublisher { publisher, rates: Rates::default() })
    }

    pub fn publish(&mut self, context: &Context, tables: Tables<'_>) -> gantry::Result<()> {
        let mut status = status(context, tables);
        self.rates.set(&mut status.topics);
        let text = serde_json::to_string(&status).unwrap_or_default();
        let message = self.publisher.loan_with(StringShape { data: &text })?;
        self.publisher.publish(message)?;
        Ok(())
    }
}

fn status(context: &Context, tables: Tables<'_>) -> Status {
    let network = &context.network;
    let links = network.session.info().links().wait();
    let link =
        |link: zenoh::session::Link| LinkStatus { session: link.zid().to_string(), address: link.dst().to_string() };
    let topics = context.all_counts().into_iter().map(|((direction, name), counts)| {
        let waiting = if direction == "out" { tables.waiting.get(&*name).copied().unwrap_or_default() } else { 0 };
        TopicStatus {
            name,
            direction: direction.to_owned(),
            counts: counts.values(),
            waiting,
            ..TopicStatus::default()
        }
    });
    Status {
        network: "zenoh".to_owned(),
        domain_id: network.domain_id,
        session: network.session_id.clone(),
        links: links.map(link).collect(),
        local_nodes: tables.local_nodes,
        far_nodes: tables.far_nodes,
        malformed: network.malformed.load(Relaxed),
        topics: topics.collect(),
        mismatches: tables.mismatches,
    }
}
