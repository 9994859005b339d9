//! The sequence numbers of a publisher's samples: the numbers that have arrived from any source (a subscription to the
//! topic), and the missing ones.
//!
//! A source delivers numbers in rising order, with gaps only for samples that it lost. Another source may deliver the
//! samples of these gaps, earlier or later.

use std::collections::VecDeque;

/// The largest number of gaps that are stored individually.
const MAX_GAPS: usize = 256;

/// The sequence numbers from the first that a source could receive to the newest, and their gaps.
#[derive(Debug, Default)]
pub struct Numbers {
    first: u64,
    /// The newest number; 0 before the first sample.
    newest: u64,
    /// The gaps in rising order. Each has its first and its last number.
    gaps: VecDeque<(u64, u64)>,
    /// The number of missing samples in older gaps, which are no longer stored.
    forgotten: u64,
}

impl Numbers {
    /// Adds a number. Returns `false` if the number was added before, or is in an older gap, where it already counts as
    /// missing. `lost_before` is the number of samples directly before it that the source of the sample lost.
    pub fn add(&mut self, number: u64, lost_before: u64) -> bool {
        let is_new = if self.newest == 0 {
            (self.first, self.newest) = (number, number);
            true
        } else if number > self.newest {
            if number > self.newest + 1 {
                self.gaps.push_back((self.newest + 1, number - 1));
            }
            self.newest = number;
            true
        } else if number < self.first {
            self.begin_at(number + 1);
            self.first = number;
            true
        } else {
            self.fill(number)
        };
        self.begin_at(number.saturating_sub(lost_before).max(1));
        while self.gaps.len() > MAX_GAPS {
            self.forgotten += self.gaps.pop_front().map_or(0, |(first, last)| last - first + 1);
        }
        is_new
    }

    /// The number of samples that have not arrived.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.forgotten + self.gaps.iter().map(|(first, last)| last - first + 1).sum::<u64>()
    }

    /// Extends the range to begin at `number`. The new part is a gap.
    fn begin_at(&mut self, number: u64) {
        if number < self.first {
            self.gaps.push_front((number, self.first - 1));
            self.first = number;
        }
    }

    /// Removes a number from its gap. Returns `false` if no gap contains it.
    fn fill(&mut self, number: u64) -> bool {
        let Some(index) = self.gaps.iter().position(|(first, last)| (*first..=*last).contains(&number)) else {
            return false;
        };
        let (first, last) = self.gaps[index];
        match (number == first, number == last) {
            (true, true) => _ = self.gaps.remove(index),
            (true, false) => self.gaps[index].0 += 1,
            (false, true) => self.gaps[index].1 -= 1,
            (false, false) => {
                self.gaps[index].1 = number - 1;
                self.gaps.insert(index + 1, (number + 1, last));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the numbers `given`, and returns those that were new.
    fn new(numbers: &mut Numbers, given: impl Iterator<Item = u64>) -> Vec<u64> {
        given.filter(|number| numbers.add(*number, 0)).collect()
    }

    #[test]
    fn a_history_that_comes_late_is_new_up_to_what_the_other_source_has() {
        let mut numbers = Numbers::default();
        assert_eq!(new(&mut numbers, 250..=300), Vec::from_iter(250..=300));
        assert_eq!(new(&mut numbers, 1..=310), (1..=249).chain(301..=310).collect::<Vec<_>>());
        assert_eq!(new(&mut numbers, 301..=320), Vec::from_iter(311..=320));
        assert_eq!(numbers.missing(), 0);
    }

    #[test]
    fn a_number_is_missing_if_no_source_has_it() {
        let mut numbers = Numbers::default();
        // One source lost 5 to 90, another one lost 3 to 7, and neither delivered 80 to 200.
        new(&mut numbers, (1..=4).chain(91..=91));
        assert_eq!(numbers.missing(), 86);
        assert_eq!(new(&mut numbers, (1..=2).chain(8..=79)), Vec::from_iter(8..=79));
        assert_eq!(new(&mut numbers, 201..=202), [201, 202]);
        assert_eq!(numbers.missing(), 3 + 11 + 109);
    }

    #[test]
    fn samples_that_were_lost_before_the_first_one_are_missing() {
        let mut numbers = Numbers::default();
        assert!(numbers.add(100, 40));
        assert_eq!(numbers.missing(), 40);
        assert!(numbers.add(101, 0) && !numbers.add(100, 5), "another source lost less");
        assert!(numbers.add(70, 30), "another source was to get 40 to 69, too");
        assert_eq!(numbers.missing(), 59);
        assert_eq!(new(&mut numbers, 71..=101), Vec::from_iter(71..=99));
        assert_eq!(numbers.missing(), 30);
    }

    #[test]
    fn the_oldest_of_many_gaps_are_forgotten_and_counted() {
        let mut numbers = Numbers::default();
        assert_eq!(new(&mut numbers, (1..=2001).step_by(2)).len(), 1001);
        assert_eq!(numbers.missing(), 1000);
        assert!(numbers.gaps.len() <= MAX_GAPS && !numbers.add(2, 0) && numbers.add(2000, 0));
        assert_eq!(numbers.missing(), 999);
    }
}
