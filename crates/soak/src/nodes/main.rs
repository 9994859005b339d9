//! Measures nodes with parameter services that join and leave: their cost, and the resources that they leave behind.
//!
//! Each round creates the nodes in this process. One node stays during all rounds, and calls a service of some of the
//! new nodes. Then the round drops the new nodes. The program fails if a round leaves more resources behind than the
//! second round: topic lines on the shared board, files, bytes of shared memory, mappings, resident memory. It also
//! fails if a round needs more than twice the second round's CPU time for a node.
//!
//! ```sh
//! cargo run --release -p soak --bin node_soak -- --nodes 1000 --rounds 10
//! ```

#![expect(clippy::print_stdout, reason = "the figures are its result")]

use clap::Parser;
use gantry::{Client, Node, spin_some};
use gantry_msgs::rcl_interfaces::srv::{ListParameters, ListParameters_Request};
use rustix::time::{ClockId, clock_gettime};
use std::{error::Error, fmt, fs, process::ExitCode, time::Duration};

/// The time-out for a server to appear and to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of new nodes whose service is called in each round.
const CALLED: usize = 20;

/// The largest allowed cost of a node, as a multiple of its cost in the second round.
const MAX_GROWTH: f64 = 2.0;

/// Makes and drops nodes with parameter services, round by round.
#[derive(Parser)]
struct Arguments {
    /// Nodes of each round
    #[arg(long, default_value_t = 1000)]
    nodes: usize,
    /// Number of rounds
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Domain in which they are
    #[arg(long, default_value_t = 90)]
    domain: u32,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("node_soak: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let stays = Node::builder("stays").domain_id(arguments.domain).start_parameter_services(false).build()?;
    println!("round  ms of CPU per node  with all nodes                    after them");
    let mut settled = None;
    for round in 1..=arguments.rounds {
        let begin_ms = cpu_ms();
        let nodes = (0..arguments.nodes)
            .map(|number| {
                let builder = Node::builder(&format!("node_{number}")).domain_id(arguments.domain);
                builder.start_parameter_services(true).build()
            })
            .collect::<gantry::Result<Vec<Node>>>()?;
        let cost_ms = (cpu_ms() - begin_ms) / arguments.nodes as f64;
        nodes.iter().step_by(arguments.nodes.div_ceil(CALLED)).try_for_each(|node| call(&stays, node))?;
        let most = Remains::find(arguments.domain)?;
        drop(nodes);
        let left = Remains::find(arguments.domain)?;
        println!("{round:5}  {cost_ms:18.2}  {most}  {left}");
        if round == 1 {
            continue; // not compared: the allocator's arenas still grow
        }
        let (first_ms, settled) = settled.get_or_insert_with(|| (cost_ms, left.clone()));
        if left.grew_since(settled) {
            return Err(format!("round {round} left {left}, round 2 {settled}").into());
        }
        if cost_ms > MAX_GROWTH * *first_ms {
            return Err(
                format!("a node of round {round} took {cost_ms:.2} ms of CPU, one of round 2 {first_ms:.2}").into()
            );
        }
    }
    Ok(())
}

/// Calls the service of `node` that lists the node's parameters.
fn call(caller: &Node, node: &Node) -> Result<(), Box<dyn Error>> {
    let service = format!("/{}/list_parameters", node.name());
    let mut client: Client<ListParameters> = caller.create_client(&service)?;
    client.wait_for_service(PATIENCE)?;
    client.send_request_copy(&ListParameters_Request::default())?;
    while client.take_response()?.is_none() {
        spin_some(node)?;
    }
    Ok(())
}

/// The CPU time of all threads in this process, in ms.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The resources that are in use in this process and its domain.
#[derive(Clone)]
struct Remains {
    lines: usize,
    files: usize,
    file_bytes: u64,
    mappings: usize,
    resident_bytes: usize,
}

impl Remains {
    fn find(domain_id: u32) -> Result<Remains, Box<dyn Error>> {
        let report = gantry_shm::inspect(domain_id)?.ok_or("there is no such domain")?;
        let resident = fs::read_to_string("/proc/self/statm")?;
        let resident_pages: usize = resident.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
        Ok(Remains {
            lines: report.topic_lines,
            files: fs::read_dir(&report.directory)?.count(),
            file_bytes: report.used_bytes,
            mappings: fs::read_to_string("/proc/self/maps")?.lines().count(),
            resident_bytes: resident_pages * rustix::param::page_size(),
        })
    }

    /// True if resources grew since `first`. Resident memory may be a tenth larger, because the allocator may keep
    /// memory; more than that is a leak.
    fn grew_since(&self, first: &Remains) -> bool {
        self.lines > first.lines
            || self.files > first.files
            || self.file_bytes > first.file_bytes
            || self.mappings > first.mappings + first.mappings / 10
            || self.resident_bytes > first.resident_bytes + first.resident_bytes / 10
    }
}

impl fmt::Display for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Remains { lines, files, mappings, .. } = self;
        let (file_mb, resident_mb) = (self.file_bytes as f64 / 1e6, self.resident_bytes as f64 / 1e6);
        write!(f, "{lines} lines, {files} files of {file_mb:.1} MB, {mappings} mappings, {resident_mb:.1} MB resident")
    }
}
