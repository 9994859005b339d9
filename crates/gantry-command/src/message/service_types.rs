//! The types of a service.

use crate::error::Result;
use gantry::{Node, ServiceTypeDescription, TypeDescription};
use std::{collections::BTreeMap, sync::LazyLock};

static STANDARD: LazyLock<BTreeMap<String, TypeDescription>> = LazyLock::new(gantry::standard_types);

/// The types of a service's servers. A bridge may show a server on another host only by the name of its type. If all
/// servers are such, the function returns the standard types with these names; other names are left out.
///
/// # Errors
/// The errors of [`Node::service_types`].
pub fn service_types(node: &Node, service: &str) -> Result<Vec<ServiceTypeDescription>> {
    let types = described_service_types(node, service)?;
    if !types.is_empty() || node.count_services(service)? == 0 {
        return Ok(types);
    }
    let service = node.resolve_service_name(service)?;
    let names = node.service_names_and_types()?.remove(&service).unwrap_or_default();
    Ok(names.iter().filter_map(|name| standard_service_type(name)).collect())
}

/// The types of a service's servers, without the types of which only the name is known.
///
/// # Errors
/// The errors of [`Node::service_types`].
pub fn described_service_types(node: &Node, service: &str) -> Result<Vec<ServiceTypeDescription>> {
    let mut types = node.service_types(service)?;
    let is_unknown = |message: &TypeDescription| message.definition.is_empty() && message.hash == [0; 32];
    types.retain(|one| !is_unknown(&one.request) && !is_unknown(&one.response));
    Ok(types)
}

/// The standard service type with this name, such as `std_srvs/srv/Trigger`.
#[must_use]
pub fn standard_service_type(name: &str) -> Option<ServiceTypeDescription> {
    let message = |end: &str| STANDARD.get(&format!("{name}_{end}")).cloned();
    let (request, response) = (message("Request")?, message("Response")?);
    Some(ServiceTypeDescription { name: name.to_owned(), request, response })
}
