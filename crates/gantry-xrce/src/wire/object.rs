//! Identifiers of objects and of requests, which are always big endian.

use super::{Reader, ResultStatus, Writer};
use core::fmt;

/// The kind of an object, in the lower four bits of its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectKind(pub u8);

impl ObjectKind {
    /// No object.
    pub const INVALID: Self = Self(0x0);
    /// A participant.
    pub const PARTICIPANT: Self = Self(0x1);
    /// A topic.
    pub const TOPIC: Self = Self(0x2);
    /// A publisher: a group of data writers.
    pub const PUBLISHER: Self = Self(0x3);
    /// A subscriber: a group of data readers.
    pub const SUBSCRIBER: Self = Self(0x4);
    /// A data writer, which is ROS 2's publisher.
    pub const DATA_WRITER: Self = Self(0x5);
    /// A data reader, which is ROS 2's subscription.
    pub const DATA_READER: Self = Self(0x6);
    /// A requester, which is ROS 2's client of a service.
    pub const REQUESTER: Self = Self(0x7);
    /// A replier, which is ROS 2's service.
    pub const REPLIER: Self = Self(0x8);
    /// A type.
    pub const TYPE: Self = Self(0xa);
    /// A profile of QoS.
    pub const QOS_PROFILE: Self = Self(0xb);
    /// An application.
    pub const APPLICATION: Self = Self(0xc);
    /// The agent.
    pub const AGENT: Self = Self(0xd);
    /// The client.
    pub const CLIENT: Self = Self(0xe);
}

/// The identifier of an object: a number of 12 bits that the client chooses, and a kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectId(pub u16);

impl ObjectId {
    /// No object.
    pub const INVALID: Self = Self(0x0000);
    /// The agent.
    pub const AGENT: Self = Self(0xfffd);
    /// The client.
    pub const CLIENT: Self = Self(0xfffe);

    /// Makes an identifier. Only the lower 12 bits of `number` and the lower 4 bits of `kind` are used.
    pub const fn new(number: u16, kind: ObjectKind) -> Self {
        Self(number << 4 | (kind.0 & 0xf) as u16)
    }

    /// The number, at most 4095.
    pub const fn number(self) -> u16 {
        self.0 >> 4
    }

    /// The kind.
    pub const fn kind(self) -> ObjectKind {
        ObjectKind((self.0 & 0xf) as u8)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self(u16::from_be_bytes(reader.array()))
    }

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        writer.put(&self.0.to_be_bytes());
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ObjectId({:#06x})", self.0)
    }
}

/// The identifier of a request, which its answer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub u16);

impl RequestId {
    /// No request.
    pub const INVALID: Self = Self(0);
    /// The last identifier that is reserved for requests of the session itself.
    pub const LAST_RESERVED: Self = Self(9);

    /// The next identifier; 10 follows 65535.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(0).max(Self::LAST_RESERVED.0 + 1))
    }
}

/// A request, with the object that it concerns. (The standard's `BaseObjectRequest`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRequest {
    /// The request.
    pub request: RequestId,
    /// The object.
    pub object: ObjectId,
}

impl ObjectRequest {
    /// The length, in bytes.
    pub const BYTES: usize = 4;

    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        Self { request: RequestId(u16::from_be_bytes(reader.array())), object: ObjectId::read(reader) }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.put(&self.request.0.to_be_bytes());
        self.object.write(writer);
    }
}

/// The answer to a request. (The standard's `BaseObjectReply`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectReply {
    /// The request.
    pub related: ObjectRequest,
    /// The result.
    pub result: ResultStatus,
}

impl ObjectReply {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        Self { related: ObjectRequest::read(reader), result: ResultStatus::read(reader) }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        self.related.write(writer);
        self.result.write(writer);
    }
}
