//! The rates of publishers, each from its timer or from the topics that trigger it.

use std::collections::BTreeMap;

use super::process::{Process, Publisher, Trigger};

/// Computes the rates of all publishers.
///
/// # Errors
/// The reason, as a sentence that starts with the path of the wrong value in the file: publishers trigger each other in
/// a cycle.
pub fn set(processes: &mut [Process]) -> Result<(), String> {
    let publishers = processes.iter_mut().flat_map(|process| &mut process.nodes).flat_map(|node| &mut node.publishers);
    let mut open: Vec<&mut Publisher> = publishers.collect();
    // For each topic, the sum of the known rates of its publishers, and the number of publishers with unknown rates.
    let mut topics: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for publisher in &open {
        topics.entry(publisher.topic.clone()).or_default().1 += 1;
    }
    while !open.is_empty() {
        let before = open.len();
        let mut waiting = Vec::new();
        for publisher in open {
            match rate_hz(&publisher.trigger, &topics) {
                None => waiting.push(publisher),
                Some(rate_hz) => {
                    publisher.rate_hz = rate_hz;
                    if let Some((sum_hz, unknown)) = topics.get_mut(&publisher.topic) {
                        *sum_hz += rate_hz;
                        *unknown -= 1;
                    }
                }
            }
        }
        if let Some(publisher) = waiting.first().filter(|_| waiting.len() == before) {
            return Err(format!(
                "{}.triggered_by: the publisher of {} waits for messages that are published only after its own: give \
                 one of the publishers in this circle a rate",
                publisher.place, publisher.topic
            ));
        }
        open = waiting;
    }
    Ok(())
}

/// The rate of a publisher; `None` if the rate of a topic that triggers it is still unknown.
fn rate_hz(trigger: &Trigger, topics: &BTreeMap<String, (f64, usize)>) -> Option<f64> {
    match trigger {
        Trigger::Timer(pace) => Some(pace.messages_per_s()),
        Trigger::Topics(names) => {
            let mut slowest_hz = f64::INFINITY;
            for name in names {
                let (sum_hz, unknown) = topics.get(name).copied().unwrap_or_default();
                if unknown > 0 {
                    return None;
                }
                slowest_hz = slowest_hz.min(sum_hz);
            }
            Some(slowest_hz)
        }
    }
}
