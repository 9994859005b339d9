//! The header of a message: session, stream, sequence number, and the key of the client in some sessions.

use super::{ByteOrder, Reader, Result, Submessages, Writer};

/// The key that a client chooses for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(pub [u8; 4]);

impl ClientKey {
    /// The key that belongs to no client.
    pub const INVALID: Self = Self([0; 4]);
}

/// The identifier of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionId(pub u8);

impl SessionId {
    /// No session; the header has a key. Used by CREATE_CLIENT.
    pub const NONE_WITH_KEY: Self = Self(0x00);
    /// No session; the header has no key. Used by CREATE_CLIENT and GET_INFO.
    pub const NONE: Self = Self(0x80);
    /// The session of eProsima's client. Its header has no key: the agent identifies the client by its address.
    pub const CLIENT: Self = Self(0x81);

    /// Whether the header has the client's key.
    pub fn has_key(self) -> bool {
        self.0 < 0x80
    }

    /// Whether the identifier means that there is no session.
    pub fn is_none(self) -> bool {
        self.0 & 0x7f == 0
    }
}

/// The identifier of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId(pub u8);

impl StreamId {
    /// No stream: the message has no sequence number.
    pub const NONE: Self = Self(0x00);
    /// The first best-effort stream.
    pub const BEST_EFFORT: Self = Self(0x01);
    /// The first reliable stream.
    pub const RELIABLE: Self = Self(0x80);

    /// Whether this is a best-effort stream, 1 to 127.
    pub fn is_best_effort(self) -> bool {
        matches!(self.0, 1..0x80)
    }

    /// Whether this is a reliable stream, 128 to 255.
    pub fn is_reliable(self) -> bool {
        self.0 >= 0x80
    }
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session.
    pub session: SessionId,
    /// The stream.
    pub stream: StreamId,
    /// The sequence number in the stream. The first one is 0.
    pub sequence: u16,
    /// The key of the client if [`SessionId::has_key`]; otherwise [`ClientKey::INVALID`], which is not sent.
    pub key: ClientKey,
}

impl Header {
    /// The largest length of a header, in bytes.
    pub const MAX_BYTES: usize = 8;

    /// The header of a message outside of streams, in a session without a key.
    pub fn streamless(session: SessionId) -> Self {
        Self { session, stream: StreamId::NONE, sequence: 0, key: ClientKey::INVALID }
    }

    /// The length of the header in bytes: 8 with the key, 4 without it.
    pub fn bytes(&self) -> usize {
        if self.session.has_key() { 8 } else { 4 }
    }

    fn read(reader: &mut Reader<'_>) -> Self {
        let session = SessionId(reader.u8());
        let stream = StreamId(reader.u8());
        let sequence = u16::from_le_bytes(reader.array());
        let key = if session.has_key() { ClientKey(reader.array()) } else { ClientKey::INVALID };
        Self { session, stream, sequence, key }
    }

    /// Writes the header.
    pub fn write(&self, writer: &mut Writer<'_>) {
        writer.put(&[self.session.0, self.stream.0]);
        writer.put(&self.sequence.to_le_bytes());
        if self.session.has_key() {
            writer.put(&self.key.0);
        }
    }
}

/// Splits a message into its header and its submessages.
///
/// # Errors
/// [`Problem::End`](super::Problem::End) in the header. A defect of a submessage is found when the iterator reaches it.
pub fn parse(message: &[u8]) -> Result<(Header, Submessages<'_>)> {
    // The byte order has no effect here, because headers are always little endian.
    let header = Reader::new(message, ByteOrder::Little).whole(Header::read)?;
    Ok((header, Submessages::new(message, header.bytes(), 0)))
}
