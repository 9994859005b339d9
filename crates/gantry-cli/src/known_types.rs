//! The types that a command can use: the standard types of ROS 2, even if no program uses them, and the types of
//! the programs in a domain.

use crate::{domain::Domain, names};
use gantry::TypeDescription;
use gantry_command::{Failure, Result};
use gantry_idl::{Definitions, TypeName};
use std::collections::{BTreeMap, BTreeSet};

/// Types by their names, such as `std_msgs/msg/String` or, for a service, `std_srvs/srv/SetBool_Request`.
pub struct KnownTypes(BTreeMap<String, TypeDescription>);

impl KnownTypes {
    /// The standard types.
    pub fn standard() -> KnownTypes {
        KnownTypes(gantry::standard_types())
    }

    /// The standard types and the types of the domain's endpoints.
    pub fn new(domain: &Domain) -> Result<KnownTypes> {
        let mut types = KnownTypes::standard();
        for endpoint in domain.endpoints(None)? {
            types.0.entry(endpoint.message_type.name.clone()).or_insert(endpoint.message_type);
        }
        Ok(types)
    }

    pub fn get(&self, name: &str) -> Option<&TypeDescription> {
        self.0.get(name)
    }

    /// The definitions of these types.
    pub fn definitions(&self) -> Result<Definitions> {
        let named = self.0.values().filter_map(|known| Some((known.name.parse().ok()?, &*known.definition)));
        let named: Vec<(TypeName, &str)> = named.collect();
        Definitions::from_texts(named.iter().map(|(name, text)| (name, *text))).map_err(Failure::new)
    }

    /// The names of messages and services, sorted. A service has one name for its request and response.
    pub fn interfaces(&self) -> BTreeSet<&str> {
        self.0.keys().map(|name| interface(name)).collect()
    }

    /// The error about a type that is not known. `why` is the beginning of the sentence.
    pub fn unknown(&self, why: &str, name: &str) -> Failure {
        let hint = names::hint(name, self.interfaces(), &[]);
        Failure::new(format!(
            "{why}: '{name}' is neither a standard type nor one that a program of the domain uses{hint}"
        ))
    }
}

/// The name of the service to which this request or response belongs. For any other message, the message's own name.
fn interface(name: &str) -> &str {
    let service = name.strip_suffix("_Request").or_else(|| name.strip_suffix("_Response"));
    service.filter(|service| service.contains("/srv/")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_stands_for_its_request_and_response() {
        let types = KnownTypes::standard();
        let interfaces = types.interfaces();
        assert!(interfaces.contains("std_srvs/srv/SetBool") && !interfaces.contains("std_srvs/srv/SetBool_Request"));
    }
}
