//! Models of samples that travel in the entries of the ring, which are written again while a reader copies them.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::Subscription,
    world::World,
};
use crate::protocol::{layout::READER_ACTIVE, sync::Site};
use loom::thread;
use std::sync::Arc;

/// A model with a ring of two entries: the third sample is written over the first while the reader copies the first.
pub(super) const OVERWRITTEN: Model = Model {
    run: || run(|publisher| (0..2).for_each(|_| publisher.publish_inline())),
    preemptions: Some(3),
    needs: &[
        Site::EntryStore,
        Site::EntryLook,
        Site::OverwriteMark,
        Site::OverwriteFence,
        Site::RecheckFence,
        Site::Recheck,
    ],
};

/// A model in which the wall clock is set before samples 1 and 4. Each of the two samples then needs another shift in
/// the header. The publisher cannot store the second shift there while the reader may copy the sample with the first
/// one.
pub(super) const CLOCK_SET: Model = Model {
    run: || {
        let shift_ns = |sequence| match sequence {
            1 => 1 << 40,
            4 => 2 << 40,
            _ => 0,
        };
        let world = World::new(&Arc::default(), 2, 2);
        let mut publisher = Publisher::new(&world, keep_last(1));
        publisher.publish_inline_after(shift_ns);
        let mut subscription = Subscription::join(&world, READER_ACTIVE, 2, true);
        publisher.discover();
        thread::spawn(move || {
            publisher.publish_inline();
            publisher.publish_inline_after(|_| 2 << 40); // no room for its wall time, so it is not inline
            publisher.publish_inline();
            publisher.publish_inline_after(shift_ns);
        });
        if let Some(sample) = subscription.take() {
            assert_eq!(sample.wall_shift_ns, shift_ns(sample.sequence), "another sample's wall time");
            sample.read();
        }
    },
    preemptions: Some(2),
    needs: &[Site::RenewedUnused, Site::RecheckFence],
};

/// A model in which the entries of inline samples are overwritten with samples in slots.
pub(super) const MIXED: Model = Model {
    run: || {
        run(|publisher| {
            publisher.publish();
            publisher.publish();
        });
    },
    preemptions: Some(3),
    needs: &[Site::OverwriteFence, Site::RecheckFence],
};

/// A model in which the ring is replaced while the reader copies an inline sample.
pub(super) const GROWTH: Model = Model {
    run: || {
        run(|publisher| {
            publisher.grow_ring();
            (0..2).for_each(|_| publisher.publish_inline());
        });
    },
    preemptions: Some(3),
    needs: &[Site::MovedStore],
};

/// Runs a model: sample 1 is published inline; then the reader takes while the publisher continues.
fn run(publish: fn(&mut Publisher)) {
    let world = World::new(&Arc::default(), 2, 2);
    let mut publisher = Publisher::new(&world, keep_last(1));
    publisher.publish_inline();
    let mut subscription = Subscription::join(&world, READER_ACTIVE, 2, true);
    publisher.discover();
    thread::spawn(move || publish(&mut publisher));
    if let Some(sample) = subscription.take() {
        sample.read();
    }
}
