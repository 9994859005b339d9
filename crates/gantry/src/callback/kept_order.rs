//! The order of the values that a callback keeps for its executor. The values themselves are in a list of the callback.
//! A *place* is an index of this list, and is free again when its value is taken out. This code does not depend on the
//! type of the values.
//!
//! Invariant: `queue` is sorted by key. Each place is in exactly one of `queue`, `returned` and `free`.

use super::any_callback::EventKey;
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct KeptOrder {
    /// The values that wait for a run of the callback, in order: the key of each value, and the index of its place.
    queue: VecDeque<(EventKey, usize)>,
    /// The places of values that were put back before the callback ran with them. The next takes return these values
    /// first.
    returned: VecDeque<usize>,
    free: Vec<usize>,
    /// The number of places.
    places: usize,
}

impl KeptOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.returned.is_empty()
    }

    /// Whether there are values that were put back.
    pub(super) fn has_returned(&self) -> bool {
        !self.returned.is_empty()
    }

    /// Returns a place for the value with this key: a free place, or a new place.
    pub(super) fn insert(&mut self, key: EventKey) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places += 1;
            self.free.reserve(self.places); // so that taking values out allocates nothing
            self.places - 1
        });
        // The new value is not always the newest: a newly matched publisher may bring an older value.
        let index = self.queue.iter().rposition(|(other, _)| *other < key).map_or(0, |index| index + 1);
        self.queue.insert(index, (key, place));
        place
    }

    /// Removes the value with this key and returns its place, which becomes free. The value is nearly always the first
    /// or the last of the queue.
    pub(super) fn remove(&mut self, key: EventKey) -> Option<usize> {
        let index = if self.queue.front().is_some_and(|(first, _)| *first == key) {
            0
        } else {
            self.queue.binary_search_by_key(&key, |(key, _)| *key).ok()?
        };
        let (_, place) = self.queue.remove(index)?;
        self.free.push(place);
        Some(place)
    }

    /// Removes the first value that was put back and returns its place, which becomes free.
    pub(super) fn pop_returned(&mut self) -> Option<usize> {
        let place = self.returned.pop_front()?;
        self.free.push(place);
        Some(place)
    }

    /// Puts back all values of the queue: the next takes return them before the values that were put back earlier.
    pub(super) fn return_queued(&mut self) {
        while let Some((_, place)) = self.queue.pop_back() {
            self.returned.push_front(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_values_come_first_and_their_places_are_used_again() {
        let mut order = KeptOrder::default();
        let places = [5, 3, 7].map(|time_ns| order.insert((time_ns, 0)));
        assert_eq!(places, [0, 1, 2]);
        assert_eq!((order.remove((4, 0)), order.remove((5, 0))), (None, Some(0)));
        order.return_queued();
        assert_eq!(order.insert((1, 0)), 0, "the free place");
        order.return_queued();
        let returned: Vec<usize> = std::iter::from_fn(|| order.pop_returned()).collect();
        assert_eq!(returned, [0, 1, 2], "each queue stands before what was returned earlier, in the order of its keys");
        assert!(order.is_empty() && order.insert((9, 0)) < 3);
    }
}
