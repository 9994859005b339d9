//! The list of everything that can be measured (`perf_test list`): middlewares with their settings, messages,
//! topologies.

use std::path::PathBuf;

use serde::Serialize;

use crate::{
    communicator::{Communicator, FOREIGN, Program, worker_file},
    topology::{self, Counts, Named, Topology},
};
use perf_worker::choice::Choice;
use perf_worker::{
    backend::{Capabilities, Description, Setting},
    run_spec::Layout,
};
use perf_worker_gantry::messages;

/// The hint on how to install missing middlewares.
const HOW_TO_ADD: &str = "`tools/contestants --install` builds all that it can. A worker program `perf_test_NAME` of your own, beside this \
     program or on the PATH, adds any other: docs/internals/worker-protocol.md";

/// Everything that can be measured; serialises as the object of `--json`.
#[derive(Debug, Serialize)]
pub struct Listing {
    /// The middlewares that `-c` can select.
    middlewares: Vec<Middleware>,
    /// The known middlewares without an installed worker program.
    missing: Vec<Missing>,
    /// The version of performance_test (1.x or 2.x) that defines the messages.
    message_layout: String,
    /// The messages that `-m` can select.
    messages: Vec<Message>,
    /// The topologies that come with the tool.
    topologies: Vec<NamedTopology>,
}

/// A middleware that `-c` can select.
#[derive(Debug, Serialize)]
struct Middleware {
    name: String,
    /// The worker program of the middleware; none if this program is the worker program, too.
    program: Option<PathBuf>,
    /// The version and the settings of the middleware; none if its worker program does not print a description.
    description: Option<Description>,
    /// The reason why there is no description.
    problem: Option<String>,
}

/// A middleware whose worker program was not found.
#[derive(Debug, Serialize)]
struct Missing {
    name: &'static str,
    description: &'static str,
    how_to_add: String,
}

#[derive(Debug, Serialize)]
struct Message {
    name: &'static str,
    type_name: &'static str,
    /// The size of the message as it is sent: with time and id, and with an unbounded payload of 0 bytes.
    size_bytes: usize,
}

/// A topology that comes with the tool.
#[derive(Debug, Serialize)]
struct NamedTopology {
    name: String,
    description: String,
    #[serde(flatten)]
    counts: Counts,
}

impl Listing {
    /// Makes the list of the middlewares that are installed now, with the messages of this layout.
    #[must_use]
    pub fn new(layout: Layout) -> Listing {
        let is_of = |of: &Communicator, file: &str| matches!(&of.program, Program::Other(path) if path.ends_with(file));
        let all: Vec<Communicator> = Communicator::all().collect();
        let is_here = |name: &str| all.iter().any(|of| is_of(of, &worker_file(name)));
        let missing = FOREIGN.into_iter().filter(|foreign| !is_here(foreign.program.unwrap_or(foreign.name)));
        let missing = missing.map(|foreign| Missing {
            name: foreign.name,
            description: foreign.description,
            how_to_add: foreign.how_to_add(),
        });
        let missing = missing.collect();
        let messages = messages::list(layout, 0).map(|message| Message {
            name: message.name,
            type_name: message.type_name,
            size_bytes: message.bytes,
        });
        let messages = messages.collect();
        let middlewares = all.into_iter().map(Middleware::new).collect();
        let topologies = topology::all_named().into_iter().filter_map(|Named { name, description }| {
            let counts = Topology::read_named(&name)?.counts();
            Some(NamedTopology { name, description, counts })
        });
        let topologies = topologies.collect();
        Listing { middlewares, missing, message_layout: layout.name().to_owned(), messages, topologies }
    }

