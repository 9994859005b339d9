//! The types that clients can use. A client only sends the name of a type; the agent has the definition.

use crate::error::{Error, Result};
use gantry::{ServiceTypeDescription, TypeDescription};
use gantry_idl::Definitions;
use std::{collections::BTreeMap, fmt, path::PathBuf};

/// Types by their ROS 2 names, such as `std_msgs/msg/String` or, for a service, `std_srvs/srv/SetBool_Request`.
pub struct Types(BTreeMap<String, TypeDescription>);

impl Types {
    /// ROS 2's standard types.
    #[must_use]
    pub fn standard() -> Types {
        Types(gantry::standard_types())
    }

    /// Adds the types from folders of packages (`<folder>/<package>/{msg,srv}/*.{msg,srv}`). The folders together must
    /// contain all nested types. A type from a folder replaces a standard type with the same name.
    ///
    /// # Errors
    /// A folder or a file cannot be read, or a definition is wrong or nests an unknown type.
    pub fn with_folders(mut self, folders: &[PathBuf]) -> Result<Types> {
        let definitions = Definitions::read_packages(folders).map_err(|errors| {
            let folder = folders.first().cloned().unwrap_or_default();
            Error::Definitions { folder, errors }
        })?;
        for message in definitions.messages() {
            let name = message.name.to_string();
            let description = TypeDescription {
                name: name.clone(),
                hash: definitions.hash(&message.name).unwrap_or_default(),
                definition: definitions.definition_text(&message.name).unwrap_or_default().into(),
                payload_bytes: definitions.max_size_bytes(&message.name).unwrap_or(usize::MAX),
            };
            self.0.insert(name, description);
        }
        Ok(self)
    }

    /// Finds the type with this ROS 2 name. A client without ROS 2 sends a name without a package; such a name finds a
    /// type if exactly one package has a type of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&TypeDescription> {
        if name.contains('/') {
            return self.0.get(name);
        }
        let mut found = self.0.iter().filter(|(known, _)| known.rsplit('/').next() == Some(name));
        found.next().filter(|_| found.next().is_none()).map(|(_, description)| description)
    }

    /// Finds the service whose request and reply types have these names.
    pub(crate) fn service(&self, request: &str, reply: &str) -> Option<ServiceTypeDescription> {
        let (request, response) = (self.get(request)?, self.get(reply)?);
        let name = request
            .name
            .strip_suffix("_Request")
            .filter(|name| response.name.strip_suffix("_Response") == Some(name))?;
        Some(ServiceTypeDescription { name: name.to_owned(), request: request.clone(), response: response.clone() })
    }
}

impl fmt::Debug for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Types({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_their_names() {
        let types = Types::standard();
        assert!(types.get("std_msgs/msg/String").is_some());
        assert!(types.get("std_msgs/msg/Strong").is_none());
        assert_eq!(types.get("Imu").map(|found| &*found.name), Some("sensor_msgs/msg/Imu"));
        assert!(types.get("Empty_Request").is_none() || types.get("Empty").is_none(), "two packages have an Empty");
        let service = types.service("std_srvs/srv/SetBool_Request", "std_srvs/srv/SetBool_Response");
        assert_eq!(service.map(|service| service.name).as_deref(), Some("std_srvs/srv/SetBool"));
        assert!(types.service("std_srvs/srv/SetBool_Request", "std_srvs/srv/Trigger_Response").is_none());
    }
}
