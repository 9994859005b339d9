//! The listener: the thread that calls the `on_new_message` callbacks of subscriptions, services and clients.
//!
//! Samples come without a thread of this process, so one has to wait for them. It is started for the first callback of
//! a context.

use super::source::AnySource;
use crate::{
    failure::{Failure, Result},
    lock::lock,
};
use gantry::{Attachment, Bell, Collector};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::{self, JoinHandle},
};

/// The handle of the thread, which ends with it.
pub struct Listener {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A source, by its number, whose callback was set, or removed (`None`).
struct Changed(u64, Option<Weak<dyn AnySource>>);

struct Shared {
    /// Sources whose callbacks were set or removed since the thread looked.
    changed: Mutex<Vec<Changed>>,
    has_changes: AtomicBool,
    is_ending: AtomicBool,
    bell: Bell,
}

impl Listener {
    /// Starts the thread.
    pub fn start(domain_id: u32) -> Result<Listener> {
        let collector = Collector::join(domain_id)?;
        let shared = Arc::new(Shared {
            changed: Mutex::default(),
            has_changes: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            bell: collector.bell(),
        });
        let of_thread = shared.clone();
        let thread = thread::Builder::new().name("rmw-listener".to_owned());
        let run = move || Thread { shared: of_thread, collector, sources: BTreeMap::new() }.run();
        let thread = gantry::with_signals_blocked(|| thread.spawn(run))
            .map_err(|error| Failure::error(format_args!("no thread for the callbacks could be started: {error}")))?;
        Ok(Listener { shared, thread: Some(thread) })
    }

    /// Has the callback of a source called for its messages from now on.
    pub fn add(&self, source: &Arc<dyn AnySource>) {
        self.change(source.id(), Some(Arc::downgrade(source)));
    }

    /// Ends that. The source may be called until its callback is removed.
    pub fn remove(&self, source: u64) {
        self.change(source, None);
    }

    fn change(&self, id: u64, source: Option<Weak<dyn AnySource>>) {
        lock(&self.shared.changed).push(Changed(id, source));
        self.shared.has_changes.store(true, Release); // partner: `Shared::has_news`
        self.shared.bell.ring();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Release); // partner: `Shared::has_news`
        self.shared.bell.ring();
        if let Some(thread) = self.thread.take() {
            // A callback that panicked cannot be helped here. The last callback may have dropped this on its own
            // thread.
            let _ = (thread.thread().id() != thread::current().id()).then(|| thread.join());
        }
    }
}

impl Shared {
    fn has_news(&self) -> bool {
        self.has_changes.load(Acquire) || self.is_ending.load(Acquire)
    }
}

/// The state of the thread.
struct Thread {
    shared: Arc<Shared>,
    collector: Collector,
    sources: BTreeMap<u64, (Weak<dyn AnySource>, Option<Attachment>)>,
}

impl Thread {
    fn run(mut self) {
        while !self.shared.is_ending.load(Acquire) {
            self.apply_changes();
            let mut bits = [0u64; Collector::BITS.div_ceil(64)];
            self.collector.collect(|bit| bits[bit / 64] |= 1 << (bit % 64));
            for (source, attachment) in self.sources.values() {
                // A source without an attachment is closed: it gets no more messages.
                let bit = attachment.as_ref().map(Attachment::bit);
                if bit.is_some_and(|bit| bits[bit / 64] & 1 << (bit % 64) != 0) {
                    tell(source);
                }
            }
            let shared = &self.shared;
            if self.collector.wait(None, || shared.has_news()).is_err() {
                return; // a forked child has no other threads, so this does not happen
            }
        }
    }

    fn apply_changes(&mut self) {
        self.shared.has_changes.store(false, Relaxed); // before the look: a later change stores it again
        let changes = std::mem::take(&mut *lock(&self.shared.changed));
        for Changed(id, source) in changes {
            if let Some((_, Some(attachment))) = self.sources.remove(&id) {
                self.collector.detach(attachment);
            }
            if let Some(source) = source
                && let Some(strong) = source.upgrade()
            {
                // It fails if the process forked, and then there is no such thread.
                let attachment = strong.attach(&mut self.collector).ok().flatten();
                self.sources.insert(id, (source.clone(), attachment));
                tell(&source); // after the attachment: what came before it has no bit
            }
        }
    }
}

/// Tells a source's callback of its new messages. The lock of the source is not held in the callback, which may take.
fn tell(source: &Weak<dyn AnySource>) {
    let Some(source) = source.upgrade() else { return };
    source.callback().tell_of(&*source);
}
