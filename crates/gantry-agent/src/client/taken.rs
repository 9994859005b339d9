//! Data that was taken from Gantry for a client.

use gantry::{GenericRequest, GenericResponse, GenericSample};
use gantry_xrce::wire::{ByteOrder, ObjectRequest, SampleIdentity, Writer};

/// Data that was taken from Gantry. Its bytes are in the memory of its publisher.
pub enum Body {
    Sample(GenericSample),
    Response(GenericResponse),
    Request(GenericRequest),
}

/// Data for the client: a message. If the object is a requester or a replier, an identity precedes the message.
pub struct Taken {
    identity: [u8; SampleIdentity::BYTES],
    identity_bytes: usize,
    body: Body,
}

impl Taken {
    pub fn new(body: Body) -> Self {
        Self { identity: [0; SampleIdentity::BYTES], identity_bytes: 0, body }
    }

    pub fn answering(mut self, ObjectRequest { request, object }: ObjectRequest) -> Self {
        let [[r0, r1], [o0, o1]] = [request.0.to_be_bytes(), object.0.to_be_bytes()];
        if let Some(begin) = self.identity.first_chunk_mut() {
            *begin = [r0, r1, o0, o1];
        }
        Self { identity_bytes: ObjectRequest::BYTES, ..self }
    }

    pub fn identified(mut self, identity: SampleIdentity) -> Self {
        identity.write(&mut Writer::new(&mut self.identity, ByteOrder::Little));
        Self { identity_bytes: SampleIdentity::BYTES, ..self }
    }

    pub fn identity(&self) -> &[u8] {
        self.identity.get(..self.identity_bytes).unwrap_or_default()
    }

    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Sample(sample) => sample.bytes(),
            Body::Response(response) => response.bytes(),
            Body::Request(request) => request.bytes(),
        }
    }
}
