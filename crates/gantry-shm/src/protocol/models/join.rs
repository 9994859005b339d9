//! Models of a reader that joins while the publisher publishes and reclaims.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::{Subscription, publish_record, raise_generation},
    world::World,
};
use crate::protocol::{layout::READER_ACTIVE, reader::Start, sync::Site};
use loom::thread;
use std::sync::Arc;

/// A model in which the publisher's roster is empty at first: the publisher reclaims only after the joining reader
/// is in the roster.
pub(super) const JOIN: Model = Model {
    run: || run(3, false, |world| Subscription::join(world, READER_ACTIVE, 1, true)),
    preemptions: Some(3),
    needs: &[Site::GenerationLook, Site::PublishFence, Site::PinFence, Site::PinsLook, Site::Unpin],
};

/// Wrong orders of steps on the control path, each with the name of the mistake. With each mistake, the model must
/// fail. The publisher that reads the records too early fails only at the second reclaim.
pub(super) const MISTAKES: &[(&str, fn())] = &[
    ("the generation is raised before the record can be found", || {
        run(4, false, |world| {
            raise_generation(world);
            publish_record(world, READER_ACTIVE, 1);
            Subscription::begin(world, world.ring(), 1, Start::History(1))
        });
    }),
    ("the generation is not raised", || {
        run(4, false, |world| {
            publish_record(world, READER_ACTIVE, 1);
            Subscription::begin(world, world.ring(), 1, Start::History(1))
        });
    }),
    ("records are looked for before the generation", || {
        run(4, true, |world| Subscription::join(world, READER_ACTIVE, 1, true))
    }),
];

/// Runs a model: sample 1 is published; the publisher then publishes up to sample `last`: sample 3 needs the slot of
/// sample 1, and sample 4 needs the slot of sample 2.
fn run(last: u64, looks_early: bool, join: fn(&Arc<World>) -> Subscription) {
    let world = World::new(&Arc::default(), 2, 2);
    let mut publisher = Publisher::new(&world, keep_last(1));
    publisher.looks_early = looks_early;
    publisher.publish();
    if looks_early {
        raise_generation(&world); // as if another reader had joined, so that the publisher looks
    }
    thread::spawn(move || while publisher.writer.history.head() < last && publisher.publish() {});
    if let Some(sample) = join(&world).take() {
        sample.read();
    }
}
