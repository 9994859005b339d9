//! All definitions that belong together.
//!
//! Made by `packages` and `text`, which keep the invariant: every nested type is there, none contains itself, and none is
//! nested more than 64 deep.

use std::collections::BTreeMap;

use crate::model::{MessageDefinition, ServiceDefinition};
use crate::name::TypeName;

/// All definitions that belong together, resolved: every nested type is there, and none contains itself.
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
}
