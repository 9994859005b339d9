//! A resolved set of definitions.
//!
//! `packages` and `text` make the set and guarantee its invariant: every nested type is in the set, no type contains
//! itself, and no type is nested more than 64 levels deep.

use crate::{
    model::{BaseType, MessageDefinition, ServiceDefinition},
    name::TypeName,
};
use std::collections::{BTreeMap, HashSet};

/// A resolved set of definitions: every nested type is in the set, and no type contains itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    pub(crate) messages: BTreeMap<TypeName, MessageDefinition>,
    pub(crate) services: BTreeMap<TypeName, ServiceDefinition>,
}

impl Definitions {
    /// The message, request or response with this name.
    pub fn message(&self, name: &TypeName) -> Option<&MessageDefinition> {
        self.messages.get(name)
    }

    /// The service of this name.
    pub fn service(&self, name: &TypeName) -> Option<&ServiceDefinition> {
        self.services.get(name)
    }

    /// All messages by name, including the requests and responses of services.
    pub fn messages(&self) -> impl Iterator<Item = &MessageDefinition> {
        self.messages.values()
    }

    /// All services by name.
    pub fn services(&self) -> impl Iterator<Item = &ServiceDefinition> {
        self.services.values()
    }

    /// All messages that are nested in `roots` at any depth, sorted by name and without `roots`.
    pub(crate) fn needed_by<'a>(&'a self, roots: &[&'a MessageDefinition]) -> Vec<&'a MessageDefinition> {
        let messages = roots.iter().flat_map(|root| self.nested_first(root));
        let nested = messages.filter(|message| roots.iter().all(|root| root.name != message.name));
        nested.map(|message| (&message.name, message)).collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// The message and all messages nested in it. Each occurs once, after the messages that it contains. The function
    /// does not recurse.
    pub(crate) fn nested_first<'a>(&'a self, root: &'a MessageDefinition) -> Vec<&'a MessageDefinition> {
        let mut order = Vec::new();
        let mut visited = HashSet::new();
        // The stack is the path from the root. Each message on it has the index of its next field.
        let mut stack = vec![(root, 0)];
        while let Some((message, next)) = stack.last_mut() {
            let Some(field) = message.fields.get(*next) else {
                order.push(*message);
                stack.pop();
                continue;
            };
            *next += 1;
            if let BaseType::Message(name) = &field.field_type.base
                && let Some(nested) = self.messages.get(name)
                && visited.insert(name)
            {
                stack.push((nested, 0));
            }
        }
        order
    }
}
