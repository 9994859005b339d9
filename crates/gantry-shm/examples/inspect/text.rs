//! The text of a report.

use gantry_shm::{DomainReport, EndpointDescription, ProcessReport, PublisherReport, PublisherState};
use std::fmt::{self, Write};

/// A report for people: processes, endpoints, topics, problems, a line each.
pub fn text_of(report: &DomainReport) -> Result<String, fmt::Error> {
    let (mut text, directory) = (String::new(), report.directory.display());
    let processes = count(report.processes.len(), "process", "es");
    let topics = count(report.topics.len(), "topic", "s");
    writeln!(text, "{directory}: {processes}, {topics}, {} bytes", report.used_bytes)?;
    if let Some(pid) = report.registry_holder {
        writeln!(text, "  the registry is locked by process {pid}")?;
    }
    report.processes.iter().try_for_each(|process| write_process(&mut text, process))?;
    for (topic, sleepers) in &report.topics {
        let publishers = report.processes.iter().flat_map(|process| &process.publishers);
        let publishers = publishers.filter(|publisher| publisher.description.topic == *topic).count();
        let subscriptions = report.processes.iter().flat_map(|process| &process.subscriptions);
        let subscriptions = subscriptions.filter(|subscription| subscription.topic == *topic).count();
        let publishers = count(publishers, "publisher", "s");
        write!(text, "  {topic}: {publishers}, {}", count(subscriptions, "subscription", "s"))?;
        sleepers.iter().try_for_each(|sleeper| write!(text, ", {sleeper} sleeps"))?;
        writeln!(text)?;
    }
    report.problems.iter().try_for_each(|problem| writeln!(text, "  PROBLEM: {problem}"))?;
    Ok(text)
}

fn write_process(text: &mut String, process: &ProcessReport) -> fmt::Result {
    let state = if process.is_alive { "" } else { ", dead" };
    writeln!(text, "  {}{state}", process.process)?;
    process.nodes.iter().try_for_each(|node| writeln!(text, "    node {node}"))?;
    process.publishers.iter().try_for_each(|publisher| write_publisher(text, publisher))?;
    for EndpointDescription { node, topic, message_type, .. } in &process.subscriptions {
        writeln!(text, "    {node} subscribes to {topic} ({})", message_type.name)?;
    }
    Ok(())
}

fn write_publisher(text: &mut String, publisher: &PublisherReport) -> fmt::Result {
    let EndpointDescription { node, topic, message_type, .. } = &publisher.description;
    write!(text, "    {node} publishes {topic} ({})", message_type.name)?;
    if let Some(PublisherState { used_bytes, newest_sequence, granted_depth, is_blocked, .. }) = &publisher.state {
        let waits = if *is_blocked { ", waits for gating readers" } else { "" };
        write!(text, ": newest {newest_sequence}, keeps {granted_depth}, {used_bytes} bytes{waits}")?;
    }
    writeln!(text)?;
    for reader in &publisher.readers {
        let gating = if reader.is_gating { ", gating" } else { "" };
        let (process, next, depth) = (&reader.process, reader.next_sequence, reader.depth);
        writeln!(text, "      read by {process}: next {next}, depth {depth}{gating}")?;
    }
    publisher.holders.iter().try_for_each(|holder| writeln!(text, "      {holder}"))
}

/// A number with its noun in the singular or plural.
fn count(number: usize, noun: &str, plural: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { plural })
}
