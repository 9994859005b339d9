//! Many publishers in one process, each on its own topic: their costs, and the number of file descriptors, which stays
//! small.

use super::{Result, print_ratio, publish_ns, publisher, root, subscription};
use bench_support::statistics::median;
use gantry_shm::Participant;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{os::unix::fs::MetadataExt, path::Path, time::Instant};

/// The limit on file descriptors (`ulimit -n`) in this benchmark.
const DESCRIPTORS: u64 = 256;

/// One row of the table.
struct EndpointCosts {
    count: usize,
    create_us: f64,
    match_us: f64,
    shared_bytes: f64,
    descriptors: usize,
    publish_ns: f64,
}

pub fn measure(counts: &[usize]) -> Result<()> {
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum: before.maximum })?;
    println!(
        "Publishers in one process, each on a topic of its own, `ulimit -n {DESCRIPTORS}`; medians of the last tenth."
    );
    println!("publishers  create us  match us  shared KiB each  descriptors  publish ns");
    let mut rows = Vec::new();
    for &count in counts {
        let row = measure_count(count)?;
        println!(
            "{:10} {:10.1} {:9.1} {:16.1} {:12} {:11.1}",
            row.count,
            row.create_us,
            row.match_us,
            row.shared_bytes / 1024.0,
            row.descriptors,
            row.publish_ns
        );
        rows.push(row);
    }
    if let [first, .., last] = &rows[..] {
        let compare =
            |name, of: fn(&EndpointCosts) -> f64| print_ratio(name, (first.count, of(first)), (last.count, of(last)));
        compare("create-publisher", |row| row.create_us);
        compare("match-subscription", |row| row.match_us);
        compare("memory-per-publisher", |row| row.shared_bytes);
        compare("publish-among-publishers", |row| row.publish_ns);
    }
    println!();
    Ok(setrlimit(Resource::Nofile, before)?)
}

fn measure_count(count: usize) -> Result<EndpointCosts> {
    let root = root()?;
    let participant = Participant::join_under(root.path(), 0)?;
    let before_bytes = used_bytes(root.path())?;
    let last_tenth = count - count / 10..count;
    let (mut publishers, mut create_us, mut match_us) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..count {
        let start = Instant::now();
        publishers.push(publisher(&participant, &format!("/topic_{number}"))?);
        create_us.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let shared_bytes = (used_bytes(root.path())? - before_bytes) as f64 / count as f64;
    for number in last_tenth.clone() {
        let start = Instant::now();
        let mut subscription = subscription(&participant, &format!("/topic_{number}"))?;
        if subscription.publisher_count()? != 1 || publishers[number].subscription_count()? != 1 {
            return Err(format!("publisher {number} of {count} was not matched").into());
        }
        match_us.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let descriptors = std::fs::read_dir("/proc/self/fd")?.count() - 1; // without the descriptor of this directory
    let publish_ns = publish_ns(&mut publishers[count / 2])?;
    let (create_us, match_us) = (median(create_us[last_tenth].iter().copied()), median(match_us));
    Ok(EndpointCosts { count, create_us, match_us, shared_bytes, descriptors, publish_ns })
}

/// The disk usage of all files under a directory.
pub fn used_bytes(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { used_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}
