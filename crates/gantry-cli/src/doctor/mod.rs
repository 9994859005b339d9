//! `gantry doctor`: inspects the machine, its limits, and the domains of this user, and reports problems.
//!
//! By default the report is short: problems, doubts, and one line for each node. A PROBLEM needs an action and makes
//! the exit code 1. A DOUBT may explain a fault that the user sees, but may also be intended. The command joins no
//! domain and writes nothing.

mod checks;
mod domain;
mod machine;
mod process;

use crate::session::Session;
use clap::Args;
use domain::Domain;
use gantry_command::{Failure, Result};
use gantry_shm::DomainReport;
use machine::{Limits, Machine, SharedMemory};
use serde::Serialize;
use std::{fmt, thread, time::Duration};

/// The time between two inspections of a domain with problems. A problem that only the first inspection finds came from
/// a program that was leaving.
const SECOND_LOOK: Duration = Duration::from_millis(200);

/// Without --domain-id, all domains of this user are shown.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Show the machine, too, and all processes with publishers, subscriptions, memory and topics; JSON always has them
    #[arg(short, long)]
    verbose: bool,
    /// Show the same as -v, and also the parameter services of the nodes, which are otherwise only counted; JSON always
    /// has them
    #[arg(long)]
    include_hidden_services: bool,
}

/// The amount of detail in the text of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// A line for each node.
    Nodes,
    /// Everything except parameter services.
    Endpoints,
    All,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    shared_memory: SharedMemory,
    limits: Limits,
    domains: Vec<Domain>,
    /// Files that programs left behind when a signal or a kill ended them.
    leftovers: Vec<String>,
    doubts: Vec<String>,
    problems: Vec<String>,
    #[serde(skip)]
    detail: Detail,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let detail = match (self.include_hidden_services, self.verbose) {
            (true, _) => Detail::All,
            (false, true) => Detail::Endpoints,
            (false, false) => Detail::Nodes,
        };
        let report = Report::new(session.domain_id, detail)?;
        session.output.print(&report)?;
        match report.problems.len() {
            0 => Ok(()),
            1 => Err(Failure::new("There is 1 problem.")),
            count => Err(Failure::new(format!("There are {count} problems."))),
        }
    }
}

impl Report {
    fn new(domain_id: Option<u32>, detail: Detail) -> Result<Report> {
        // A missing endpoint may be in any domain, so all domains are read, including their hidden nodes.
        let mut all = Vec::new();
        for id in gantry_shm::domains()? {
            all.extend(look(id)?.map(|report| (id, report)));
        }
        let shown = || all.iter().filter(|(id, _)| domain_id.is_none_or(|shown| *id == shown));
        let (machine, shared_memory, limits) = (Machine::read(), SharedMemory::read(), Limits::read());
        let (mut doubts, mut problems) = (Vec::new(), Vec::new());
        checks::check_machine(&shared_memory, &limits, &mut doubts, &mut problems);
        for (id, report) in shown() {
            checks::check_domain(*id, report, &all, &mut doubts, &mut problems);
        }
        let leftovers = shown().flat_map(|(_, report)| report.leftovers.clone()).collect();
        let domains = shown().map(|(id, report)| Domain::new(*id, report, detail)).collect();
        Ok(Report { machine, shared_memory, limits, domains, leftovers, doubts, problems, detail })
    }
}

/// Inspects a domain. If there are problems, inspects it again, and reports only problems that both inspections found.
fn look(domain_id: u32) -> Result<Option<DomainReport>> {
    let report = gantry_shm::inspect(domain_id)?;
    if report.as_ref().is_none_or(|report| report.problems.is_empty()) {
        return Ok(report);
    }
    thread::sleep(SECOND_LOOK);
    let second = gantry_shm::inspect(domain_id)?;
    Ok(second.map(|mut second| {
        let before = report.map_or(Vec::new(), |report| report.problems);
        second.problems.retain(|problem| before.contains(problem));
        second
    }))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problems.iter().try_for_each(|problem| writeln!(f, "PROBLEM: {problem}"))?;
        self.doubts.iter().try_for_each(|doubt| writeln!(f, "DOUBT: {doubt}"))?;
        if self.doubts.is_empty() && self.problems.is_empty() {
            writeln!(f, "No problem was found.")?;
        }
        if self.detail > Detail::Nodes {
            write!(f, "{}{}{}", self.machine, self.shared_memory, self.limits)?;
        }
        if self.domains.is_empty() {
            writeln!(f, "No Gantry program runs there.")?;
        }
        self.domains.iter().try_for_each(|domain| write!(f, "{domain}"))?;
        self.leftovers.iter().try_for_each(|leftover| writeln!(f, "leftover: {leftover}"))?;
        Ok(())
    }
}

/// A number of bytes, with the unit that fits its size.
fn bytes_text(bytes: u64) -> String {
    match bytes as f64 {
        few if few < 1e4 => format!("{bytes} B"),
        kilo if kilo < 1e6 => format!("{:.1} kB", kilo / 1e3),
        mega if mega < 1e9 => format!("{:.1} MB", mega / 1e6),
        giga => format!("{:.1} GB", giga / 1e9),
    }
}
