//! Refusals of requests.

use gantry_xrce::wire::{ObjectId, StatusValue};

/// The reason why a request is refused: the status for the client, and a sentence for the log.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusValue,
    pub why: String,
}

impl Refusal {
    pub fn new(status: StatusValue, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    pub fn unknown(what: &str, id: ObjectId) -> Self {
        Self::new(StatusValue::UNKNOWN_REFERENCE, format!("{what} {:#06x} does not exist; create it first", id.0))
    }
}

impl From<gantry::Error> for Refusal {
    fn from(error: gantry::Error) -> Self {
        let is_full = matches!(error, gantry::Error::Engine(gantry::EngineError::PublishTimeout { .. }));
        Self::new(if is_full { StatusValue::RESOURCES } else { StatusValue::DDS_ERROR }, error.to_string())
    }
}
