//! Big-endian data of clients, which becomes little-endian CDR, as all of Gantry's messages are.

use crate::lock::lock;
use gantry::TypeDescription;
use gantry_dynamic::MessageType;
use gantry_idl::{Definitions, TypeName};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

/// The types of the big-endian data that came: each one's definition is read once.
#[derive(Default)]
pub struct BigEndian(Mutex<BTreeMap<String, Arc<MessageType>>>);

impl BigEndian {
    /// The little-endian CDR of big-endian data.
    ///
    /// # Errors
    /// A sentence: the data is no message of the type.
    pub fn to_little_endian(&self, described: &TypeDescription, data: &[u8]) -> Result<Vec<u8>, String> {
        let broken = |why: &dyn fmt::Display| format!("the data is no {}: {why}", described.name);
        let message_type = self.message_type(described).map_err(|error| broken(&error))?;
        let mut turned = data.to_vec();
        message_type.to_little_endian(&mut turned).map_err(|error| broken(&error))?;
        Ok(turned)
    }

    fn message_type(&self, described: &TypeDescription) -> Result<Arc<MessageType>, String> {
        let mut types = lock(&self.0);
        if let Some(known) = types.get(&described.name) {
            return Ok(known.clone());
        }
        let name: TypeName = described.name.parse().map_err(|error| format!("{error}"))?;
        let definitions = Definitions::from_text(&name, &described.definition).map_err(|error| error.to_string())?;
        let read = Arc::new(MessageType::new(&definitions, &name).map_err(|error| error.to_string())?);
        types.insert(described.name.clone(), read.clone());
        Ok(read)
    }
}
