//! Points in time, which the caller's clock gives.

/// A point in time in microseconds since any origin of a clock that does not jump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The instant `us` microseconds after the origin.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us)
    }

    /// Microseconds since the origin.
    #[must_use]
    pub const fn as_us(self) -> u64 {
        self.0
    }

    /// The instant `delay_us` later.
    // Inlined, it is longer than a call on a microcontroller.
    #[inline(never)]
    #[must_use]
    pub const fn after_us(self, delay_us: u32) -> Self {
        Self(self.0.saturating_add(delay_us as u64))
    }
}
