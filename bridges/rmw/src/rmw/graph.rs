//! The graph of the network as the RMW reports it: nodes and endpoints of all sessions, including the bridge's own
//! session.

use super::{
    error::{RmwError, check, check_end},
    node::{Node, c_text},
    strings::{no_strings, text, texts},
};
use gantry::{Gid, Qos};
use gantry_bridge::{Endpoint, Kind};
use rmw_abi::{
    bindings::*,
    qos::{qos_from_profile, qos_profile},
};
use std::{ffi::c_char, mem::zeroed, ptr::null_mut};

/// A node of the network's graph. Several nodes may have the same namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphNode {
    pub namespace: String,
    pub name: String,
    pub enclave: String,
}

/// The network's graph at one moment.
#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<GraphNode>,
    /// Publishers and subscriptions.
    pub topics: Vec<TopicEntry>,
}

/// A publisher or a subscription: its GID, the namespace and name of its node, and its description.
pub type TopicEntry = (Gid, (String, String), Endpoint);

type ByTopic = unsafe extern "C" fn(
    *const rmw_node_t,
    *mut rcutils_allocator_t,
    *const c_char,
    bool,
    *mut rmw_topic_endpoint_info_array_t,
) -> rmw_ret_t;

type ByNode = unsafe extern "C" fn(
    *const rmw_node_t,
    *mut rcutils_allocator_t,
    *const c_char,
    *const c_char,
    *mut rmw_names_and_types_t,
) -> rmw_ret_t;

impl Graph {
    /// Reads the nodes, the publishers and the subscriptions.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn read(node: &Node) -> Result<Graph, RmwError> {
        let functions = &node.session.library.functions;
        let _control = node.session.control();
        let mut graph = Graph { nodes: nodes(node)?, topics: Vec::new() };
        for (topic, _) in topics(node)? {
            let publishers: ByTopic = functions.rmw_get_publishers_info_by_topic;
            let subscriptions: ByTopic = functions.rmw_get_subscriptions_info_by_topic;
            graph.topics.extend(endpoints(node, publishers, Kind::Publisher, &topic)?);
            graph.topics.extend(endpoints(node, subscriptions, Kind::Subscription, &topic)?);
        }
        Ok(graph)
    }

    /// Returns the services of a node by name and type: services that it serves or calls, depending on `kind`. The list
    /// is empty if the node has left meanwhile.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn services(node: &Node, of: &GraphNode, kind: Kind) -> Result<Vec<(String, String)>, RmwError> {
        let functions = &node.session.library.functions;
        let (function, list): (_, ByNode) = match kind {
            Kind::Client => {
                ("rmw_get_client_names_and_types_by_node", functions.rmw_get_client_names_and_types_by_node)
            }
            _ => ("rmw_get_service_names_and_types_by_node", functions.rmw_get_service_names_and_types_by_node),
        };
        let (name, namespace) = (c_text(&of.name), c_text(&of.namespace));
        let _control = node.session.control();
        let ask = |allocator: &mut _, found: &mut _| {
            // SAFETY: the node lives, the strings end with 0, the array is empty, and the call is under the lock (R3).
            unsafe { list(node.as_ptr(), allocator, name.as_ptr(), namespace.as_ptr(), found) }
        };
        match names_and_types(node, function, ask) {
            Err(error) if error.code == RMW_RET_NODE_NAME_NON_EXISTENT => Ok(Vec::new()),
            result => result,
        }
    }
}

fn nodes(node: &Node) -> Result<Vec<GraphNode>, RmwError> {
    let functions = &node.session.library.functions;
    let (mut names, mut namespaces, mut enclaves) =
        (no_strings(functions), no_strings(functions), no_strings(functions));
    // SAFETY: the node lives, the arrays are empty, and the call is under the lock (R3).
    let code = unsafe {
        (functions.rmw_get_node_names_with_enclaves)(node.as_ptr(), &mut names, &mut namespaces, &mut enclaves)
    };
    // SAFETY: the arrays are initialised.
    let found = [&names, &namespaces, &enclaves].map(|array| unsafe { texts(array) });
    let read = check(functions, "rmw_get_node_names_with_enclaves", code);
    for array in [&mut names, &mut namespaces, &mut enclaves] {
        // SAFETY: the array is initialised, and is not used again.
        let code = unsafe { (functions.rcutils_string_array_fini)(array) };
        check_end(functions, "rcutils_string_array_fini", code);
    }
    read?;
    let [names, namespaces, enclaves] = found;
    let all = names.into_iter().zip(namespaces).zip(enclaves);
    Ok(all.map(|((name, namespace), enclave)| GraphNode { namespace, name, enclave }).collect())
}

fn topics(node: &Node) -> Result<Vec<(String, String)>, RmwError> {
    let functions = &node.session.library.functions;
    let ask = |allocator: &mut _, found: &mut _| {
        // SAFETY: the node lives, the array is empty, and the call is under the lock (R3).
        unsafe { (functions.rmw_get_topic_names_and_types)(node.as_ptr(), allocator, false, found) }
    };
    names_and_types(node, "rmw_get_topic_names_and_types", ask)
}

