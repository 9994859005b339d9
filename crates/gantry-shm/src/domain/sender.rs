//! The sender thread of a participant: wakes the readers of asynchronous publishers, whose publish then makes no system call.
//!
//! Started by `participant` with the first such publisher. It learns of samples by looking: each publisher stores the sequence
//! of its newest sample in an [`Outbox`]; the thread looks at all of them, goes on looking for a bounded time if that has
//! helped lately, then sleeps for the shortest period that one of the publishers stated. Nobody rings it for a sample, so a
//! reader that sleeps hears of one a period later at most (and what the scheduler adds). While there is no such publisher, it
//! sleeps for good. Invariant T1 as in `control`: it keeps the domain, never the participant.

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

/// What a period may be: shorter ones would be longer in truth, since a sleep takes that long; longer ones help nobody.
pub(crate) const PERIODS: std::ops::RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_secs(1);
/// It calls no deep functions.
const STACK_BYTES: usize = 256 << 10;

/// A publisher, as the sender knows it; it is gone when nobody else has its outbox.
struct Client {
    outbox: Arc<Outbox>,
    topic: TopicIndex,
    period: Duration,
    /// Up to here readers were woken.
    seen: u64,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    clients: Mutex<Vec<Client>>,
}

/// The thread's handle; dropping it ends the thread.
pub(crate) struct Sender {
    domain: Arc<Domain>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    /// Starts the thread.
    pub(crate) fn start(domain: Arc<Domain>) -> Result<Sender> {
        let shared = Arc::<Shared>::default();
        let thread = std::thread::Builder::new().name("gantry-sender".to_owned()).stack_size(STACK_BYTES);
        let (its_domain, its_shared) = (domain.clone(), shared.clone());
        let thread = signals::while_blocked(|| thread.spawn(move || run(&its_domain, &its_shared)))
            .map_err(|e| Error::system("start the sender thread", e))?;
        Ok(Sender { domain, shared, thread: Some(thread) })
    }

    /// From here on readers of `topic` are woken for what is announced in the outbox, for as long as the caller keeps it.
    pub(crate) fn add(&self, topic: TopicIndex, period: Duration) -> Arc<Outbox> {
        let outbox = Arc::new(Outbox::new());
        let client = Client { outbox: outbox.clone(), topic, period, seen: 0 };
        self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        self.call();
        outbox
    }

    fn call(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if self.domain.epoch.is_current() {
            self.shared.stop.store(true, Release);
            self.call();
        }
        let Some(thread) = self.thread.take() else { return };
        if self.domain.epoch.is_current() {
            // A panic there has been printed; nothing is left to be done for it.
            let _ = thread.join();
        } else {
            std::mem::forget(thread); // there is no such thread in a forked child
        }
    }
}

fn run(domain: &Domain, shared: &Shared) {
    // The kernel would add 50 µs to each sleep. If it does, the sender is that much later.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut spin = Spin::new();
    while !shared.stop.load(Acquire) {
        let (found, period) = wake_readers(domain, shared);
        if found || spin.finds(&mut || wake_readers(domain, shared).0) {
            continue;
        }
        match period {
            Some(period) => std::thread::park_timeout(period),
            None => std::thread::park(),
        }
    }
}

/// Wakes who sleeps on a topic with new samples. Whether there were any, and how long to sleep if there are no more; `None`:
/// there is no publisher.
fn wake_readers(domain: &Domain, shared: &Shared) -> (bool, Option<Duration>) {
    let (mut found, mut period) = (false, None::<Duration>);
    shared.clients.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|client| {
        if client.outbox.has_news(&mut client.seen) {
            domain.board.wake(client.topic);
            found = true;
        }
        // A publisher that goes away wakes everybody itself, so nothing of it is left unsaid.
        let is_there = Arc::strong_count(&client.outbox) > 1;
        if is_there {
            period = Some(period.unwrap_or(client.period).min(client.period));
        }
        is_there
    });
    (found, period)
}
