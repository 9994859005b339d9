//! The nodes of a topology file, in iRobot's schema. A node with the key `number` stands for several copies, which are
//! named `<node_name>_1` and so on.

use serde_json::value::RawValue;

use super::{
    chains, endpoints,
    node_name::NodeName,
    object::{Object, at},
    process::{Node, Process},
};

const ROOT_KEYS: &[&str] = &["nodes", "chains"];
const KEYS: &[&str] =
    &["node_name", "node_namespace", "number", "executor_id", "publishers", "subscribers", "clients", "servers"];
/// The keys of actions, which newer files of iRobot may have. perf_test does not support them.
const ACTION_KEYS: &[&str] = &["action_servers", "action_clients"];
/// The largest number of nodes in a process. It limits the memory that a file can request.
const MAX_NODES: u32 = 100_000;

/// Parses a topology file as one process. Adds sentences about keys without effect to `notes`.
///
/// # Errors
/// The reason, as a sentence that starts with the path of the wrong value in the file.
pub fn read(name: &str, file: &str, text: &str, notes: &mut Vec<String>) -> Result<Process, String> {
    let value: &RawValue =
        serde_json::from_str(text).map_err(|error| format!("{file}: the text is not JSON: {error}"))?;
    let in_file = |sentence: String| format!("{file}: {sentence}");
    let root = Object::read(String::new(), value, &[ROOT_KEYS]).map_err(in_file)?;
    if !root.has("nodes") {
        return Err(in_file(root.missing("nodes")));
    }
    let mut nodes = Vec::new();
    for (place, value) in root.list("nodes").map_err(in_file)? {
        let node = Object::read(place, value, &[KEYS, ACTION_KEYS]).map_err(in_file)?;
        nodes.extend(copies(&node, file, notes).map_err(in_file)?);
        if nodes.len() > MAX_NODES as usize {
            let sentence =
                format!("with this entry there are {} nodes, and a process has at most {MAX_NODES}", nodes.len());
            return Err(in_file(at(&node.place, &sentence)));
        }
    }
    if nodes.is_empty() {
        return Err(in_file(root.problem("nodes", "there is no node: give at least one")));
    }
    let chains = root
        .list("chains")
        .and_then(|list| list.into_iter().map(|(place, value)| chains::read(file, place, value)).collect());
    Ok(Process { name: name.to_owned(), nodes, chains: chains.map_err(in_file)? })
}

/// The copies of a node; without the key `number`, the node itself.
fn copies(object: &Object<'_>, file: &str, notes: &mut Vec<String>) -> Result<Vec<Node>, String> {
    if let Some(key) = ACTION_KEYS.iter().find(|key| object.has(key)) {
        return Err(object.problem(key, "perf_test measures topics and services, and no actions: remove it"));
    }
    match object.whole("number", 0..=MAX_NODES)? {
        None => Ok(vec![node(object, "", file, notes)?]),
        Some(count) => (1..=count).map(|copy| node(object, &format!("_{copy}"), file, notes)).collect(),
    }
}

fn node(object: &Object<'_>, suffix: &str, file: &str, notes: &mut Vec<String>) -> Result<Node, String> {
    let name = object.text("node_name")?.ok_or_else(|| object.missing("node_name"))? + suffix;
    let namespace = object.text("node_namespace")?.map_or("/".to_owned(), |namespace| namespace + suffix);
    let of_key = |key: &'static str| move |error: gantry::Error| object.problem(key, &error.to_string());
    gantry::expand_topic_name("topic", "node", &namespace).map_err(of_key("node_namespace"))?;
    let full_name = gantry::expand_topic_name("~", &name, &namespace).map_err(of_key("node_name"))?;
    let node_name = NodeName { name, namespace };
    let mut reader = endpoints::Reader { node: &node_name, file, notes };
    Ok(Node {
        name: full_name,
        executor: object.whole("executor_id", 0..=u32::MAX)?.unwrap_or(0),
        publishers: each(object, "publishers", |place, value| reader.publisher(place, value))?,
        subscriptions: each(object, "subscribers", |place, value| reader.subscription(place, value))?,
        clients: each(object, "clients", |place, value| reader.client(place, value))?,
        servers: each(object, "servers", |place, value| reader.server(place, value))?,
    })
}

fn each<T>(
    object: &Object<'_>,
    key: &str,
    mut read: impl FnMut(String, &RawValue) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    object.list(key)?.into_iter().map(|(place, value)| read(place, value)).collect()
}
