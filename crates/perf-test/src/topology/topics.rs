//! Checks that the processes of a topology agree on their common topics and services. Each subscription gets the
//! message size of its publishers.

use std::collections::{BTreeMap, BTreeSet};

use super::process::{Node, NodeQos, Payload, Process, Publisher, Subscription, Trigger};
use perf_worker::nearest::or_nearest;
use perf_worker::run_spec::{Durability, Reliability};

/// Checks that the types and the QoS of all processes fit together, and sets the message size of each subscription to
/// the largest size of its publishers. Adds sentences to `notes` about endpoints to which no other endpoint connects.
///
/// # Errors
/// The reason, as a sentence that starts with the path of the wrong value in the file.
pub fn connect(processes: &mut [Process], notes: &mut Vec<String>) -> Result<(), String> {
    for node in processes.iter().flat_map(|process| &process.nodes) {
        check_triggers(node)?;
    }
    let publishers = publishers(processes)?;
    let nodes = processes.iter_mut().flat_map(|process| &mut process.nodes);
    let mut subscribed = BTreeSet::new();
    for subscription in nodes.flat_map(|node| &mut node.subscriptions) {
        let Some(of_topic) = publishers.get(&subscription.topic) else {
            note(notes, &subscription.place, &format!("no publisher of {} is in these files", subscription.topic));
            continue;
        };
        subscribed.insert(subscription.topic.clone());
        connect_one(subscription, of_topic)?;
    }
    for (topic, of_topic) in &publishers {
        if let Some(publisher) = of_topic.first().filter(|_| !subscribed.contains(topic)) {
            note(notes, &publisher.place, &format!("no subscription to {topic} is in these files"));
        }
    }
    connect_services(processes, notes)
}

/// The publishers of each topic. The key is the full topic name.
fn publishers(processes: &[Process]) -> Result<BTreeMap<String, Vec<Publisher>>, String> {
    let mut found: BTreeMap<String, Vec<Publisher>> = BTreeMap::new();
    for publisher in processes.iter().flat_map(|process| &process.nodes).flat_map(|node| &node.publishers) {
        let of_topic = found.entry(publisher.topic.clone()).or_default();
        if let Some(first) = of_topic.first() {
            let (there, here) = ((&*first.place, &first.payload), (&*publisher.place, &publisher.payload));
            same_type("topic", &publisher.topic, there, here, "msg_type")?;
        }
        of_topic.push(publisher.clone());
    }
    Ok(found)
}

fn connect_one(subscription: &mut Subscription, publishers: &[Publisher]) -> Result<(), String> {
    let Subscription { topic, place, qos, .. } = &*subscription;
    for publisher in publishers {
        let (there, here) = ((&*publisher.place, &publisher.payload), (&**place, &subscription.payload));
        same_type("topic", topic, there, here, "msg_type")?;
        if let Some(policy) = incompatible(&publisher.qos, qos) {
            return Err(format!(
                "{place}: it asks for more {policy} than the publisher of {topic} offers ({}), so it would get \
                 nothing: give both the same",
                publisher.place
            ));
        }
    }
    let payloads = publishers.iter().map(|publisher| &publisher.payload);
    if let Some(largest) = payloads.max_by_key(|payload| payload.message.bytes) {
        subscription.payload = largest.clone();
    }
    Ok(())
}

/// The first policy for which a subscription requests more than a publisher offers; `None` if the QoS are compatible.
fn incompatible(offered: &NodeQos, asked: &NodeQos) -> Option<&'static str> {
    let (of, wants) = (offered.qos, asked.qos);
    if of.reliability == Reliability::BestEffort && wants.reliability == Reliability::Reliable {
        Some("reliability")
    } else if of.durability == Durability::Volatile && wants.durability == Durability::TransientLocal {
        Some("durability")
    } else if offered.liveliness < asked.liveliness {
        Some("liveliness")
    } else {
        None
    }
}

/// An endpoint of a topic: its path in the file, and its message.
type There<'a> = (&'a str, &'a Payload);

fn same_type(kind: &str, name: &str, there: There<'_>, here: There<'_>, key: &str) -> Result<(), String> {
    let ((first, one), (place, other)) = (there, here);
    if one.message.type_name == other.message.type_name {
        return Ok(());
    }
    let (one, other) = (&one.message.name, &other.message.name);
    Err(format!("{place}.{key}: the {kind} {name} has {other} here and {one} in {first}: give both one type"))
}

fn check_triggers(node: &Node) -> Result<(), String> {
    let subscribed = || node.subscriptions.iter().map(|subscription| subscription.topic.as_str());
    for publisher in &node.publishers {
        let Trigger::Topics(topics) = &publisher.trigger else { continue };
        if let Some(topic) = topics.iter().find(|topic| !subscribed().any(|known| known == *topic)) {
            let near = or_nearest(topic, subscribed());
            let (place, node) = (&publisher.place, &node.name);
            return Err(format!("{place}.triggered_by: the node {node} does not subscribe to `{topic}`{near}"));
        }
    }
    Ok(())
}

fn connect_services(processes: &[Process], notes: &mut Vec<String>) -> Result<(), String> {
    let nodes = || processes.iter().flat_map(|process| &process.nodes);
    let mut servers: BTreeMap<&str, There<'_>> = BTreeMap::new();
    for server in nodes().flat_map(|node| &node.servers) {
        if let Some((first, _)) = servers.insert(&server.service, (&server.place, &server.payload)) {
            return Err(format!(
                "{}.service_name: the service {} has a server already ({first}), and both would answer: remove one",
                server.place, server.service
            ));
        }
    }
    let mut called = BTreeSet::new();
    for client in nodes().flat_map(|node| &node.clients) {
        let Some(server) = servers.get(client.service.as_str()) else {
            note(notes, &client.place, &format!("no server of {} is in these files", client.service));
            continue;
        };
        same_type("service", &client.service, *server, (&client.place, &client.payload), "srv_type")?;
        called.insert(client.service.as_str());
    }
    for (service, (place, _)) in servers.iter().filter(|(service, _)| !called.contains(*service)) {
        note(notes, place, &format!("no client of {service} is in these files"));
    }
    Ok(())
}

/// Adds a note about the endpoint at `place`, but only once: copies of a node have the same path.
fn note(notes: &mut Vec<String>, place: &str, sentence: &str) {
    let begin = format!("{place}: ");
    if !notes.iter().any(|note| note.starts_with(&begin)) {
        notes.push(begin + sentence);
    }
}
