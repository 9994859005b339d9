//! The QoS of data writers and data readers in binary representations.

use super::{Reader, Writer};
use core::ops::BitOr;

/// The QoS policies that are flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QosFlags(pub u16);

impl QosFlags {
    /// No flag is set: best effort, keep all, shared ownership, volatile.
    pub const NONE: Self = Self(0);
    /// Reliable, otherwise best effort.
    pub const RELIABLE: Self = Self(0x01);
    /// Keep last, otherwise keep all.
    pub const KEEP_LAST: Self = Self(0x02);
    /// Exclusive ownership, otherwise shared.
    pub const OWNERSHIP_EXCLUSIVE: Self = Self(0x04);
    /// The durability transient local. Without a flag of durability, it is volatile.
    pub const TRANSIENT_LOCAL: Self = Self(0x08);
    /// Durability transient.
    pub const TRANSIENT: Self = Self(0x10);
    /// Durability persistent.
    pub const PERSISTENT: Self = Self(0x20);

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for QosFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The QoS that data writers and data readers have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qos<'a> {
    /// Policies that are a flag.
    pub flags: QosFlags,
    /// The depth of the history.
    pub history_depth: Option<u16>,
    /// The deadline, in milliseconds.
    pub deadline_ms: Option<u32>,
    /// The lifespan, in milliseconds.
    pub lifespan_ms: Option<u32>,
    /// Bytes of the user.
    pub user_data: Option<&'a [u8]>,
}

impl<'a> Qos<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self {
            flags: QosFlags(reader.u16()),
            history_depth: reader.optional(Reader::u16),
            deadline_ms: reader.optional(Reader::u32),
            lifespan_ms: reader.optional(Reader::u32),
            user_data: reader.optional(Reader::octets),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.u16(self.flags.0);
        writer.optional(self.history_depth, Writer::u16);
        writer.optional(self.deadline_ms, Writer::u32);
        writer.optional(self.lifespan_ms, Writer::u32);
        writer.optional(self.user_data, Writer::octets);
    }
}

/// The QoS of a data writer.
///
/// eProsima's client declares 64 bits for the ownership strength but never sends it. The standard and eProsima's agent
/// have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterQos<'a> {
    /// The policies that data readers also have.
    pub common: Qos<'a>,
    /// The strength of exclusive ownership.
    pub ownership_strength: Option<u32>,
}

impl<'a> WriterQos<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        Self { common: Qos::read(reader), ownership_strength: reader.optional(Reader::u32) }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        self.common.write(writer);
        writer.optional(self.ownership_strength, Writer::u32);
    }
}

/// The QoS of a data reader.
///
/// eProsima's client declares 64 bits for the time-based filter but never sends it. The standard and eProsima's agent
/// have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReaderQos<'a> {
    /// The policies that data writers also have.
    pub common: Qos<'a>,
    /// The shortest time between two samples, in milliseconds.
    pub time_based_filter_ms: Option<u32>,
    /// A filter of contents.
    pub content_filter: Option<&'a str>,
}

impl<'a> ReaderQos<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        Self {
            common: Qos::read(reader),
            time_based_filter_ms: reader.optional(Reader::u32),
            content_filter: reader.optional(Reader::text),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        self.common.write(writer);
        writer.optional(self.time_based_filter_ms, Writer::u32);
        writer.optional(self.content_filter, Writer::text);
    }
}
