//! The type of a service, and the error sentence for a client and a server whose types differ.

use crate::topic::type_description;
use gantry_cdr::Service as ServiceType;
use gantry_shm::TypeDescription;

/// The type of a service: a name, and the types of its requests and responses, for a program that knows them only at
/// run time. [`Node::service_types`](crate::Node::service_types) returns the types of the existing servers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceTypeDescription {
    /// ROS 2 name, as `std_srvs/srv/SetBool`.
    pub name: String,
    /// The type of the requests, such as `std_srvs/srv/SetBool_Request`.
    pub request: TypeDescription,
    /// The type of the responses, such as `std_srvs/srv/SetBool_Response`.
    pub response: TypeDescription,
}

impl ServiceTypeDescription {
    /// The description of the service type `S`.
    #[must_use]
    pub fn for_service<S: ServiceType>() -> ServiceTypeDescription {
        ServiceTypeDescription {
            name: S::TYPE_NAME.to_owned(),
            request: type_description::<S::Request>(),
            response: type_description::<S::Response>(),
        }
    }
}

/// The name of a service's type, derived from the name of the type of its requests or responses.
pub(crate) fn service_type_name(message: &str) -> &str {
    let service = message.strip_suffix("_Request").or_else(|| message.strip_suffix("_Response"));
    service.unwrap_or(message)
}

/// The sentence about a server and a client whose requests, or responses, have different types; `None` if the types
/// are equal. `asks` begins the clause about the client: "you ask" or "/node asks".
pub(crate) fn type_mismatch(
    service: &str,
    (server, served): (&str, &TypeDescription),
    (asks, asked): (&str, &TypeDescription),
) -> Option<String> {
    if served.matches(asked) {
        return None;
    }
    let (served_name, asked_name) = (service_type_name(&served.name), service_type_name(&asked.name));
    let is_served = format!("{service} is served by {server} as {served_name}");
    if served_name != asked_name {
        return Some(format!("{is_served}; {asks} as {asked_name}"));
    }
    let difference = match served.first_difference(asked) {
        same if same.is_empty() => same,
        difference => format!("; {difference}"),
    };
    Some(format!("{is_served}, and {asks} with another definition of that type{difference}"))
}
