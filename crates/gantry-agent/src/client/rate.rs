//! Limits for the rate of a client's requests.

use gantry_xrce::time::Instant;

/// A limit for the rate of events: `at_once` events are allowed at once, and after that `per_s` events per second.
#[derive(Debug)]
pub struct Rate {
    at_once: u32,
    per_s: u32,
    left: u32,
    pub filled_at: Instant,
}

impl Rate {
    pub fn new(at_once: u32, per_s: u32, now: Instant) -> Self {
        Self { at_once, per_s, left: at_once, filled_at: now }
    }

    /// Counts an event if the limit allows it. Returns whether it does.
    pub fn spend(&mut self, now: Instant) -> bool {
        let period_us = 1_000_000 / u64::from(self.per_s.max(1));
        let earned = now.as_us().saturating_sub(self.filled_at.as_us()) / period_us;
        if earned >= u64::from(self.at_once - self.left) {
            (self.left, self.filled_at) = (self.at_once, now);
        } else {
            self.left += earned as u32;
            self.filled_at = Instant::from_us(self.filled_at.as_us() + earned * period_us);
        }
        let is_left = self.left > 0;
        self.left -= u32::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_fills_with_time() {
        let at = Instant::from_us;
        let mut rate = Rate::new(3, 10, at(0));
        assert_eq!([(); 4].map(|()| rate.spend(at(0))), [true, true, true, false]);
        assert!(
            !rate.spend(at(99_999)) && rate.spend(at(100_000)) && !rate.spend(at(199_999)) && rate.spend(at(200_000))
        );
        assert_eq!([(); 4].map(|()| rate.spend(at(u64::MAX))), [true, true, true, false]);
    }
}
