//! Publishers.

use ::gantry::{GenericPublisher, Node, PublishMode, PublisherOptions};

use super::{SizedType, qos, sentence};
use crate::messages::OwnedMessage;
use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    endpoint::EndpointPlan,
};

/// A publisher, which an endpoint's thread or a callback of a node uses.
pub struct GantryPublisher {
    publisher: GenericPublisher,
    /// The message that each publish copies. With zero copy, it gives each loan its shape (the lengths).
    message: Box<dyn OwnedMessage>,
    zero_copy: bool,
    /// Whether the messages are inline: so small that publishing copies them into the ring's entry.
    is_inline: bool,
}

impl GantryPublisher {
    /// Creates the publisher of an endpoint. With `zero_copy`, it loans its messages.
    ///
    /// # Errors
    /// The reason and the remedy, as a sentence.
    pub fn new(
        node: &Node,
        plan: &EndpointPlan,
        sized_type: SizedType,
        publish_mode: PublishMode,
        zero_copy: bool,
    ) -> Result<GantryPublisher, String> {
        let options = PublisherOptions { publish_mode, ..PublisherOptions::default() };
        let created =
            node.create_generic_publisher_with_options(&plan.topic, sized_type.description(), qos(plan), options);
        let message = if zero_copy { sized_type.prepared() } else { sized_type.touched() };
        let is_inline = plan.message.bytes <= options.max_inline_bytes;
        let mut publisher = created.map_err(sentence)?;
        if sized_type.size_bytes > 0 && !is_inline {
            // A publisher of a type without a fixed size has no memory before its first message. Therefore a loan of
            // the run's message length is tried here: if the memory does not suffice, the run is refused before it
            // starts.
            let length_bytes = if zero_copy { message.loan_bytes()? } else { message.body_bytes()? };
            drop(publisher.loan(length_bytes).map_err(sentence)?);
        }
        Ok(GantryPublisher { publisher, message, zero_copy, is_inline })
    }
}

impl Matched for GantryPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        self.publisher.subscription_count().map(Matching::Count).map_err(sentence)
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.publisher.mismatches().unwrap_or_else(|error| vec![sentence(error)])
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.publisher.gid().0)
    }
}

impl Publisher for GantryPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        let GantryPublisher { publisher, message, zero_copy, is_inline } = self;
        if *zero_copy {
            let mut loan = publisher.loan(message.loan_bytes()?).map_err(sentence)?;
            message.write_loan(loan.bytes_mut(), draft)?;
            publisher.publish(loan).map_err(|unpublished| sentence(unpublished.into()))?;
            return Ok(Sent { loaned: !*is_inline, ..Sent::default() });
        }
        message.write(draft);
        let mut written = Ok(());
        let write = |body: &mut [u8]| written = message.write_body(body);
        publisher.publish_copy_with(message.body_bytes()?, write).map_err(sentence)?;
        written.map(|()| Sent::default())
    }
}
