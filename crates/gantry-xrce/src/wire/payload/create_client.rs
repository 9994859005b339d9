//! CREATE_CLIENT: a client asks for a session.

use super::{Payload, sealed::Sealed};
use crate::wire::{ClientRepresentation, Reader, SubmessageId, Writer};

/// A client asks for a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateClient<'a> {
    /// The client.
    pub client: ClientRepresentation<'a>,
}

impl Sealed for CreateClient<'_> {}

impl<'a> Payload<'a> for CreateClient<'a> {
    const ID: SubmessageId = SubmessageId::CREATE_CLIENT;

    fn read(reader: &mut Reader<'a>) -> Self {
        Self { client: ClientRepresentation::read(reader) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        self.client.write(writer);
    }
}
