//! The hashes of service types. They have to be computed, because the domain's graph has only the types of requests and
//! responses.

use gantry_idl::Definitions;
use gantry_shm::TypeDescription;
use std::collections::HashMap;

/// The computed hashes, by the name of the service type and the hashes of its request and response.
#[derive(Debug, Default)]
pub struct ServiceHashes(HashMap<(String, [u8; 32], [u8; 32]), [u8; 32]>);

impl ServiceHashes {
    /// Returns the hash of a service type, or zeros if it cannot be computed, as for services of actions.
    pub fn hash(&mut self, name: &str, request: &TypeDescription, response: &TypeDescription) -> [u8; 32] {
        // A service that another bridge brought may have no message definitions, and an empty definition would give a
        // wrong hash.
        if [request, response].iter().any(|message| message.hash == [0; 32] && message.definition.is_empty()) {
            return [0; 32];
        }
        let key = (name.to_owned(), request.hash, response.hash);
        *self.0.entry(key).or_insert_with(|| {
            let name = name.parse().ok();
            let hash = name
                .and_then(|name| Definitions::service_hash_of_texts(&name, &request.definition, &response.definition));
            hash.unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry::{ServiceType, ServiceTypeDescription};
    use gantry_msgs::{rcl_interfaces::srv::SetParameters, std_srvs::srv::Trigger};

    #[test]
    fn the_hash_of_a_service_is_found_by_the_definitions_of_its_messages() {
        let mut hashes = ServiceHashes::default();
        let mut hash =
            |service: ServiceTypeDescription| hashes.hash(&service.name, &service.request, &service.response);
        assert_eq!(hash(ServiceTypeDescription::for_service::<Trigger>()), Trigger::TYPE_HASH);
        assert_eq!(hash(ServiceTypeDescription::for_service::<SetParameters>()), SetParameters::TYPE_HASH);
        let action = ServiceTypeDescription {
            name: "demo/action/Walk_SendGoal".into(),
            ..ServiceTypeDescription::for_service::<Trigger>()
        };
        assert_eq!(hash(action), [0; 32]);
        let brought = ServiceTypeDescription {
            name: Trigger::TYPE_NAME.into(),
            request: TypeDescription::default(),
            response: TypeDescription::default(),
        };
        assert_eq!(hash(brought), [0; 32]);
    }
}
