//! The result of a request.

use super::{Reader, Writer};

/// The result of a request, with the standard's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusValue(pub u8);

impl StatusValue {
    /// Done.
    pub const OK: Self = Self(0x00);
    /// There was nothing to do, because the object existed already.
    pub const OK_MATCHED: Self = Self(0x01);
    /// DDS refused.
    pub const DDS_ERROR: Self = Self(0x80);
    /// The kinds of the objects do not match.
    pub const MISMATCH: Self = Self(0x81);
    /// The object exists.
    pub const ALREADY_EXISTS: Self = Self(0x82);
    /// The agent refuses.
    pub const DENIED: Self = Self(0x83);
    /// The object does not exist.
    pub const UNKNOWN_REFERENCE: Self = Self(0x84);
    /// The bytes of the request are invalid.
    pub const INVALID_DATA: Self = Self(0x85);
    /// The QoS or the protocol versions are not compatible.
    pub const INCOMPATIBLE: Self = Self(0x86);
    /// The agent has no memory left, or has reached a limit.
    pub const RESOURCES: Self = Self(0x87);

    /// Whether the request was carried out.
    pub fn is_ok(self) -> bool {
        self.0 < 0x80
    }

    /// The standard's name of the status.
    pub fn name(self) -> &'static str {
        match self {
            Self::OK => "ok",
            Self::OK_MATCHED => "ok, matched",
            Self::DDS_ERROR => "DDS error",
            Self::MISMATCH => "mismatch",
            Self::ALREADY_EXISTS => "already exists",
            Self::DENIED => "denied",
            Self::UNKNOWN_REFERENCE => "unknown reference",
            Self::INVALID_DATA => "invalid data",
            Self::INCOMPATIBLE => "incompatible",
            Self::RESOURCES => "resources",
            _ => "unknown status",
        }
    }
}

/// The result of a request, and a byte whose meaning depends on the implementation.
///
/// In eProsima's INFO, this byte is 1 if the agent has a session with the client at that address, and 0 if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultStatus {
    /// The result.
    pub status: StatusValue,
    /// The implementation's byte.
    pub implementation: u8,
}

impl ResultStatus {
    /// Done.
    pub const OK: Self = Self { status: StatusValue::OK, implementation: 0 };

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self { status: StatusValue(reader.u8()), implementation: reader.u8() }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.put(&[self.status.0, self.implementation]);
    }
}
