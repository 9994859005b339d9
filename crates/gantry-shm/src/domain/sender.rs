//! The sender thread of a participant. It wakes the readers of asynchronous publishers, so that publishing makes no
//! system call.
//!
//! The first asynchronous publisher starts the thread. Each publisher stores the sequence of its newest sample in an
//! [`Outbox`], and the thread polls all outboxes. If such checks have found samples lately, the thread continues to
//! check for a bounded time; then it sleeps for the shortest period of its publishers. No publisher wakes the thread
//! for a sample, so a sleeping reader is woken at most one period later (plus the scheduler's delay). Without
//! asynchronous publishers, the thread sleeps until one is added. Invariant T1 of `control` also holds here: the thread
//! keeps the domain, never the participant.

use crate::{
    domain::{Domain, board::TopicIndex},
    error::{Error, Result},
    os::{signals, spin::Spin},
    protocol::send::Outbox,
};
use std::{
    num::NonZeroU64,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::JoinHandle,
    time::Duration,
};

/// The allowed periods. A sleep takes at least 1 µs, so no shorter period is possible; a longer period would save
/// nothing.
pub(crate) const PERIODS: std::ops::RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_secs(1);
/// The stack size of the thread, which makes no deep calls.
const STACK_BYTES: usize = 256 << 10;

/// An asynchronous publisher, as the sender thread sees it. When only this struct still has a reference to the outbox,
/// the publisher is gone.
struct AsyncPublisher {
    outbox: Arc<Outbox>,
    topic: TopicIndex,
    period: Duration,
    /// The sequence of the newest sample for which readers were woken.
    seen: u64,
}

#[derive(Default)]
struct SenderState {
    stop: AtomicBool,
    publishers: Mutex<Vec<AsyncPublisher>>,
}

/// The handle of a sender thread; dropping the handle ends the thread.
pub(crate) struct Sender {
    domain: Arc<Domain>,
    shared: Arc<SenderState>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    /// Starts the thread.
    pub(crate) fn start(domain: Arc<Domain>) -> Result<Sender> {
        let shared = Arc::<SenderState>::default();
        let thread = std::thread::Builder::new().name("gantry-sender".to_owned()).stack_size(STACK_BYTES);
        let (its_domain, its_shared) = (domain.clone(), shared.clone());
        let thread = signals::with_signals_blocked(|| thread.spawn(move || run(&its_domain, &its_shared)))
            .map_err(|e| Error::system("start the sender thread", e))?;
        Ok(Sender { domain, shared, thread: Some(thread) })
    }

    /// Adds an outbox: the thread wakes readers of `topic` for each sample in it, for as long as the caller keeps the
    /// outbox.
    pub(crate) fn add(&self, topic: TopicIndex, period: Duration) -> Arc<Outbox> {
        let outbox = Arc::<Outbox>::default();
        let publisher = AsyncPublisher { outbox: outbox.clone(), topic, period, seen: 0 };
        self.shared.publishers.lock().unwrap_or_else(PoisonError::into_inner).push(publisher);
        self.wake();
        outbox
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if self.domain.epoch.is_current() {
            self.shared.stop.store(true, Release);
            self.wake();
        }
        let Some(thread) = self.thread.take() else { return };
        if self.domain.epoch.is_current() {
            // A panic of the thread was printed already.
            let _ = thread.join();
        } else {
            std::mem::forget(thread); // there is no such thread in a forked child
        }
    }
}

fn run(domain: &Domain, shared: &SenderState) {
    // Without this call, the kernel would add 50 µs to each sleep. If the call fails, each wake-up is 50 µs late.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut spin = Spin::new();
    while !shared.stop.load(Acquire) {
        let (found, period) = wake_readers(domain, shared);
        if found || spin.until(&mut || wake_readers(domain, shared).0) {
            continue;
        }
        match period {
            Some(period) => std::thread::park_timeout(period),
            None => std::thread::park(),
        }
    }
}

/// Wakes the sleepers of all topics with new samples. Returns whether there were new samples, and the time to sleep
/// if no more samples come; the time is `None` if there is no publisher.
fn wake_readers(domain: &Domain, shared: &SenderState) -> (bool, Option<Duration>) {
    let (mut found, mut period) = (false, None::<Duration>);
    shared.publishers.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|publisher| {
        if let Some(fenced) = publisher.outbox.take_news(&mut publisher.seen) {
            domain.board.wake(publisher.topic, fenced);
            found = true;
        }
        // The drop of a publisher wakes all sleepers itself, so no wake-up is lost.
        let is_there = Arc::strong_count(&publisher.outbox) > 1;
        if is_there {
            period = Some(period.unwrap_or(publisher.period).min(publisher.period));
        }
        is_there
    });
    (found, period)
}
