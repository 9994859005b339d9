//! Models of a sleep until there is news, and of the wake-up.

use super::{
    check::Model,
    publisher::{Publisher, keep_last},
    subscription::Subscription,
    world::{Board, READER_BELL, World},
};
use crate::protocol::{
    collect,
    layout::{READER_ACTIVE, WAITER_AWAKE},
    send::Outbox,
    sleep::{self, SHARED_WAITER, WaiterIndex},
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

/// The same on the shared waiter line, whose bit publishers withdraw.
pub(super) const SHARED: Model = Model {
    run: || publishers(2, SHARED_WAITER),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A sleeper that waits for a publisher to join.
pub(super) const JOINER: Model = Model {
    run: || {
        let board = Arc::<Board>::default();
        let joiner = board.clone();
        thread::spawn(move || joiner.lines().changed(sleep::Side::Publishers));
        wait(&board, READER_BELL, || board.topic.publishers_generation.load(Relaxed) == 1);
    },
    preemptions: None,
    needs: &[Site::NewsFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// One publisher, one collector.
pub(super) const COLLECT: Model = Model {
    run: || collector(1, 1),
    preemptions: None,
    needs: &[Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// Two publishers, one collector: the second may find the bit set.
pub(super) const COLLECT_TWO: Model = Model {
    run: || collector(2, 1),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::CollectFence, Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook],
};

/// One publisher that publishes again before the first bit is collected, or after.
pub(super) const COLLECT_AGAIN: Model = Model {
    run: || collector(1, 2),
    preemptions: Some(3),
    needs: &[Site::CollectFence, Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook],
};

/// An asynchronous publisher, the sender, one sleeper: the sender may see both samples at once, or wake for the first while the
/// second is published.
pub(super) const SENDER: Model = Model {
    run: || {
        let (board, outbox) = (Arc::<Board>::default(), Arc::<Outbox>::default());
        let world = World::new(&board, 2, 4);
        let mut publisher = Publisher::asynchronous(&world, keep_last(2), Some(outbox.clone()));
        let mut subscription = Subscription::join(&world, READER_ACTIVE, 2, true);
        publisher.discover();
        thread::spawn(move || (0..2).for_each(|_| assert!(publisher.publish())));
        let its_board = board.clone();
        thread::spawn(move || {
            let mut seen = 0;
            while seen < 2 {
                match outbox.take_news(&mut seen) {
                    Some(fenced) => its_board.lines().wake(fenced),
                    None => thread::yield_now(),
                }
            }
        });
        for _ in 0..2 {
            wait(&board, READER_BELL, || subscription.has_news());
            subscription.take().unwrap().read();
        }
    },
    preemptions: Some(2),
    needs: &[Site::OutboxStore, Site::SenderFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

fn publishers(count: usize, waiter: WaiterIndex) {
    let board = Arc::<Board>::default();
    let mut subscriptions: Vec<Subscription> = (0..count)
        .map(|_| {
            let world = World::new(&board, 1, 2);
            let mut publisher = Publisher::new(&world, keep_last(1));
            let subscription = Subscription::join(&world, READER_ACTIVE, 1, true);
            publisher.discover();
            thread::spawn(move || publisher.publish());
            subscription
        })
        .collect();
    while !subscriptions.is_empty() {
        wait(&board, waiter, || subscriptions.iter().any(|subscription| subscription.has_news()));
        subscriptions.retain_mut(|subscription| subscription.take().map(|sample| sample.read()).is_none());
    }
}

/// The steps of `Collector`, for publishers that publish so many samples each.
fn collector(publishers: usize, samples: usize) {
    let board = Arc::<Board>::default();
    let line = board.waiter(READER_BELL);
    line.state.store(WAITER_AWAKE, Relaxed);
    sleep::enter(once(&board.topic.sleepers), READER_BELL);
    let mut subscriptions: Vec<Subscription> = (0..publishers)
        .map(|_| {
            let world = World::new(&board, samples, (2 * samples).next_power_of_two());
            let mut publisher = Publisher::new(&world, keep_last(samples));
            let subscription = Subscription::join(&world, READER_ACTIVE, samples as u32, true);
            publisher.discover();
            thread::spawn(move || (0..samples).for_each(|_| assert!(publisher.publish())));
            subscription
        })
        .collect();
    let mut missing = publishers * samples;
    while missing > 0 {
        // Topics are looked at only if a bit is set.
        if collect::collect(line).iter().any(|&bits| bits != 0) {
            for subscription in &mut subscriptions {
                // As `Connection::take`, which does not pin before a look finds something.
                while subscription.has_news() {
                    let Some(sample) = subscription.take() else { break };
                    sample.read();
                    missing -= 1;
                }
            }
        } else {
            collect::sleep(line, Duration::MAX, || false);
        }
    }
}

/// The steps of `Waiter`, without the spin.
fn wait(board: &Board, waiter: WaiterIndex, look: impl Fn() -> bool) {
    while !look() {
        let bell = board.bell(waiter);
        let rings = bell.rings();
        sleep::sleep(bell, rings, waiter, once(&board.topic.sleepers), Duration::MAX, &look);
    }
}
