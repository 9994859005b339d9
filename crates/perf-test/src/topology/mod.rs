//! Topologies: systems of nodes, read from files in iRobot's JSON. Some of these files come with the tool and have a
//! name.
//!
//! Each file describes one process. [`Topology::read`] reads all files of a system, checks that they fit together, and
//! resolves names, periods, sizes and QoS. This module does not start processes or use a middleware.
//!
//! ```text
//! text ─► node ─► chains, endpoints, qos ─► object    one file: places, keys, values
//!   └───► chains, topics, rates, counts ─► process     all files
//! named ─► the files that come with the tool
//! ```

mod chains;
mod counts;
mod endpoints;
mod named;
mod node;
mod node_name;
mod node_options;
mod object;
mod planner;
mod plans;
mod process;
mod qos;
mod rates;
mod text;
mod topics;

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use crate::common::units::several;
use chains::ChainPaths;
pub use counts::Counts;
pub use named::{Named, all as all_named};
pub use node_options::{NodeOptions, Processes};
use perf_worker::nearest::nearest;
pub use plans::numbered;
pub use process::{
    Chain, Client, Liveliness, Node, NodeQos, Payload, Process, Publisher, Server, Subscription, Trigger,
};

/// A system of nodes, with all defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Topology {
    /// The processes of the system, one for each file.
    pub processes: Vec<Process>,
    /// Sentences about keys without effect, and about endpoints to which no other endpoint connects.
    pub notes: Vec<String>,
}

impl Topology {
    /// Reads the processes of a system. Each source is a file. If there is no such file, it is the name of a topology
    /// that comes with the tool.
    ///
    /// # Errors
    /// The reason, as a sentence that starts with the file and the path of the wrong value, such as `robot.json:
    /// nodes[3].publishers[0].freq_hz: `; or the sentence that a source is neither a file nor the name of a topology.
    pub fn read(sources: &[String]) -> Result<Topology, String> {
        let texts = sources.iter().map(|source| text_of(source)).collect::<Result<Vec<_>, _>>()?;
        let texts: Vec<(&str, &str)> =
            sources.iter().zip(&texts).map(|(source, text)| (source.as_str(), text.as_str())).collect();
        Topology::of_texts(&texts)
    }

    /// The topology of this name that comes with the tool, as one process; `None` if there is no such name.
    #[must_use]
    pub fn read_named(name: &str) -> Option<Topology> {
        Topology::of_texts(&[(name, &named::text(name)?)]).ok()
    }

    /// Parses a system of nodes. `files` has the names and texts of its files.
    ///
    /// # Errors
    /// See [`Topology::read`].
    pub fn of_texts(files: &[(&str, &str)]) -> Result<Topology, String> {
        let (mut processes, mut notes) = (Vec::new(), Vec::new());
        for (file, text) in files {
            let name = Path::new(file).file_stem().map_or_else(|| (*file).into(), |stem| stem.to_string_lossy());
            processes.push(node::read(&name, file, text, &mut notes)?);
        }
        notes.extend(equal_names(&processes));
        topics::connect(&mut processes, &mut notes)?;
        rates::set(&mut processes)?;
        ChainPaths::new(&processes).check(&processes)?;
        Ok(Topology { processes, notes })
    }
}

/// The note that several nodes have the same name, which ROS 2 allows; `None` if all names differ.
fn equal_names(processes: &[Process]) -> Option<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for node in processes.iter().flat_map(|process| &process.nodes) {
        *counts.entry(&node.name).or_default() += 1;
    }
    let shared: Vec<(&str, u32)> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    let (name, count) = shared.first()?;
    Some(format!(
        "{} to several nodes, as {name} to {count}: the tables tell such nodes apart by their topics only",
        several(shared.len(), "name belongs", "names belong")
    ))
}

/// The text of the file `source`. If there is no such file, the text of the topology of this name.
fn text_of(source: &str) -> Result<String, String> {
    match std::fs::read_to_string(source) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => named::text(source).ok_or_else(|| {
            let names: Vec<String> = named::all().into_iter().map(|named| named.name).collect();
            let near = nearest(source, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |name| format!("; the nearest name is `{name}`"));
            format!("there is neither a file nor a topology `{source}`{near}. `perf_test list` lists them")
        }),
        Err(error) => Err(format!("{source}: it cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests;
