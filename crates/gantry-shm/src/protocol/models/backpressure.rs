//! Models of a KEEP_ALL publisher that waits for its reader.

use super::{check::Model, publisher::Publisher, subscription::Subscription, world::World};
use crate::protocol::{layout::READER_GATING, sync::Site, writer::Retention};
use loom::thread;
use std::sync::Arc;

/// A model in which samples 1 and 2 fill the history, and the publish of sample 3 waits until sample 1 is taken. No
/// sample may be lost, and no wait may be endless.
pub(super) const GATE: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 4, 4);
        let mut publisher = Publisher::new(&world, keep_all(2));
        let mut subscription = Subscription::join(&world, READER_GATING, 16, true);
        publisher.discover();
        publisher.publish();
        publisher.publish();
        thread::spawn(move || while publisher.writer.history.head() < 4 && publisher.publish() {});
        for expected in 1..=2 {
            let sample = subscription.take();
            subscription.ring_blocked_publisher();
            assert_eq!(sample.map(|sample| sample.read()), Some(expected), "a lost sample");
        }
    },
    preemptions: Some(4),
    needs: &[Site::CursorAfterHold, Site::CursorFence, Site::BlockFence, Site::RingCounts],
};

/// A model in which a reader joins while the publisher publishes; the publisher's ring has one entry more than its
/// history. After the match, the reader must get all samples.
pub(super) const JOIN: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 3, 2);
        let mut publisher = Publisher::new(&world, keep_all(1));
        publisher.publish();
        thread::spawn(move || while publisher.writer.history.head() < 4 && publisher.publish() {});
        let mut subscription = Subscription::join(&world, READER_GATING, 16, true);
        let mut last = None;
        for _ in 0..3 {
            let is_matched = subscription.reader.seen_generation() > 0;
            let taken = subscription.take();
            subscription.ring_blocked_publisher();
            let Some(sequence) = taken.map(|sample| sample.read()) else { continue };
            assert!(last.is_none_or(|last| sequence == last + 1), "a lost sample");
            last = is_matched.then_some(sequence);
        }
        subscription.leave();
    },
    preemptions: Some(2),
    needs: &[Site::CursorFence, Site::PublishFence],
};

/// A model of a joiner that wants only new samples. The joiner must not block the publisher for older samples, although
/// its cursor is 0 until its start is chosen.
pub(super) const JOIN_IDLE: Model = Model {
    run: || {
        let world = World::new(&Arc::default(), 2, 2);
        let mut publisher = Publisher::new(&world, keep_all(1));
        publisher.publish();
        thread::spawn(move || publisher.publish());
        Subscription::join(&world, READER_GATING, 16, false);
    },
    preemptions: None,
    needs: &[Site::CursorFence, Site::BlockFence, Site::RingCounts],
};

/// The retention of a KEEP_ALL publisher with a history of `samples`.
fn keep_all(samples: usize) -> Retention {
    let (guaranteed, initial, bytes) = (samples, samples, usize::MAX);
    Retention { guaranteed, initial, samples, bytes, is_keep_all: true, is_gated: true, grows: false }
}
