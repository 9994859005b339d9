//! Points in time, from the caller's clock.

/// A point in time: the microseconds since an arbitrary origin, by a monotonic clock.
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
    // The function is not inlined: on a microcontroller, its code is longer than a call.
    #[inline(never)]
    #[must_use]
    pub const fn after_us(self, delay_us: u32) -> Self {
        Self(self.0.saturating_add(delay_us as u64))
    }
}
