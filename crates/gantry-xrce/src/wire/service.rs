//! The data of requesters and repliers.
//!
//! A requester's WRITE_DATA has only the request; the request id of the submessage identifies it. The agent's DATA for
//! this requester has the same id, as an [`ObjectRequest`], and the reply. The agent's DATA for a replier has a
//! [`SampleIdentity`] and the request. The replier's WRITE_DATA has the same [`SampleIdentity`] and the reply.

use super::{ByteOrder, ObjectRequest, Reader, Result, Writer};

/// The identity of a request in DDS, which its reply repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleIdentity {
    /// The GUID of the requester's data writer: a prefix of 12 bytes and an entity id of 4 bytes.
    pub writer: [u8; 16],
    /// The number of the request.
    pub sequence: i64,
}

impl SampleIdentity {
    /// The length, in bytes.
    pub const BYTES: usize = 24;

    fn read(reader: &mut Reader<'_>) -> Self {
        let writer = reader.array();
        let (high, low) = (reader.u32(), reader.u32());
        Self { writer, sequence: (u64::from(high) << 32 | u64::from(low)) as i64 }
    }

    /// Writes the identity.
    pub fn write(&self, writer: &mut Writer<'_>) {
        writer.put(&self.writer);
        writer.u32((self.sequence >> 32) as u32);
        writer.u32(self.sequence as u32);
    }
}

/// Splits the data of a replier into the identity and the request or reply. `order` is the byte order of
/// the submessage.
///
/// # Errors
/// [`Problem::End`](super::Problem::End).
pub fn split_request(data: &[u8], order: ByteOrder) -> Result<(SampleIdentity, &[u8])> {
    let mut reader = Reader::new(data, order);
    let identity = SampleIdentity::read(&mut reader);
    reader.check()?;
    Ok((identity, reader.rest()))
}

/// Splits DATA for a requester into the request that is answered and the reply.
///
/// # Errors
/// [`Problem::End`](super::Problem::End).
pub fn split_reply(data: &[u8]) -> Result<(ObjectRequest, &[u8])> {
    // The byte order has no effect here, because identifiers are always big endian.
    let mut reader = Reader::new(data, ByteOrder::Big);
    let request = ObjectRequest::read(&mut reader);
    reader.check()?;
    Ok((request, reader.rest()))
}
