//! The type of an endpoint's messages, with their size if it is variable.

use ::gantry::TypeDescription;

use crate::messages::{MessageType, OwnedMessage, message_type};
use perf_worker::{choice::Choice, endpoint::EndpointPlan};

/// The type of an endpoint's messages.
#[derive(Clone, Copy)]
pub struct SizedType {
    /// The functions of the type.
    pub message_type: &'static MessageType,
    /// The size of the messages that is passed to [`MessageType::prepared`], bytes.
    pub size_bytes: usize,
}

impl SizedType {
    /// Finds the type by the name in the plan.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no such message.
    pub fn of(plan: &EndpointPlan) -> Result<SizedType, String> {
        let (name, layout) = (&plan.message.name, plan.message.layout);
        let message_type = message_type(name, layout)
            .ok_or_else(|| format!("there is no message `{name}` in the {} layout", layout.name()))?;
        Ok(SizedType { message_type, size_bytes: plan.message.unbounded_bytes as usize })
    }

    /// The description by which endpoints match.
    pub fn description(self) -> TypeDescription {
        (self.message_type.description)(self.size_bytes)
    }

    /// An owned message as the publishers send it, not stamped.
    pub fn prepared(self) -> Box<dyn OwnedMessage> {
        (self.message_type.prepared)(self.size_bytes)
    }

    /// The message of [`Self::prepared`] after each of its pages was touched, so that no page fault falls into
    /// the measurement.
    pub fn touched(self) -> Box<dyn OwnedMessage> {
        let mut message = self.prepared();
        message.touch();
        message
    }
}
