//! Time stamps.

use super::{Reader, Result, Writer};

const SECOND_NS: i64 = 1_000_000_000;

/// A time since the epoch of the clock that gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Whole seconds.
    pub seconds: i32,
    /// The rest, in nanoseconds.
    pub nanoseconds: u32,
}

impl Time {
    /// The time that many nanoseconds after the epoch, or the nearest one that the format has.
    #[must_use]
    pub fn from_ns(ns: i64) -> Self {
        match i32::try_from(ns.div_euclid(SECOND_NS)) {
            Ok(seconds) => Self { seconds, nanoseconds: ns.rem_euclid(SECOND_NS) as u32 },
            Err(_) if ns < 0 => Self { seconds: i32::MIN, nanoseconds: 0 },
            Err(_) => Self { seconds: i32::MAX, nanoseconds: SECOND_NS as u32 - 1 },
        }
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub fn as_ns(self) -> i64 {
        i64::from(self.seconds) * SECOND_NS + i64::from(self.nanoseconds)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { seconds: reader.u32()? as i32, nanoseconds: reader.u32()? })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.seconds as u32);
        writer.u32(self.nanoseconds);
    }
}
