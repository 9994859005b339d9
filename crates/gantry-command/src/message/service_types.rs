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
    let mut types = node.service_types(service)?;
    let is_unknown = |message: &TypeDescription| message.definition.is_empty() && message.hash == [0; 32];
    types.retain(|one| !is_unknown(&one.request) && !is_unknown(&one.response));
    if !types.is_empty() || node.count_services(service)? == 0 {
        return Ok(types);
    }
    let service = node.resolve_service_name(service)?;
    let names = node.service_names_and_types()?.remove(&service).unwrap_or_default();
    let described = |name: String| {
        let of_service = |end: &str| STANDARD.get(&format!("{name}_{end}")).cloned();
        let (request, response) = (of_service("Request")?, of_service("Response")?);
        Some(ServiceTypeDescription { name, request, response })
    };
    Ok(names.into_iter().filter_map(described).collect())
}
