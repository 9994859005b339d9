//! The publishers whose samples are recorded, with the sequence numbers that have arrived.

use super::numbers::Numbers;
use gantry::Gid;
use std::collections::HashMap;

/// All publishers, by GID.
#[derive(Debug, Default)]
pub struct Publishers(HashMap<Gid, Publisher>);

#[derive(Debug, Default)]
struct Publisher {
    numbers: Numbers,
    /// The sources that have delivered samples of this publisher.
    sources: Vec<usize>,
}

impl Publishers {
    /// Notes a sample, and returns whether no other source has delivered it before. Two sources may deliver samples in
    /// different orders: the history of a latched publisher may arrive after newer samples from another source.
    /// `lost_before` returns the number of samples that the source lost before its first sample.
    pub fn is_new(&mut self, publisher: Gid, number: u64, source: usize, lost_before: impl FnOnce() -> u64) -> bool {
        let publisher = self.0.entry(publisher).or_default();
        let lost_before = if publisher.sources.contains(&source) {
            0
        } else {
            publisher.sources.push(source);
            lost_before()
        };
        publisher.numbers.add(number, lost_before)
    }

    /// The number of samples that none of `sources` has delivered. A publisher counts only if at least one of `sources`
    /// has delivered a sample of it.
    #[must_use]
    pub fn missing(&self, sources: &[usize]) -> u64 {
        let is_theirs = |publisher: &&Publisher| publisher.sources.iter().any(|source| sources.contains(source));
        self.0.values().filter(is_theirs).map(|publisher| publisher.numbers.missing()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_missing_that_came_by_no_source_of_the_topic() {
        let (mut publishers, one, other) = (Publishers::default(), Gid([1; 16]), Gid([2; 16]));
        assert!(publishers.is_new(one, 4, 0, || 3) && !publishers.is_new(one, 4, 1, || 0));
        assert!(publishers.is_new(one, 6, 1, || panic!("it is not the first one of this source")));
        assert!(publishers.is_new(other, 9, 2, || 8));
        assert_eq!((publishers.missing(&[0, 1]), publishers.missing(&[2])), (4, 8));
    }
}
