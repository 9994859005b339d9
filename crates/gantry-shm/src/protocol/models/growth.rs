//! Models of a ring that is replaced by a larger one.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::Subscription,
    world::World,
};
use crate::protocol::{layout::READER_ACTIVE, sync::Site, writer::Retention};
use loom::thread;
use std::sync::Arc;

/// A model in which a reader takes from the old ring while the ring is replaced.
pub(super) const GROWTH: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 2, 2);
        let mut publisher = Publisher::new(&world, keep_last(1));
        publisher.publish();
        let mut subscription = Subscription::join(&world, READER_ACTIVE, 1, true);
        publisher.discover();
        grow_and_publish(publisher);
        if let Some(sample) = subscription.take() {
            sample.read();
        }
    },
    preemptions: Some(4),
    needs: &[Site::MovedStore, Site::MovedMark, Site::PublishFence],
};

/// A model in which a reader joins while the ring is replaced.
pub(super) const JOIN: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 2, 2);
        let mut publisher = Publisher::new(&world, keep_last(1));
        publisher.publish();
        grow_and_publish(publisher);
        let mut subscription = Subscription::join(&world, READER_ACTIVE, 1, true);
        if let Some(sample) = subscription.take() {
            sample.read();
        }
    },
    preemptions: Some(4),
    needs: &[Site::DescriptorStore],
};

/// A model in which a reader joins whose depth is larger than all earlier depths. When the publisher is short of
/// slots, it discovers the reader and grows the ring.
pub(super) const DEEPER: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 3, 2);
        let mut publisher = Publisher::new(&world, Retention { samples: 2, ..keep_last(1) });
        publisher.publish();
        thread::spawn(move || while publisher.writer.history.head() < 4 && publisher.publish() {});
        let mut subscription = Subscription::join(&world, READER_ACTIVE, 2, true);
        for _ in 0..2 {
            if let Some(sample) = subscription.take() {
                sample.read();
            }
        }
    },
    preemptions: Some(3),
    needs: &[Site::MovedStore, Site::GenerationLook],
};

/// Replaces the ring and publishes. Sample 1 was published before, and its entry is copied; sample 2 retires sample 1
/// in the new ring, and sample 3 gets the slot of sample 1.
fn grow_and_publish(mut publisher: Publisher) {
    thread::spawn(move || {
        publisher.grow_ring();
        while publisher.writer.history.head() < 3 && publisher.publish() {}
    });
}
