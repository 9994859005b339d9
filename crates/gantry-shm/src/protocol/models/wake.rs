//! Models of a thread that sleeps until there is news, and of its wake-up.

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
use loom::{
    sync::{Condvar, Mutex},
    thread,
};
use std::{iter::once, sync::Arc, time::Duration};

/// A model of one publisher and one sleeper.
pub(super) const ONE: Model = Model {
    run: || publishers(1, READER_BELL),
    preemptions: None,
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A model of two publishers and one sleeper that waits for both.
pub(super) const TWO: Model = Model {
    run: || publishers(2, READER_BELL),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// The model [`TWO`] on the shared waiter line, whose bit publishers withdraw.
pub(super) const SHARED: Model = Model {
    run: || publishers(2, SHARED_WAITER),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::SleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A model of a sleeper that waits for a publisher to join.
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

/// A model of one publisher and one collector.
pub(super) const COLLECT: Model = Model {
    run: || collector(1, 1),
    preemptions: None,
    needs: &[Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A model of two publishers and one collector: the second publisher may find the bit set already.
pub(super) const COLLECT_TWO: Model = Model {
    run: || collector(2, 1),
    preemptions: Some(3),
    needs: &[Site::PublishFence, Site::CollectFence, Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook],
};

/// A model of one publisher that publishes again before or after the first bit is collected.
pub(super) const COLLECT_AGAIN: Model = Model {
    run: || collector(1, 2),
    preemptions: Some(3),
    needs: &[Site::CollectFence, Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook],
};

/// A model of a publisher and of two threads that share a collector: one thread runs a callback until the other
/// thread has begun to run the next callback.
pub(super) const COLLECT_SHARED: Model = Model {
    run: || shared_collector(2),
    preemptions: Some(3),
    needs: &[Site::ReadyFence, Site::AsleepFence, Site::HandOverFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// The model [`COLLECT_SHARED`] with one callback: when the callback ends, both threads must end, and one of them may
/// be asleep.
pub(super) const COLLECT_SHARED_END: Model = Model {
    run: || shared_collector(1),
    preemptions: Some(3),
    needs: &[Site::ReadyFence, Site::AsleepFence, Site::RingsBeforeLook, Site::RingCounts],
};

/// A model of an asynchronous publisher, the sender thread and one sleeper: the sender may see both samples at once, or
/// wake the sleeper for the first sample while the second is published.
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

/// Runs the steps of `Collector`, with publishers that publish `samples` samples each.
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
        // The collector looks at topics only if a bit is set.
        if collect::collect(line).iter().any(|&bits| bits != 0) {
            for subscription in &mut subscriptions {
                // `has_news` comes first because `Connection::take` does not pin before it sees an entry
                // with a sample.
                while subscription.has_news() {
                    let Some(sample) = subscription.take() else { break };
                    sample.read();
                    missing -= 1;
                }
            }
        } else {
            let rings = line.bell.rings();
            collect::sleep(line, rings, Duration::MAX, || false);
        }
    }
}

/// The state that the two threads of a pool share under their lock.
#[derive(Default)]
struct PoolState {
    /// The number of threads that sleep, or are about to sleep.
    asleep: usize,
    /// The number of changes that the threads have found; `begun` is the number of changes whose callbacks
    /// have begun.
    found: u64,
    begun: u64,
}

/// Runs two threads with the steps of a multi-threaded executor, and a topic of which one side changes `changes` times.
/// Each change is news for one callback.
fn shared_collector(changes: u64) {
    let board = Arc::<Board>::default();
    board.waiter(READER_BELL).state.store(WAITER_AWAKE, Relaxed);
    sleep::enter(once(&board.topic.sleepers), READER_BELL);
    let shared = Arc::new((Mutex::new(PoolState::default()), Condvar::new()));
    let joiner = board.clone();
    thread::spawn(move || {
        for _ in 0..changes {
            joiner.lines().changed(sleep::Side::Publishers);
        }
    });
    let (its_board, its_shared) = (board.clone(), shared.clone());
    thread::spawn(move || run_callbacks(changes, &its_board, &its_shared));
    run_callbacks(changes, &board, &shared);
}

/// Runs the steps of one thread. Each callback ends only after all callbacks have begun.
fn run_callbacks(callbacks: u64, board: &Board, (shared, all_begun): &(Mutex<PoolState>, Condvar)) {
    let line = board.waiter(READER_BELL);
    let mut state = shared.lock().unwrap();
    while state.begun < callbacks {
        // The thread looks at the topic only if the topic's bit is set.
        if collect::collect(line).iter().any(|&bits| bits != 0) {
            state.found = board.topic.publishers_generation.load(Relaxed);
        }
        if state.begun == state.found {
            state.asleep += 1;
            let rings = line.bell.rings();
            drop(state);
            collect::sleep(line, rings, Duration::MAX, || false);
            state = shared.lock().unwrap();
            state.asleep -= 1;
            continue;
        }
        state.begun += 1;
        match state.asleep {
            0 => {}
            _ if state.begun < state.found => line.bell.ring_one(),
            _ => collect::hand_over(line, || false),
        }
        while state.begun < callbacks {
            state = all_begun.wait(state).unwrap();
        }
    }
    drop(state);
    line.bell.ring(); // as the cancel of an executor does
    all_begun.notify_all();
}

/// Waits with the steps of `Waiter`, without the spin.
fn wait(board: &Board, waiter: WaiterIndex, look: impl Fn() -> bool) {
    while !look() {
        let bell = board.bell(waiter);
        let rings = bell.rings();
        sleep::sleep(bell, rings, waiter, once(&board.topic.sleepers), Duration::MAX, &look);
    }
}
