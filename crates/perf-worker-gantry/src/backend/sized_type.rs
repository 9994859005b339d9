//! The type of an endpoint's messages, together with their size if it is variable.

use ::gantry::TypeDescription;

use crate::messages::{MessageType, OwnedMessage, message_type};
use perf_worker::{choice::Choice, endpoint::EndpointPlan};

/// The type of an endpoint's messages, together with their size.
#[derive(Clone, Copy)]
pub struct SizedType {
    /// The table of the type's functions.
    pub message_type: &'static MessageType,
    /// The payload of a message of variable size, bytes; the argument of [`MessageType::prepared`].
    pub size_bytes: usize,
}

impl SizedType {
    /// Finds the type of the message name in the plan.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no such message.
    pub fn for_plan(plan: &EndpointPlan) -> Result<SizedType, String> {
        let (name, layout) = (&plan.message.name, plan.message.layout);
        let message_type = message_type(name, layout)
            .ok_or_else(|| format!("there is no message `{name}` in the {} layout", layout.name()))?;
        Ok(SizedType { message_type, size_bytes: plan.message.unbounded_bytes as usize })
    }

    /// The type description that endpoints compare when they match.
    pub fn description(self) -> TypeDescription {
        (self.message_type.description)(self.size_bytes)
    }

    /// An owned message as publishers send it, but without a stamp.
    pub fn prepared(self) -> Box<dyn OwnedMessage> {
        (self.message_type.prepared)(self.size_bytes)
    }

    /// A message as in [`Self::prepared`] of which every page was touched, so that no page fault occurs during the
    /// measurement.
    pub fn touched(self) -> Box<dyn OwnedMessage> {
        let mut message = self.prepared();
        message.touch();
        message
    }
}
