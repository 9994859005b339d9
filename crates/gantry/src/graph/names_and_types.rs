//! The names of topics and services in the graph, each name with its types.

use crate::node::{ServiceTopic, service_topic};
use gantry_shm::EndpointDescription;
use std::collections::{BTreeMap, BTreeSet};

/// The suffix of a service's request type.
const REQUEST_TYPE_SUFFIX: &str = "_Request";

/// The names of topics or services, each with its types. A name has several types if endpoints disagree.
pub(super) type NamesAndTypes = BTreeMap<String, Vec<String>>;

/// Groups pairs of a name and a type by their names; each type occurs once.
pub(super) fn by_name(pairs: impl Iterator<Item = (String, String)>) -> NamesAndTypes {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, type_name) in pairs {
        found.entry(name).or_default().insert(type_name);
    }
    found.into_iter().map(|(name, types)| (name, types.into_iter().collect())).collect()
}

/// The endpoint's topic with its type; `None` for the topics of services.
pub(super) fn topic(endpoint: &EndpointDescription) -> Option<(String, String)> {
    let EndpointDescription { topic, message_type, .. } = endpoint;
    service_topic(topic).is_none().then(|| (topic.clone(), message_type.name.clone()))
}

/// The service whose requests go over the endpoint's topic, with the service's type; `None` for other topics.
pub(super) fn service(endpoint: &EndpointDescription) -> Option<(String, String)> {
    let Some(ServiceTopic::Request(service)) = service_topic(&endpoint.topic) else { return None };
    let name = &endpoint.message_type.name;
    Some((service.to_owned(), name.strip_suffix(REQUEST_TYPE_SUFFIX).unwrap_or(name).to_owned()))
}
