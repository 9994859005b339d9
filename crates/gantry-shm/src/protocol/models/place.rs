//! Model of a place: one thread takes samples into it, another thread reads and drops them.

use super::check::Model;
use crate::protocol::{place::InUse, sync::Site};
use loom::{cell::UnsafeCell, thread};
use std::sync::Arc;

/// A model in which a place is used again as soon as the sample in it is dropped.
pub(super) const USED_AGAIN: Model = Model { run, preemptions: None, needs: &[Site::PlaceEnd, Site::PlaceLook] };

/// The number of samples that the thread tries to take, each of which may find the place used or free.
const TAKES: u64 = 2;

#[derive(Default)]
struct Place {
    in_use: InUse,
    copy: UnsafeCell<u64>,
}

// SAFETY: loom reports any access to the cell that the protocol does not allow.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Place {}

impl Place {
    /// Writes the place like a take; fails if the last sample may be read at the same time.
    fn take(&self, sequence: u64) {
        // SAFETY: loom reports any concurrent access.
        self.copy.with_mut(|copy| unsafe { *copy = sequence });
        self.in_use.begin();
    }

    /// Ends the use of the place like the drop of a sample, after the last read.
    fn drop_sample(&self, sequence: u64) {
        // SAFETY: as above.
        assert_eq!(self.copy.with(|copy| unsafe { *copy }), sequence, "another sample's copy");
        self.in_use.end();
    }
}

fn run() {
    let place = Arc::new(Place::default());
    for sequence in 1..=TAKES {
        if place.in_use.is_over() {
            place.take(sequence);
            let place = place.clone();
            thread::spawn(move || place.drop_sample(sequence));
        }
    }
}
