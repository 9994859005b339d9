//! The sequence numbers that have arrived from one publisher on the network.

/// The set of sequence numbers that have arrived. It is exact for the newest 128 numbers, because some networks repeat
/// samples or change their order.
#[derive(Debug, Default)]
pub struct Seen {
    newest: u64,
    /// Bit `n` is set if the sample `newest - n` has arrived.
    bits: u128,
}

impl Seen {
    /// Adds a number. Returns `false` if the number was added before, or is not among the newest 128.
    pub fn is_new(&mut self, number: u64) -> bool {
        if self.bits == 0 || number > self.newest {
            let gap = number.saturating_sub(self.newest);
            self.bits = if self.bits == 0 || gap >= 128 { 1 } else { self.bits << gap | 1 };
            self.newest = number;
            return true;
        }
        let age = self.newest - number;
        let bit = if age < 128 { 1u128 << age } else { return false };
        let is_new = self.bits & bit == 0;
        self.bits |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut seen = Seen::default();
        let numbers = [3, 4, 4, 3, 6, 5, 5, 6, 200, 199, 73, 72, 6, 200, u64::MAX, 0];
        let new: Vec<u64> = numbers.into_iter().filter(|number| seen.is_new(*number)).collect();
        assert_eq!(new, [3, 4, 6, 5, 200, 199, 73, u64::MAX], "72 is beyond the 128 newest of 200");
    }
}
