//! The checks of `gantry doctor`. Each finding is a sentence: a problem or a doubt.

use super::machine::{Limits, SharedMemory};
use crate::service::is_of_service;
use gantry::{BRIDGE_NODE, other_hosts_variable};
use gantry_shm::{DomainReport, EndpointDescription, ProcessReport, PublisherState};
use std::collections::BTreeMap;

/// The free shared memory below which a doubt is reported: a large image needs 64 MiB.
const LITTLE_BYTES: u64 = 64 << 20;
/// The number of free files below which a doubt is reported: each process needs one, and each publisher one more.
const FEW_FILES: u64 = 100;
/// The limit of open files below which a doubt is reported: the kernel's default.
const FEW_OPEN_FILES: u64 = 1024;
/// A `vm.max_map_count` below the kernel's default is reported as a doubt.
const FEW_MAPPINGS: u64 = 65_530;

pub fn check_machine(memory: &SharedMemory, limits: &Limits, doubts: &mut Vec<String>, problems: &mut Vec<String>) {
    let directory = &memory.directory;
    match &memory.file_system {
        None => problems.push(format!(
            "{directory} is not a directory that can be read: create the directory, or set GANTRY_SHM_DIR"
        )),
        Some(system) => {
            if !system.is_tmpfs {
                doubts.push(format!("{directory} is not on a tmpfs: set GANTRY_SHM_DIR to a tmpfs, such as /dev/shm"));
            }
            if system.free_bytes < LITTLE_BYTES {
                doubts.push(format!(
                    "{directory} has {} bytes free: free some memory, or enlarge the file system (docker: \
                     --shm-size=1g; host: mount -o remount,size=50% {directory})",
                    system.free_bytes
                ));
            }
            if system.total_files > 0 && system.free_files < FEW_FILES {
                doubts.push(format!(
                    "{directory} has room for {} more files: remove files, or allow more files (mount -o \
                     remount,nr_inodes=1000000 {directory})",
                    system.free_files
                ));
            }
        }
    }
    if let Some(files) = limits.open_files.filter(|files| *files < FEW_OPEN_FILES) {
        doubts.push(format!(
            "a program may open {files} files, and needs one for each process of its domain: raise the limit (ulimit \
             -n 4096)"
        ));
    }
    if let Some(mappings) = limits.mappings.filter(|mappings| *mappings < FEW_MAPPINGS) {
        doubts.push(format!(
            "a program may have {mappings} mappings, and needs some for each publisher: raise the limit (sysctl \
             vm.max_map_count={FEW_MAPPINGS})"
        ));
    }
    if let Some(bytes) = limits.address_space_bytes {
        doubts.push(format!(
            "the address space of a program is limited to {bytes} bytes: remove the limit (ulimit -v unlimited)"
        ));
    }
}

/// Checks one domain. `all` has the reports of all domains of this user, in which the check searches for missing
/// endpoints.
pub fn check_domain(
    id: u32,
    report: &DomainReport,
    all: &[(u32, DomainReport)],
    doubts: &mut Vec<String>,
    problems: &mut Vec<String>,
) {
    let living = || report.processes.iter().filter(|process| process.is_alive);
    problems.extend(report.problems.iter().map(|problem| format!("domain {id}: {problem}")));
    for (publisher, subscription) in pairs(report) {
        problems.extend(publisher.mismatch(subscription).map(|why| format!("domain {id}: {why}")));
    }
    for process in living() {
        doubts.extend(slow_readers(process).into_iter().map(|doubt| format!("domain {id}: {doubt}")));
    }
    let mut nodes = BTreeMap::<&str, usize>::new();
    living().flat_map(|process| &process.nodes).for_each(|node| *nodes.entry(node).or_default() += 1);
    for (node, count) in nodes.into_iter().filter(|(_, count)| *count > 1) {
        doubts.push(format!("domain {id}: {count} nodes are named {node}; give each a name or a namespace of its own"));
    }
    doubts.extend(unpublished(id, report, all));
    doubts.extend(missing_bridge(id, report));
}

