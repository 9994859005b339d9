//! STATUS_AGENT: the answer to CREATE_CLIENT.

use super::{Payload, sealed::Sealed};
use crate::wire::{AgentRepresentation, Reader, ResultStatus, SubmessageId, Writer};

/// The answer to CREATE_CLIENT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatusAgent<'a> {
    /// The result.
    pub result: ResultStatus,
    /// The agent.
    pub agent: AgentRepresentation<'a>,
}

impl Sealed for StatusAgent<'_> {}

impl<'a> Payload<'a> for StatusAgent<'a> {
    const ID: SubmessageId = SubmessageId::STATUS_AGENT;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { result: ResultStatus::read(reader), agent: AgentRepresentation::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.result.write(writer);
        self.agent.write(writer);
    }
}
