//! Content filters of subscriptions.

use gantry::{TypeDescription, gantry_cdr::ByteOrder};
use gantry_dynamic::{Filter, MessageType};
use gantry_idl::{Definitions, TypeName};
use rmw_abi::failure::{Failure, Result};
use std::fmt::Display;

/// A filter expression of DDS with its parameters, compiled for one message type.
pub struct ContentFilter {
    pub expression: String,
    pub parameters: Vec<String>,
    message_type: MessageType,
    filter: Filter,
}

impl ContentFilter {
    /// # Errors
    /// The expression is not a filter for this type. The error text gives the position in the expression.
    pub fn new(description: &TypeDescription, expression: &str, parameters: Vec<String>) -> Result<ContentFilter> {
        let TypeDescription { name, definition, .. } = description;
        let unreadable =
            |why: &dyn Display| Failure::error(format_args!("the definition of {name} is unreadable: {why}"));
        let type_name: TypeName = name.parse().map_err(|why| unreadable(&why))?;
        let definitions = Definitions::from_text(&type_name, definition).map_err(|why| unreadable(&why))?;
        let message_type = MessageType::new(&definitions, &type_name).map_err(|why| unreadable(&why))?;
        let filter = Filter::new(&message_type, expression, &parameters)
            .map_err(|why| Failure::error(format_args!("the content filter {expression:?} cannot be used: {why}")))?;
        Ok(ContentFilter { expression: expression.to_owned(), parameters, message_type, filter })
    }

    /// True if a message passes the filter. Malformed bytes pass, too: a take then finds them and counts them as lost.
    pub fn passes(&self, body: &[u8]) -> bool {
        let message = self.message_type.view(body, ByteOrder::LittleEndian);
        message.map_or(true, |message| self.filter.matches(&message))
    }
}