/// Returns the names that an RMW function lists, each with its first type.
fn names_and_types(
    node: &Node,
    function: &'static str,
    ask: impl FnOnce(&mut rcutils_allocator_t, &mut rmw_names_and_types_t) -> rmw_ret_t,
) -> Result<Vec<(String, String)>, RmwError> {
    let functions = &node.session.library.functions;
    // SAFETY: the function has no arguments and returns a constant (R5).
    let mut allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    // This is the value of `rmw_get_zero_initialized_names_and_types`. SAFETY: the struct has only integers, nullable
    // pointers and nullable functions, which may be zero.
    let mut found: rmw_names_and_types_t = unsafe { zeroed() };
    let code = ask(&mut allocator, &mut found);
    check(functions, function, code)?;
    // SAFETY: the array is initialised.
    let names = unsafe { texts(&found.names) };
    let types: Vec<String> = (0..names.len())
        .map(|index| {
            // SAFETY: the struct has an array of types for each name.
            let types = unsafe { &*found.types.wrapping_add(index) };
            // SAFETY: the array is initialised.
            let types = unsafe { texts(types) };
            types.into_iter().next().unwrap_or_default()
        })
        .collect();
    // SAFETY: the struct is initialised, and is not used again.
    let code = unsafe { (functions.rmw_names_and_types_fini)(&mut found) };
    check_end(functions, "rmw_names_and_types_fini", code);
    Ok(names.into_iter().zip(types).collect())
}

fn endpoints(node: &Node, list: ByTopic, kind: Kind, topic: &str) -> Result<Vec<TopicEntry>, RmwError> {
    let functions = &node.session.library.functions;
    let name = c_text(topic);
    // SAFETY: the function has no arguments and returns a constant (R5).
    let mut allocator = unsafe { (functions.rcutils_get_default_allocator)() };
    let mut found = rmw_topic_endpoint_info_array_t { size: 0, info_array: null_mut() };
    // SAFETY: the node lives, the string ends with 0, the array is empty, and the call is under the lock (R3).
    let code = unsafe { list(node.as_ptr(), &mut allocator, name.as_ptr(), false, &mut found) };
    let function = match kind {
        Kind::Publisher => "rmw_get_publishers_info_by_topic",
        _ => "rmw_get_subscriptions_info_by_topic",
    };
    check(functions, function, code)?;
    let infos = match found.info_array.is_null() {
        true => &[],
        // SAFETY: the array is initialised and has this size.
        false => unsafe { std::slice::from_raw_parts(found.info_array, found.size) },
    };
    let endpoints = infos.iter().map(|info| endpoint(info, kind, topic)).collect();
    // SAFETY: the array is initialised, and is not used again.
    let code = unsafe { (functions.rmw_topic_endpoint_info_array_fini)(&mut found, &mut allocator) };
    check_end(functions, "rmw_topic_endpoint_info_array_fini", code);
    Ok(endpoints)
}

fn endpoint(info: &rmw_topic_endpoint_info_t, kind: Kind, topic: &str) -> TopicEntry {
    // SAFETY: the element is initialised, so each pointer is null or a string.
    let [namespace, name, type_name] =
        [info.node_namespace, info.node_name, info.topic_type].map(|found| unsafe { text(found) });
    let hash = if info.topic_type_hash.version == 1 { info.topic_type_hash.value } else { [0; 32] };
    // DDS does not announce the history of an endpoint. A depth of 0 also means that the depth is unknown.
    let mut profile = info.qos_profile;
    if profile.history == RMW_QOS_POLICY_HISTORY_UNKNOWN {
        (profile.history, profile.depth) = (RMW_QOS_POLICY_HISTORY_KEEP_LAST, UNKNOWN_DEPTH);
    }
    let known = qos_profile(&Qos::default());
    let is_known = |profile: &rmw_qos_profile_t| qos_from_profile(profile).is_ok();
    if !is_known(&rmw_qos_profile_t { reliability: profile.reliability, ..known }) {
        profile.reliability = known.reliability;
    }
    if !is_known(&rmw_qos_profile_t { durability: profile.durability, ..known }) {
        profile.durability = known.durability;
    }
    if !is_known(&rmw_qos_profile_t { liveliness: profile.liveliness, ..known }) {
        profile.liveliness = known.liveliness;
    }
    let qos = qos_from_profile(&profile).unwrap_or_else(|_| Qos::default());
    let endpoint = Endpoint { kind, name: topic.to_owned(), type_name, hash, qos };
    (Gid(info.endpoint_gid), (namespace, name), endpoint)
}

/// The assumed history depth of an endpoint on the network, because DDS does not announce it.
const UNKNOWN_DEPTH: usize = 10;