/// A sentence if the environment requests nodes of other hosts and the domain has no bridge. It checks the environment
/// of the command, because the environments of the other programs are not known.
fn missing_bridge(id: u32, report: &DomainReport) -> Option<String> {
    let variable = other_hosts_variable()?;
    let mut nodes = report.processes.iter().filter(|process| process.is_alive).flat_map(|process| &process.nodes);
    let is_alone = nodes.clone().next().is_some() && !nodes.any(|node| node.starts_with(BRIDGE_NODE));
    is_alone.then(|| {
        format!(
            "domain {id}: {variable} asks for nodes of other hosts, and no bridge runs; `gantry bridge zenoh --domain-id {id}` \
             starts one"
        )
    })
}

/// Pairs of a living publisher and a living subscription of the same topic.
fn pairs(report: &DomainReport) -> impl Iterator<Item = (&EndpointDescription, &EndpointDescription)> {
    publishers(report).flat_map(|publisher| {
        subscriptions(report)
            .filter(|subscription| subscription.topic == publisher.topic)
            .map(move |subscription| (publisher, subscription))
    })
}

fn publishers(report: &DomainReport) -> impl Iterator<Item = &EndpointDescription> {
    let living = report.processes.iter().filter(|process| process.is_alive);
    living.flat_map(|process| &process.publishers).map(|publisher| &publisher.description)
}

fn subscriptions(report: &DomainReport) -> impl Iterator<Item = &EndpointDescription> {
    let living = report.processes.iter().filter(|process| process.is_alive);
    living.flat_map(|process| &process.subscriptions).map(|subscription| &subscription.description)
}

/// The doubts about readers that lost messages of this process's publishers, because they did not take them in time.
fn slow_readers(process: &ProcessReport) -> Vec<String> {
    let mut doubts = Vec::new();
    for publisher in &process.publishers {
        let topic = &publisher.description.topic;
        let Some(PublisherState { newest_sequence, is_blocked, .. }) = publisher.state else { continue };
        for reader in &publisher.readers {
            let waiting = (newest_sequence + 1).saturating_sub(reader.next_sequence);
            if reader.next_sequence > 0 && !reader.is_gating && waiting > u64::from(reader.depth) {
                let (reader, depth) = (&reader.process, reader.depth);
                doubts.push(format!(
                    "{reader} has not taken the last {waiting} messages of {topic}, and its history keeps only \
                     {depth}: check that the executor of its node spins, and that its callbacks are fast enough"
                ));
            }
        }
        if is_blocked {
            let gating: Vec<_> = publisher.readers.iter().filter(|reader| reader.is_gating).collect();
            let names = gating.iter().map(|reader| reader.process.as_str()).collect::<Vec<_>>().join(", ");
            doubts.push(format!(
                "{} waits to publish on {topic} until messages are taken by {names} (KEEP_ALL)",
                process.process
            ));
        }
    }
    doubts
}

/// The subscriptions of a domain to topics that have no publisher in the domain. A service without a client is not
/// reported.
fn unpublished(id: u32, report: &DomainReport, all: &[(u32, DomainReport)]) -> Vec<String> {
    let mut waiting = BTreeMap::<&str, Vec<&str>>::new();
    for subscription in subscriptions(report).filter(|end| !is_of_service(&end.topic)) {
        if publishers(report).all(|publisher| publisher.topic != subscription.topic) {
            waiting.entry(&subscription.topic).or_default().push(&subscription.node);
        }
    }
    let sentence = |(topic, nodes): (&str, Vec<&str>)| {
        let is_there = |(other, report): &&(u32, DomainReport)| {
            *other != id && publishers(report).any(|publisher| publisher.topic == topic)
        };
        let elsewhere =
            all.iter().find(is_there).map(|(other, _)| format!("; domain {other} has a publisher")).unwrap_or_default();
        format!("domain {id}: {topic} has no publisher, and {} subscribed to it{elsewhere}", nodes.join(", "))
    };
    waiting.into_iter().map(sentence).collect()
}
