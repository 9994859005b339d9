//! Sequence numbers: 16 bits, compared as serial numbers (RFC 1982).

/// The sequence number of a message in its stream. A stream begins with 0; 0 follows 65535.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(pub u16);

impl Sequence {
    /// The sequence number `count` messages later.
    #[must_use]
    pub const fn plus(self, count: u16) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// The sequence number before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }

    /// The number of messages from `base` to this one, less than 32768; `None` if this message is older than `base`.
    #[must_use]
    pub const fn distance_from(self, base: Self) -> Option<u16> {
        let distance = self.0.wrapping_sub(base.0);
        if distance < 0x8000 { Some(distance) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::Sequence;

    #[test]
    fn numbers_are_compared_across_the_wrap() {
        assert_eq!(Sequence(0).distance_from(Sequence(65535)), Some(1));
        assert_eq!(Sequence(65535).distance_from(Sequence(0)), None);
        assert_eq!(Sequence(7).distance_from(Sequence(7)), Some(0));
        assert_eq!(Sequence(0x7fff).distance_from(Sequence(0)), Some(0x7fff));
        assert_eq!(Sequence(0x8000).distance_from(Sequence(0)), None);
        assert_eq!(Sequence(65530).plus(10), Sequence(4));
        assert_eq!(Sequence(0).previous(), Sequence(65535));
    }
}