    /// The list as lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec!["middlewares, for -c:".to_owned()];
        for Middleware { name, program, description, problem } in &self.middlewares {
            let place = match (program, problem) {
                (Some(path), _) => path.display().to_string(),
                (None, None) => "in this program".to_owned(),
                (None, Some(_)) => "missing".to_owned(),
            };
            let version = match (description, problem) {
                (Some(description), _) => format!("version {}", description.version),
                (None, problem) => problem.clone().unwrap_or_default(),
            };
            lines.push(format!("  {name:<20}{place}; {version}"));
            let capabilities = description.iter().map(|description| capabilities(&description.capabilities));
            lines.extend(capabilities.map(|capabilities| format!("  {:<20}{capabilities}", "")));
            let settings = description.iter().flat_map(|description| &description.settings);
            lines.extend(settings.map(|Setting { name, values, best, meaning }| {
                let best = best.as_ref().map_or(String::new(), |best| format!(" (best: {best})"));
                format!("  {:<20}--set {name}={}{best}: {meaning}", "", values.join("|"))
            }));
        }
        lines.push(String::new());
        lines.push("missing:".to_owned());
        for Missing { name, description, how_to_add } in &self.missing {
            let how = if how_to_add.is_empty() { String::new() } else { format!("; {how_to_add}") };
            lines.push(format!("  {name:<40}{description}{how}"));
        }
        lines.push(format!("{HOW_TO_ADD}."));
        lines.push(String::new());
        lines
    }

    /// The topologies as lines of text.
    #[must_use]
    pub fn topology_lines(&self) -> Vec<String> {
        let row = |name: &str, cells: &[String; 9], description: &str| {
            let cells: String = cells.iter().map(|cell| format!("{cell:>11}")).collect();
            format!("  {name:<34}{cells}  {description}").trim_end().to_owned()
        };
        let header = ["nodes", "topics", "pubs", "subs", "services", "clients", "sent/s", "received/s", "requests/s"];
        let mut lines = vec![
            String::new(),
            "topologies, with their messages per second; --topology NAME shows the nodes:".to_owned(),
            row("", &header.map(str::to_owned), ""),
        ];
        lines.extend(self.topologies.iter().map(|NamedTopology { name, description, counts: of }| {
            let counts = [of.nodes, of.topics, of.publishers, of.subscriptions, of.services, of.clients];
            let [nodes, topics, publishers, subscriptions, services, clients] = counts.map(|count| count.to_string());
            let rates_hz = [of.sent_hz, of.received_hz, of.requests_hz];
            let [sent, received, requests] = rates_hz.map(|rate_hz| format!("{rate_hz:.0}"));
            let cells = [nodes, topics, publishers, subscriptions, services, clients, sent, received, requests];
            row(name, &cells, description)
        }));
        lines
    }
}

/// The capabilities in which middlewares differ, as one line of text.
fn capabilities(of: &Capabilities) -> String {
    fn names<T: Choice>(values: &[T]) -> String {
        values.iter().map(|value| value.name()).collect::<Vec<_>>().join("|")
    }
    let loaned: Vec<String> = of.zero_copy.iter().map(|content| format!("{content:?}")).collect();
    let mut parts = vec![
        of.delivery.name().to_owned(),
        format!("matching: {}", of.matching.name()),
        if loaned.is_empty() { "no zero copy".to_owned() } else { format!("zero copy of {}", loaned.join(", ")) },
        names(&of.reliability),
        names(&of.durability),
        names(&of.history),
    ];
    let others = [
        ("only zero copy", !of.copies),
        ("one publisher for each topic", !of.sources),
        ("services", of.services),
        ("raw", of.raw),
        ("phases", of.phases),
    ];
    parts.extend(others.into_iter().filter(|(_, is_so)| *is_so).map(|(name, _)| name.to_owned()));
    if !of.executors.is_empty() {
        parts.push(format!("executors: {}", of.executors.join("|")));
    }
    parts.join("; ")
}

impl Middleware {
    fn new(communicator: Communicator) -> Middleware {
        let (description, problem) = match communicator.describe() {
            Ok(description) => (Some(description), None),
            Err(sentence) => (None, Some(sentence)),
        };
        let program = Some(communicator.worker()).filter(|_| !communicator.is_in_this_program());
        Middleware { name: communicator.name, program, description, problem }
    }
}

/// The messages of a layout as lines of text. A message of variable size has a payload of `unbounded_bytes`.
#[must_use]
pub fn message_lines(layout: Layout, unbounded_bytes: u32) -> Vec<String> {
    let mut lines =
        vec![format!("messages of the {} layout, sizes in bytes as they are sent, with time and id:", layout.name())];
    lines.extend(messages::list(layout, unbounded_bytes as usize).map(|message| {
        let by_option = if message.content.is_unbounded() {
            format!(", with --unbounded-msg-size {unbounded_bytes}")
        } else {
            String::new()
        };
        format!("  {:<20}{:>9}  {}{by_option}", message.name, message.bytes, message.type_name)
    }));
    lines
}
