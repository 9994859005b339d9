//! The submessages of a message.

use super::{ByteOrder, Error, Flags, ObjectReply, ObjectRequest, Problem, Reader, Result, reader::padding};

/// The length of a submessage's header, in bytes.
pub const SUBMESSAGE_HEADER_BYTES: usize = 4;

/// The length that eProsima's client writes into the header of CREATE_CLIENT, even if properties make the
/// payload longer.
const CREATE_CLIENT_FIXED_BYTES: usize = 16;

/// The identifier of a submessage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmessageId(pub u8);

impl SubmessageId {
    /// A client asks for a session.
    pub const CREATE_CLIENT: Self = Self(0);
    /// A client asks for an object.
    pub const CREATE: Self = Self(1);
    /// A question about an object. If the object is the agent, the question is a ping.
    pub const GET_INFO: Self = Self(2);
    /// A client deletes an object, or its session.
    pub const DELETE: Self = Self(3);
    /// The answer to CREATE_CLIENT.
    pub const STATUS_AGENT: Self = Self(4);
    /// The answer to CREATE and DELETE, and to a READ_DATA that failed.
    pub const STATUS: Self = Self(5);
    /// The answer to GET_INFO.
    pub const INFO: Self = Self(6);
    /// A client publishes a sample, or sends a request or a reply.
    pub const WRITE_DATA: Self = Self(7);
    /// A client asks for data.
    pub const READ_DATA: Self = Self(8);
    /// Data for a client.
    pub const DATA: Self = Self(9);
    /// Acknowledges messages of a reliable stream, and lists the missing ones.
    pub const ACKNACK: Self = Self(10);
    /// Announces the messages that the sender of a reliable stream still has.
    pub const HEARTBEAT: Self = Self(11);
    /// Empties all streams.
    pub const RESET: Self = Self(12);
    /// A part of a submessage.
    pub const FRAGMENT: Self = Self(13);
    /// A client asks for the agent's time.
    pub const TIMESTAMP: Self = Self(14);
    /// The answer to TIMESTAMP.
    pub const TIMESTAMP_REPLY: Self = Self(15);
}

/// A submessage: its header, and a reader of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submessage<'a> {
    /// The kind of the submessage.
    pub id: SubmessageId,
    /// The flags of the submessage.
    pub flags: Flags,
    /// A reader of the submessage's payload.
    pub payload: Reader<'a>,
}

impl<'a> Submessage<'a> {
    /// The beginning of the payloads of CREATE, GET_INFO, DELETE, STATUS, INFO, WRITE_DATA, READ_DATA and DATA. If
    /// the bytes after it are malformed, the submessage can still be answered.
    ///
    /// # Errors
    /// [`Problem::End`].
    pub fn object_request(&self) -> Result<ObjectRequest> {
        self.payload.whole(ObjectRequest::read)
    }

    /// The beginning of the payloads of STATUS and INFO: the request and its result.
    ///
    /// # Errors
    /// [`Problem::End`].
    pub fn object_reply(&self) -> Result<ObjectReply> {
        self.payload.whole(ObjectReply::read)
    }
}

/// The submessages of a message, in their order.
#[derive(Clone, Debug)]
pub struct Submessages<'a> {
    bytes: &'a [u8],
    position: usize,
    phase: usize,
}

impl<'a> Submessages<'a> {
    pub(super) fn new(bytes: &'a [u8], position: usize, phase: usize) -> Self {
        Self { bytes, position, phase }
    }

    /// Submessages without the header of their message, such as a submessage assembled from FRAGMENTs.
    /// `header_bytes` is the length of the missing header ([`Header::bytes`](super::Header::bytes)).
    pub fn without_header(bytes: &'a [u8], header_bytes: usize) -> Self {
        Self::new(bytes, 0, header_bytes)
    }

    fn read_next(&mut self) -> Result<Submessage<'a>> {
        let mut header = Reader::within(self.bytes, self.position, self.phase, ByteOrder::Little);
        let (id, flags) = (SubmessageId(header.u8()), Flags(header.u8()));
        let said = usize::from(u16::from_le_bytes(header.array()));
        let start = self.position + SUBMESSAGE_HEADER_BYTES;
        let rest = header.rest();
        let bytes = match id {
            // eProsima's client (`UCLIENT_TWEAK_XRCE_WRITE_LIMIT`) writes 0 for a length that does not fit in
            // the field.
            SubmessageId::WRITE_DATA if said == 0 => rest.len(),
            SubmessageId::CREATE_CLIENT if said == CREATE_CLIENT_FIXED_BYTES && has_properties(rest) => rest.len(),
            _ => said,
        };
        header.take(bytes);
        header.check()?;
        self.position = header.position();
        let order = if flags.has(Flags::LITTLE_ENDIAN) { ByteOrder::Little } else { ByteOrder::Big };
        let until_end = self.bytes.get(..self.position).unwrap_or_default();
        Ok(Submessage { id, flags, payload: Reader::within(until_end, start, self.phase, order) })
    }
}

/// Whether the representation of a client has properties. The flag for them follows the cookie, version, vendor,
/// key and session.
fn has_properties(client: &[u8]) -> bool {
    client.get(13) == Some(&1)
}

impl<'a> Iterator for Submessages<'a> {
    /// An error ends the iteration, because the position of the next submessage is not known then.
    type Item = Result<Submessage<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.position += padding(self.position + self.phase, SUBMESSAGE_HEADER_BYTES);
        if self.position >= self.bytes.len() {
            return None;
        }
        let next = self.read_next();
        if next.is_err() {
            self.position = self.bytes.len();
        }
        Some(next)
    }
}

/// The header of a submessage that is sent in FRAGMENTs. `bytes` is the length of its payload.
///
/// # Errors
/// [`Problem::TooLong`] above 65535 bytes, except for WRITE_DATA: the length 0 means that the payload ends with the
/// last fragment.
pub fn submessage_header(id: SubmessageId, flags: Flags, order: ByteOrder, bytes: usize) -> Result<[u8; 4]> {
    if id == SubmessageId::WRITE_DATA && bytes > usize::from(u16::MAX) {
        return whole_header(id, flags, order, 0);
    }
    whole_header(id, flags, order, bytes)
}

/// The header of a submessage that is sent as a whole.
pub(super) fn whole_header(id: SubmessageId, flags: Flags, order: ByteOrder, bytes: usize) -> Result<[u8; 4]> {
    let too_long = Error { offset: 0, problem: Problem::TooLong { bytes: bytes as u32 } };
    let [low, high] = u16::try_from(bytes).map_err(|_| too_long)?.to_le_bytes();
    let flags = if order == ByteOrder::Little { flags | Flags::LITTLE_ENDIAN } else { flags };
    Ok([id.0, flags.0, low, high])
}
