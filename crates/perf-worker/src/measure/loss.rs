//! Losses of a subscription: missing, duplicate and reordered samples, detected by the ids that each publisher writes
//! into its samples.
//!
//! The table of publishers is allocated in advance. Duplicates and reordered samples are counted and are never an
//! error. A window of the last 64 ids tells duplicates from reordered samples. A sample older than the window counts as
//! a duplicate, so that it cannot cancel a loss.

/// The number of publishers for which the table has capacity before it must grow.
const EXPECTED_PUBLISHERS: usize = 64;

/// The class of a sample by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The sample is new. The `missed` samples between the previous sample and this one have not arrived, at least not
    /// yet.
    New {
        /// The number of skipped ids.
        missed: u64,
    },
    /// The sample is new, but it arrived after a later sample. It was counted as missed when the later sample arrived.
    Reordered,
    /// A sample with this id arrived before.
    Duplicate,
}

/// For each publisher, the ids of the samples that have arrived.
#[derive(Debug)]
pub struct Sequences {
    from_first: bool,
    last_id: u64,
    publishers: Vec<([u8; 16], Window)>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    /// The id from which samples of the publisher count.
    first: u64,
    last: u64,
    /// Bit `i` is set if the sample with id `last - i` has arrived.
    seen: u64,
}

impl Sequences {
    /// Creates the counter of a subscription. `from_first` means that the subscription was matched with all publishers
    /// before their first sample. Otherwise the samples of a publisher count from the first one that arrives. The ids
    /// in messages wrap around after `last_id`, whose bits are all ones.
    #[must_use]
    pub fn new(from_first: bool, last_id: u64) -> Self {
        Sequences { from_first, last_id, publishers: Vec::with_capacity(EXPECTED_PUBLISHERS) }
    }

    /// Records the arrival of one sample. Returns its class (new, reordered, duplicate) and its full id. The full id
    /// extends the id in the message, which may wrap around.
    ///
    /// `passed_over` is the number of samples that left the subscription's history unread since the previous sample. It
    /// matters only for the first sample of a publisher that was matched late. These lost samples were sent after
    /// matching, so counting starts that many ids earlier.
    pub fn arrived(&mut self, publisher: [u8; 16], carried_id: u64, passed_over: u64) -> (u64, Arrival) {
        let known = self.publishers.iter_mut().find(|(source, _)| *source == publisher);
        let Some((_, window)) = known else {
            let first = if self.from_first { 1 } else { carried_id.saturating_sub(passed_over).max(1) };
            self.publishers.push((publisher, Window { first, last: carried_id, seen: 1 }));
            return (carried_id, Arrival::New { missed: carried_id.saturating_sub(first) });
        };
        let id = whole(carried_id, window.last, self.last_id);
        (id, window.arrived(id))
    }

    /// The sum over all publishers of the highest received id. The publishers have tried to send at least this number
    /// of samples.
    #[must_use]
    pub fn last_seen(&self) -> u64 {
        self.publishers.iter().fold(0, |sum, (_, window)| sum.saturating_add(window.last))
    }

    /// The number of samples that publishers had sent before they were matched with the subscription: for each
    /// publisher, the ids below the first one that counts.
    #[must_use]
    pub fn before_matched(&self) -> u64 {
        self.publishers.iter().fold(0, |sum, (_, window)| sum.saturating_add(window.first.saturating_sub(1)))
    }
}

/// The full id nearest to `near` whose low bits are `carried`. `last_id` is the mask of these bits.
fn whole(carried: u64, near: u64, last_id: u64) -> u64 {
    let ahead = carried.wrapping_sub(near) & last_id;
    // A forward difference of more than half of the range is a step backwards.
    if ahead > last_id / 2 {
        near.saturating_sub((last_id - ahead).saturating_add(1))
    } else {
        near.saturating_add(ahead)
    }
}

