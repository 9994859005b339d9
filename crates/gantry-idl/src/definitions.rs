//! All definitions that belong together.
//!
//! Invariant, kept by whoever makes one: every nested type is there, and none contains itself.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Errors;
use crate::model::{MessageDefinition, ServiceDefinition};
use crate::name::TypeName;

/// All definitions that belong together, resolved: every nested type is there, no cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    pub(crate) messages: BTreeMap<TypeName, MessageDefinition>,
    pub(crate) services: BTreeMap<TypeName, ServiceDefinition>,
}

impl Definitions {
    /// The message (or request or response) of this name.
    pub fn message(&self, name: &TypeName) -> Option<&MessageDefinition> {
        self.messages.get(name)
    }

    /// The service of this name.
    pub fn service(&self, name: &TypeName) -> Option<&ServiceDefinition> {
        self.services.get(name)
    }

    /// All messages by name; the requests and responses of services are among them.
    pub fn messages(&self) -> impl Iterator<Item = &MessageDefinition> {
        self.messages.values()
    }

    /// All services by name.
    pub fn services(&self) -> impl Iterator<Item = &ServiceDefinition> {
        self.services.values()
    }

    /// Reads folders of packages: `<folder>/<package>/{msg,srv}/*.{msg,srv}`.
    ///
    /// # Errors
    /// All that is wrong in any file.
    pub fn read_packages<P: AsRef<Path>>(_folders: &[P]) -> Result<Self, Errors> {
        todo!()
    }

    /// Reads one message and those that it needs from text that came from elsewhere, as [`Definitions::definition_text`]
    /// writes it.
    ///
    /// # Errors
    /// All that is wrong in it, up to a limit.
    pub fn from_text(_name: &TypeName, _text: &str) -> Result<Self, Errors> {
        todo!()
    }

    /// The message's definition and those of all that it needs, in the form that bags and MCAP files hold ("ros2msg").
    pub fn definition_text(&self, _name: &TypeName) -> Option<String> {
        todo!()
    }

    /// ROS 2's hash of the message (RIHS01).
    pub fn hash(&self, _name: &TypeName) -> Option<[u8; 32]> {
        todo!()
    }

    /// ROS 2's hash of the service (RIHS01).
    pub fn service_hash(&self, _name: &TypeName) -> Option<[u8; 32]> {
        todo!()
    }
}
