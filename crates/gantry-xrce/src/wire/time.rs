//! Time stamps.

use super::{Reader, Writer};

const SECOND_NS: i64 = 1_000_000_000;

/// A time, counted from the epoch of the clock that measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Whole seconds.
    pub seconds: i32,
    /// The rest, in nanoseconds.
    pub nanoseconds: u32,
}

impl Time {
    /// The time `ns` nanoseconds after the epoch, or the nearest time that the format can represent.
    #[must_use]
    pub fn from_ns(ns: i64) -> Self {
        let (whole, rest) = divide(ns.unsigned_abs());
        let (seconds, nanoseconds) = match (ns < 0, rest) {
            (false, _) => (whole, rest),
            (true, 0) => (-whole, 0),
            (true, _) => (-whole - 1, SECOND_NS as u32 - rest),
        };
        match i32::try_from(seconds) {
            Ok(seconds) => Self { seconds, nanoseconds },
            Err(_) if ns < 0 => Self { seconds: i32::MIN, nanoseconds: 0 },
            Err(_) => Self { seconds: i32::MAX, nanoseconds: SECOND_NS as u32 - 1 },
        }
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub fn as_ns(self) -> i64 {
        i64::from(self.seconds) * SECOND_NS + i64::from(self.nanoseconds)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self { seconds: reader.u32() as i32, nanoseconds: reader.u32() }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.seconds as u32);
        writer.u32(self.nanoseconds);
    }
}

/// Whole seconds, and the remaining nanoseconds. A second is 5⁹ · 2⁹ ns, so a long division by 5⁹ in steps of 11
/// bits needs only 32 bits. A general 64-bit division costs a microcontroller a kilobyte of code.
fn divide(ns: u64) -> (i64, u32) {
    const FIVES: u32 = 1_953_125;
    let (mut seconds, mut rest) = (0, 0);
    for step in (0..5).rev() {
        let bits = rest << 11 | (ns >> (9 + 11 * step)) as u32 & 0x7ff;
        seconds = seconds << 11 | i64::from(bits / FIVES);
        rest = bits % FIVES;
    }
    (seconds, rest << 9 | ns as u32 & 0x1ff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_divided_as_64_bit_numbers() {
        let mut random = fastrand::Rng::with_seed(9);
        let edges = [i64::MIN, i64::MIN + 1, -1, 0, 1, SECOND_NS - 1, SECOND_NS, -SECOND_NS, -SECOND_NS - 1, i64::MAX];
        let count = if cfg!(miri) { 100 } else { 10_000 };
        for ns in edges.into_iter().chain((0..count).map(|_| random.i64(..) >> random.u32(0..63))) {
            let time = Time::from_ns(ns);
            match i32::try_from(ns.div_euclid(SECOND_NS)) {
                Ok(seconds) => {
                    assert_eq!((time.seconds, i64::from(time.nanoseconds)), (seconds, ns.rem_euclid(SECOND_NS)));
                    assert_eq!(time.as_ns(), ns);
                }
                Err(_) => assert_eq!(time.seconds, if ns < 0 { i32::MIN } else { i32::MAX }),
            }
        }
    }
}
