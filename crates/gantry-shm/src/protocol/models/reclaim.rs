//! Models of take, pin, retire, reclaim and reuse of slots, with a reader that is in the roster from the beginning.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::Subscription,
    world::{Board, World},
};
use crate::protocol::{layout::READER_ACTIVE, sync::Site};
use loom::thread;
use std::sync::Arc;

/// A model with depth 1: in `publish`, each sample retires the sample before it.
pub(super) const IN_PUBLISH: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 2, 2);
        run(&world, 1, |publisher| publisher.publish());
    },
    preemptions: Some(4),
    needs: &[
        Site::EntryStore,
        Site::PublishFence,
        Site::PinFence,
        Site::DeadMark,
        Site::PinStore,
        Site::Unpin,
        Site::PinsLook,
    ],
};

/// The model [`IN_PUBLISH`] with more slots than are needed: the first sample's entry in the ring is written again
/// while a reader holds the sample's slot.
pub(super) const LINE_REUSED: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 3, 2);
        run(&world, 1, |publisher| publisher.publish());
    },
    preemptions: Some(4),
    needs: &[Site::RecheckFence],
};

/// A model with depth 2, in which a loan wants only one sample kept: samples are retired in `retire_and_reclaim`.
pub(super) const IN_LOAN: Model = Model {
    run: || {
        let world = World::new(&Arc::<Board>::default(), 2, 4);
        run(&world, 2, |publisher| {
            let Some(slot) = publisher.loan(1) else { return false };
            publisher.publish_slot(slot);
            true
        });
    },
    preemptions: None,
    needs: &[Site::RetireFence, Site::PinFence, Site::DeadMark, Site::PinStore, Site::Unpin, Site::PinsLook],
};

/// Runs a model: sample 1 is published; the publisher then publishes samples 2 and 3, and the reader takes twice. The
/// reader's depth is larger than the publisher grants, so that the reader does not skip dead samples only because it
/// has fallen behind.
fn run(world: &Arc<World>, depth: usize, publish: fn(&mut Publisher) -> bool) {
    let mut publisher = Publisher::new(world, keep_last(depth));
    publish(&mut publisher);
    let mut subscription = Subscription::join(world, READER_ACTIVE, 2, true);
    publisher.discover();
    thread::spawn(move || while publisher.writer.history.head() < 3 && publish(&mut publisher) {});
    for _ in 0..2 {
        if let Some(sample) = subscription.take() {
            sample.read();
        }
    }
}
