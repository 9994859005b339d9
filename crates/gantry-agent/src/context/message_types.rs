//! The types of the data that clients write. Data is checked against its type before it is published, because a
//! malformed message would cause an error in the reader.

use crate::lock::lock;
use gantry::TypeDescription;
use gantry_dynamic::MessageType;
use gantry_idl::{Definitions, TypeName};
use gantry_xrce::wire::ByteOrder;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The types of the data that clients write, by their hashes. The map avoids parsing a definition more than once.
#[derive(Default)]
pub struct MessageTypes(Mutex<BTreeMap<[u8; 32], Arc<MessageType>>>);

impl MessageTypes {
    /// The parsed type of a description. The result is `None` if the description has no definition, for example because
    /// the agent found the type at another endpoint.
    ///
    /// # Errors
    /// A sentence with the reason: the definition cannot be read.
    pub fn read(&self, described: &TypeDescription) -> Result<Option<Arc<MessageType>>, String> {
        if described.definition.is_empty() {
            return Ok(None);
        }
        let mut types = lock(&self.0);
        if let Some(known) = types.get(&described.hash) {
            return Ok(Some(known.clone()));
        }
        let name: TypeName = described.name.parse().map_err(|error| format!("{error}"))?;
        let definitions = Definitions::from_text(&name, &described.definition).map_err(|error| error.to_string())?;
        let read = Arc::new(MessageType::new(&definitions, &name).map_err(|error| error.to_string())?);
        types.insert(described.hash, read.clone());
        Ok(Some(read))
    }
}

/// Checks data and returns it in little-endian CDR, the form of all messages of Gantry. If the definition of the type
/// is unknown, the data is not checked. Only big-endian data needs an allocation.
///
/// # Errors
/// A sentence with the reason: the data is not a message of the type, or the data is big-endian and the definition of
/// the type is unknown.
pub fn checked<'d>(
    message_type: Option<&MessageType>,
    order: ByteOrder,
    data: &'d [u8],
) -> Result<Cow<'d, [u8]>, String> {
    let Some(message_type) = message_type else {
        return match order {
            ByteOrder::Little => Ok(Cow::Borrowed(data)),
            ByteOrder::Big => Err("big-endian data of a type without a definition cannot be read".to_owned()),
        };
    };
    let checked = match order {
        ByteOrder::Little => message_type.view(data, gantry_cdr::ByteOrder::LittleEndian).map(|_| data.into()),
        ByteOrder::Big => {
            let mut turned = data.to_vec();
            message_type.to_little_endian(&mut turned).map(|()| Cow::Owned(turned))
        }
    };
    checked.map_err(|error| format!("the data is not a valid {}: {error}", message_type.definition().name))
}
