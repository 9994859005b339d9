//! The flags of a submessage.

use core::ops::BitOr;

/// The flags of a submessage. Their meaning depends on its identifier, except for the byte order's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// The payload is little endian. [`MessageBuilder`](super::MessageBuilder) sets it.
    pub const LITTLE_ENDIAN: Self = Self(0x01);
    /// CREATE: an object that exists and is the same is used.
    pub const REUSE: Self = Self(0x02);
    /// CREATE: an object that exists is replaced.
    pub const REPLACE: Self = Self(0x04);
    /// FRAGMENT: it is the last one of its submessage.
    pub const LAST_FRAGMENT: Self = Self(0x02);

    /// Whether all of `other`'s flags are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// WRITE_DATA, DATA: the format of the data.
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
/// eProsima's client and agent send and read [`DATA`](Self::DATA) only. Their definitions of the other formats differ,
/// and neither uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFormat(pub u8);

impl DataFormat {
    /// The serialised message alone.
    pub const DATA: Self = Self(0x00);
    /// A message with its time and sequence number.
    pub const SAMPLE: Self = Self(0x02);
    /// Several messages.
    pub const DATA_SEQUENCE: Self = Self(0x08);
    /// Several messages with times and sequence numbers.
    pub const SAMPLE_SEQUENCE: Self = Self(0x0a);
    /// Several messages with differences of times and sequence numbers.
    pub const PACKED_SAMPLES: Self = Self(0x0e);
}
