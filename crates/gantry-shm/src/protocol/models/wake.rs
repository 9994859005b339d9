//! Sleeping until there is news, and being woken.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::Subscription,
    world::{Board, READER_BELL, World},
};
use crate::{
    layout::ROW_ACTIVE,
    protocol::sleep::{self, SHARED_WAITER, WaiterIndex},
    sync::{Ordering::Relaxed, Site},
};
use loom::thread;
use std::{iter::once, sync::Arc, time::Duration};

/// One publisher, one sleeper.
pub(super) const ONE: Model = Model {
    run: || publishers(1, READER_BELL),
    preemptions: None,
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// Two publishers, one sleeper that waits for both.
pub(super) const TWO: Model = Model {
    run: || publishers(2, READER_BELL),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// The same on the line that many share, whose announcement publishers take back.
pub(super) const SHARED: Model = Model {
    run: || publishers(2, SHARED_WAITER),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A sleeper that waits for somebody to join.
pub(super) const JOINER: Model = Model {
    run: || {
        let board = Arc::<Board>::default();
        let joiner = board.clone();
        thread::spawn(move || {
            sleep::topic_changed(&joiner.topic, sleep::Side::Publishers, |waiter| joiner.bell(waiter).ring())
        });
        wait(&board, READER_BELL, || board.topic.publishers_generation.load(Relaxed) == 1);
    },
    preemptions: None,
    needs: &[Site::NewsFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

fn publishers(count: usize, waiter: WaiterIndex) {
    let board = Arc::<Board>::default();
    let mut subscriptions: Vec<Subscription> = (0..count)
        .map(|_| {
            let world = World::new(&board, 1, 2);
            let mut publisher = Publisher::new(&world, keep_last(1));
            let subscription = Subscription::join(&world, ROW_ACTIVE, 1, true);
            publisher.find_readers();
            thread::spawn(move || publisher.publish());
            subscription
        })
        .collect();
    while !subscriptions.is_empty() {
        wait(&board, waiter, || subscriptions.iter().any(|subscription| subscription.has_news()));
        subscriptions.retain_mut(|subscription| subscription.take().map(|sample| sample.read()).is_none());
    }
}

/// What `Waiter::wait` does, without the spin.
fn wait(board: &Board, waiter: WaiterIndex, look: impl Fn() -> bool) {
    while !look() {
        let bell = board.bell(waiter);
        let rings = bell.rings();
        sleep::sleep(bell, rings, waiter, once(&board.topic.sleepers), Duration::MAX, &look);
    }
}