impl Window {
    fn arrived(&mut self, sequence: u64) -> Arrival {
        if sequence > self.last {
            let step = sequence - self.last;
            self.seen = if step < 64 { self.seen << step | 1 } else { 1 };
            self.last = sequence;
            return Arrival::New { missed: step - 1 };
        }
        let back = self.last - sequence;
        if back >= 64 || sequence < self.first || self.seen >> back & 1 == 1 {
            return Arrival::Duplicate;
        }
        self.seen |= 1 << back;
        Arrival::Reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [u8; 16] = [1; 16];
    const B: [u8; 16] = [2; 16];

    #[test]
    fn a_gap_is_missed_and_a_late_arrival_takes_it_back() {
        let mut sequences = Sequences::new(true, u64::MAX);
        assert_eq!(sequences.arrived(A, 1, 0).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.arrived(A, 5, 0).1, Arrival::New { missed: 3 });
        assert_eq!(sequences.arrived(A, 3, 0).1, Arrival::Reordered);
        assert_eq!(sequences.arrived(A, 3, 0).1, Arrival::Duplicate);
        assert_eq!(sequences.arrived(A, 5, 0).1, Arrival::Duplicate);
        assert_eq!(sequences.arrived(A, 6, 0).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.last_seen(), 6);
    }

    #[test]
    fn each_publisher_has_its_own_numbers() {
        let mut sequences = Sequences::new(true, u64::MAX);
        assert_eq!(sequences.arrived(A, 1, 0).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.arrived(B, 2, 0).1, Arrival::New { missed: 1 });
        assert_eq!(sequences.arrived(A, 2, 0).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.last_seen(), 4);
    }

    #[test]
    fn samples_before_a_late_join_are_not_lost() {
        let mut sequences = Sequences::new(false, u64::MAX);
        assert_eq!(sequences.arrived(A, 1000, 0).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.before_matched(), 999);
        // A sample from before the join must not cancel a loss after the join.
        assert_eq!(sequences.arrived(A, 998, 0).1, Arrival::Duplicate);
        assert_eq!(sequences.arrived(A, 1002, 0).1, Arrival::New { missed: 1 });
    }

    #[test]
    fn samples_that_left_the_history_after_a_late_join_are_lost_and_no_others() {
        let mut sequences = Sequences::new(false, u64::MAX);
        assert_eq!(sequences.arrived(A, 1000, 30).1, Arrival::New { missed: 30 });
        assert_eq!(sequences.before_matched(), 969);
        // After the publisher's first sample, gaps in the ids show the losses, so `passed_over` has no effect.
        assert_eq!(sequences.arrived(A, 1011, 10).1, Arrival::New { missed: 10 });
    }

    #[test]
    fn a_publisher_known_from_its_first_sample_is_charged_for_it() {
        let mut sequences = Sequences::new(true, u64::MAX);
        assert_eq!(sequences.arrived(A, 4, 0).1, Arrival::New { missed: 3 });
        assert_eq!(sequences.before_matched(), 0);
        assert_eq!(sequences.arrived(A, 2, 0).1, Arrival::Reordered);
    }

    #[test]
    fn the_window_is_64_wide() {
        let mut sequences = Sequences::new(true, u64::MAX);
        assert_eq!(sequences.arrived(A, 100, 0).1, Arrival::New { missed: 99 });
        assert_eq!(sequences.arrived(A, 37, 0).1, Arrival::Reordered);
        assert_eq!(sequences.arrived(A, 36, 0).1, Arrival::Duplicate);
        assert_eq!(sequences.arrived(A, 1000, 0).1, Arrival::New { missed: 899 });
        assert_eq!(sequences.arrived(A, 100, 0).1, Arrival::Duplicate);
    }

    #[test]
    fn ids_of_32_bits_go_on_after_the_last_one() {
        let last_id = u64::from(u32::MAX);
        let mut sequences = Sequences::new(false, last_id);
        assert_eq!(sequences.arrived(A, last_id - 1, 0), (last_id - 1, Arrival::New { missed: 0 }));
        assert_eq!(sequences.arrived(A, 1, 0), (last_id + 2, Arrival::New { missed: 2 }));
        assert_eq!(sequences.arrived(A, last_id, 0), (last_id, Arrival::Reordered));
        assert_eq!(sequences.arrived(A, 0, 0), (last_id + 1, Arrival::Reordered));
        assert_eq!(sequences.arrived(A, 0, 0), (last_id + 1, Arrival::Duplicate));
        assert_eq!(sequences.last_seen(), last_id + 2);
    }

    #[test]
    fn an_absurd_id_is_no_overflow() {
        let mut sequences = Sequences::new(true, u64::MAX);
        assert_eq!(sequences.arrived(A, u64::MAX, 0).1, Arrival::New { missed: u64::MAX - 1 });
        assert_eq!(sequences.arrived(A, 0, 0).0, u64::MAX);
        assert_eq!(sequences.arrived(B, 0, 9).1, Arrival::New { missed: 0 });
        assert_eq!(sequences.arrived(B, u64::MAX, 0).0, 0);
    }
}
