//! A search for a free item among many in use, such as pins or places, at a constant cost per search.

/// The number of items that a round over all items may find in use before the limit by [`LOOKS_PER_FREE`] applies.
const CHEAP_LOOKS: usize = 64;
/// The number of items in use that a round may find for each free item, beyond the first [`CHEAP_LOOKS`]. A search that
/// has found more begins no further round.
const LOOKS_PER_FREE: usize = 8;

/// The state of the search. A search continues where the last search ended, because the items there were
/// released longest ago.
#[derive(Debug, Default)]
pub(crate) struct FreeSearch {
    /// The index of the item that the search checks next.
    next: usize,
    /// The number of free items that the present round over all items has found.
    found: usize,
}

impl FreeSearch {
    /// Searches for a free item among `count`, and returns its index. Returns `None` if a whole round found no free
    /// item, or too few free items for the number of checks: the caller then appends a share of `count` new items,
    /// which the next search finds.
    #[inline]
    pub(crate) fn find(&mut self, count: usize, is_free: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            while self.next < count {
                if is_free(self.next) {
                    self.found += 1;
                    return Some(self.next);
                }
                self.next += 1;
            }
            let is_crowded = self.found == 0 || count > CHEAP_LOOKS + LOOKS_PER_FREE * self.found;
            self.found = 0;
            if is_crowded {
                self.next = count;
                return None;
            }
            self.next = 0;
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Holds and releases items as `released` prescribes; returns the number of items and the number of checks.
    fn run(steps: usize, released: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
        let (mut search, mut items, mut held, looks) =
            (FreeSearch::default(), Vec::<bool>::new(), Vec::new(), Cell::new(0));
        for step in 0..steps {
            let is_free = |index: usize| {
                looks.set(looks.get() + 1);
                !items[index]
            };
            let index = match search.find(items.len(), is_free) {
                Some(index) => index,
                None => {
                    let before = items.len();
                    items.resize(before + 1 + before / 4, false);
                    before
                }
            };
            items[index] = true;
            held.push(index);
            if let Some(which) = released(step) {
                items[held.swap_remove(which % held.len())] = false;
            }
        }
        (items.len(), looks.get())
    }

    #[test]
    fn the_cost_does_not_grow_with_the_number_that_is_held() {
        const HELD: usize = 2_000;
        let (items, looks) = run(10 * HELD, |_| None);
        assert!(items < 20 * HELD && looks < 100 * HELD, "{items} items, {looks} looks");
        // Each further step takes one item and releases one, in some order. The cost stays low with hardly more items
        // than are held.
        for held in HELD..HELD + 40 {
            let released = |step: usize| (step >= held).then(|| step.wrapping_mul(2_654_435_761));
            let (items, looks) = run(4 * held, released);
            assert!(items < 2 * held && looks < 40 * held, "{held} held: {items} items, {looks} looks");
        }
    }

    #[test]
    fn few_items_are_all_used_before_more_are_added() {
        let (items, _) = run(10_000, |step| (step >= 30).then_some(step * 7));
        assert!(items <= 30 + 30 / 4 + 1, "{items}");
    }
}
