//! Listeners: a thread for each domain, which waits for samples, requests and replies, and hands them to the sessions.
//!
//! It sleeps in Gantry and wakes up for the first message; it sends itself what it takes, so no other thread has to
//! wake up.

use crate::{
    context::{ClientCell, Context},
    lock::lock,
    threads,
};
use gantry::{Attachment, Bell, Collector, Node};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::*},
    },
    thread::JoinHandle,
};

/// The handle of the thread, which ends soon after it.
pub struct Listener {
    shared: Arc<Shared>,
}

/// An outlet, by its number, that came, or went (`None`).
struct Changed(u64, Option<Weak<ClientCell>>);

struct Shared {
    changed: Mutex<Vec<Changed>>,
    has_changes: AtomicBool,
    is_ending: AtomicBool,
    bell: Bell,
}

impl Listener {
    /// Starts the thread for the domain of `node`.
    pub fn start(node: &Node, context: Weak<Context>) -> Result<(Listener, JoinHandle<()>), String> {
        let collector = Collector::new(node).map_err(|error| error.to_string())?;
        let shared = Arc::new(Shared {
            changed: Mutex::default(),
            has_changes: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            bell: collector.bell(),
        });
        let of_thread = shared.clone();
        let thread = Thread { shared: of_thread, context, collector, outlets: BTreeMap::new() };
        let thread = threads::spawn(format!("listener-{}", node.domain_id()), move || thread.run())
            .map_err(|error| format!("no thread for domain {} could be started: {error}", node.domain_id()))?;
        Ok((Listener { shared }, thread))
    }

    /// A number for a new outlet, which no other one has.
    pub fn next_number(&self) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LAST.fetch_add(1, Relaxed) + 1 // only the number matters
    }

    /// Waits for the messages of a client's outlet, too.
    pub fn add(&self, number: u64, client: Weak<ClientCell>) {
        self.change(number, Some(client));
    }

    /// Ends that.
    pub fn remove(&self, number: u64) {
        self.change(number, None);
    }

    fn change(&self, number: u64, client: Option<Weak<ClientCell>>) {
        lock(&self.shared.changed).push(Changed(number, client));
        self.shared.has_changes.store(true, Release); // partner: `Shared::has_news`
        self.shared.bell.ring();
    }

    /// Ends the thread, but does not wait for it.
    pub fn end(&self) {
        self.shared.is_ending.store(true, Release); // partner: `Shared::has_news`
        self.shared.bell.ring();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end();
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
    context: Weak<Context>,
    collector: Collector,
    outlets: BTreeMap<u64, (Weak<ClientCell>, Option<Attachment>)>,
}

impl Thread {
    fn run(mut self) {
        // After a shutdown of the program, waits end at once.
        while !self.shared.is_ending.load(Acquire) && gantry::ok() {
            self.apply_changes();
            let mut bits = [0u64; Collector::BITS.div_ceil(64)];
            let mut has_news = false;
            self.collector.collect(|bit| {
                has_news = true;
                if let Some(word) = bits.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            });
            if has_news {
                self.tell(&bits);
            }
            let shared = &self.shared;
            if self.collector.wait(None, || shared.has_news()).is_err() {
                return; // a forked child has no other threads, so this does not happen
            }
        }
    }

    fn tell(&self, bits: &[u64]) {
        let Some(context) = self.context.upgrade() else { return };
        for (&number, (client, attachment)) in &self.outlets {
            let is_named = attachment.as_ref().is_some_and(|attachment| {
                let bit = attachment.bit();
                bits.get(bit / 64).is_some_and(|word| word & 1 << (bit % 64) != 0)
            });
            if is_named && let Some(client) = client.upgrade() {
                lock(&client).has_news(number, &context);
            }
        }
    }

    fn apply_changes(&mut self) {
        self.shared.has_changes.store(false, Relaxed); // before the look: a later change stores it again
        let changes = std::mem::take(&mut *lock(&self.shared.changed));
        for Changed(number, client) in changes {
            if let Some((_, Some(attachment))) = self.outlets.remove(&number) {
                self.collector.detach(attachment);
            }
            let Some((context, weak)) = self.context.upgrade().zip(client) else { continue };
            if let Some(client) = weak.upgrade() {
                let mut client = lock(&client);
                if let Some(attachment) = client.attach(number, &mut self.collector) {
                    self.outlets.insert(number, (weak, attachment));
                    client.has_news(number, &context); // after the attachment: what came before it has no bit
                }
            }
        }
    }
}
