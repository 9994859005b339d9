//! The flags of a submessage.

use core::ops::BitOr;

/// The flags of a submessage. The meaning of a flag depends on the submessage's identifier, except for the flag of
/// the byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// The payload is little endian. [`MessageBuilder`](super::MessageBuilder) sets this flag.
    pub const LITTLE_ENDIAN: Self = Self(0x01);
    /// CREATE: if an equal object exists, it is used.
    pub const REUSE: Self = Self(0x02);
    /// CREATE: if the object exists, it is replaced.
    pub const REPLACE: Self = Self(0x04);
    /// FRAGMENT: this fragment is the last one of its submessage.
    pub const LAST_FRAGMENT: Self = Self(0x02);

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The format of the data in WRITE_DATA and DATA.
    pub fn data_format(self) -> DataFormat {
        DataFormat(self.0 & 0x0e)
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The format of the data in WRITE_DATA and DATA, and the format that READ_DATA asks for.
///
/// eProsima's client and agent send and read only [`DATA`](Self::DATA). Their definitions of the other formats
/// differ, and neither uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFormat(pub u8);

impl DataFormat {
    /// The serialised message alone.
    pub const DATA: Self = Self(0x00);
    /// The format of one message with its time and sequence number.
    pub const SAMPLE: Self = Self(0x02);
    /// Several messages.
    pub const DATA_SEQUENCE: Self = Self(0x08);
    /// The format of several messages with times and sequence numbers.
    pub const SAMPLE_SEQUENCE: Self = Self(0x0a);
    /// The format of several messages with differences of times and sequence numbers.
    pub const PACKED_SAMPLES: Self = Self(0x0e);
}
