//! All definitions that belong together.
//!
//! Made by `packages` and `text`, which keep the invariant: every nested type is there, none contains itself, and none is
//! nested more than 64 deep.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::model::{BaseType, MessageDefinition, ServiceDefinition};
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

    /// All messages nested in these, at any depth, by name.
    pub(crate) fn needed_by<'a>(&'a self, roots: &[&'a MessageDefinition]) -> Vec<&'a MessageDefinition> {
        let mut found = BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(message) = open.pop() {
            for field in &message.fields {
                if let BaseType::Message(name) = &field.field_type.base
                    && let Some(nested) = self.messages.get(name)
                    && found.insert(name)
                {
                    open.push(nested);
                }
            }
        }
        found.into_iter().filter_map(|name| self.messages.get(name)).collect()
    }

    /// The message and all that is nested in it, each once and after what it needs. Does not recurse.
    pub(crate) fn nested_first<'a>(&'a self, root: &'a MessageDefinition) -> Vec<&'a MessageDefinition> {
        let mut order = Vec::new();
        let mut found = HashSet::new();
        // The messages on the way down, and which field of each is next.
        let mut way = vec![(root, 0)];
        while let Some((message, next)) = way.last_mut() {
            let Some(field) = message.fields.get(*next) else {
                order.push(*message);
                way.pop();
                continue;
            };
            *next += 1;
            if let BaseType::Message(name) = &field.field_type.base
                && let Some(nested) = self.messages.get(name)
                && found.insert(name)
            {
                way.push((nested, 0));
            }
        }
        order
    }
}
