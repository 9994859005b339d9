//! Time stamps.

use super::{Reader, Result, Writer};

/// A time since the epoch of the clock that gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Whole seconds.
    pub seconds: i32,
    /// The rest, in nanoseconds.
    pub nanoseconds: u32,
}

impl Time {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { seconds: reader.u32()? as i32, nanoseconds: reader.u32()? })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.seconds as u32);
        writer.u32(self.nanoseconds);
    }
}
