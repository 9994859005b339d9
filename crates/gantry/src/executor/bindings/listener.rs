//! A listener: a thread that waits for samples of many sources and calls the owners of these sources.
//!
//! Only the listener's thread uses the collector. Other threads store their changes in the `Mailbox`, set its flag
//! `has_changes`, and ring the collector's bell.

use super::collector::Collector;
use crate::{context, error::Result, lock::lock};
use gantry_shm::{Attachment, Bell, with_signals_blocked};
use std::{
    collections::BTreeMap,
    io, mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::{self, JoinHandle},
};

/// A [`Listener`]'s reference to a source that its owner keeps behind a lock. The source may no longer exist when a
/// method is called.
pub trait ListenerSource: Send + 'static {
    /// Attaches the source. Returns `None` if the source no longer exists or gets no samples; [`Self::on_news`] is then
    /// never called.
    ///
    /// # Errors
    /// The errors of [`Collector::attach`]; after an error, [`Self::on_news`] is never called.
    fn attach(&self, collector: &mut Collector) -> Result<Option<Attachment>>;

    /// Called on the listener's thread when there may be something to take: once after the source was attached, and
    /// after each arrival of samples. Samples that the function leaves in the source cause no further call. The
    /// function may add and remove sources, and may drop the listener.
    fn on_news(&self);
}

impl<S: ListenerSource + ?Sized> ListenerSource for Box<S> {
    fn attach(&self, collector: &mut Collector) -> Result<Option<Attachment>> {
        (**self).attach(collector)
    }

    fn on_news(&self) {
        (**self).on_news();
    }
}

/// A thread that waits for samples of many sources of a domain and calls the owner of each source that may have
/// samples. It is meant for bindings and bridges that keep their sources themselves. To run callbacks, use an
/// [`Executor`](crate::Executor) instead.
///
/// The thread ends when the listener is dropped, and at a [`shutdown`](crate::shutdown). A panic in
/// [`ListenerSource::on_news`] also ends the thread.
///
/// ```
/// # use gantry::{Attachment, Collector, GenericSubscription, Listener, ListenerSource, Node, Qos};
/// # use std::sync::{Arc, Mutex, Weak, mpsc};
/// struct Scans(Weak<Mutex<GenericSubscription>>, mpsc::Sender<usize>);
///
/// impl ListenerSource for Scans {
///     fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
///         let Some(scans) = self.0.upgrade() else { return Ok(None) };
///         collector.attach(&mut *scans.lock().unwrap())
///     }
///
///     fn on_news(&self) {
///         let Some(scans) = self.0.upgrade() else { return };
///         while let Ok(Some(scan)) = scans.lock().unwrap().take() {
///             let _ = self.1.send(scan.bytes().len());
///         }
///     }
/// }
///
/// # fn main() -> gantry::Result<()> {
/// # let node = Node::new("listener_doc_example")?;
/// # let scan = gantry::TypeDescription { name: "my_robot/msg/Scan".into(), payload_bytes: 8, ..Default::default() };
/// # let mut publisher = node.create_generic_publisher("listener_doc_example", scan.clone(), Qos::default())?;
/// # let (sender, lengths) = mpsc::channel();
/// let scans = node.create_generic_subscription("listener_doc_example", scan, Qos::default())?;
/// let scans = Arc::new(Mutex::new(scans));
/// let (listener, thread) = Listener::start(Collector::new(&node)?, "scans").expect("a thread");
/// listener.add(1, Scans(Arc::downgrade(&scans), sender));
/// # publisher.publish_copy(&[0; 8])?;
/// # assert_eq!(lengths.recv(), Ok(8));
/// drop(listener);
/// thread.join().expect("no panic of a source");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Listener<S> {
    mailbox: Arc<Mailbox<S>>,
}

/// A change: the source with this number was added, or, with `None`, removed.
#[derive(Debug)]
struct Change<S>(u64, Option<S>);

/// The state that the listener's handle and its thread share.
#[derive(Debug)]
struct Mailbox<S> {
    /// Changes that the thread has not applied yet, oldest first.
    changes: Mutex<Vec<Change<S>>>,
    has_changes: AtomicBool,
    is_ending: AtomicBool,
    bell: Bell,
}

impl<S: ListenerSource> Listener<S> {
    /// Starts the thread, which owns the collector. Signals are blocked on the thread, so it runs no signal handler of
    /// the program. The second return value is the thread's handle: join it, or drop it to detach the thread.
    ///
    /// # Errors
    /// The system's error, if no thread can be started.
    pub fn start(collector: Collector, thread_name: &str) -> io::Result<(Listener<S>, JoinHandle<()>)> {
        let mailbox = Arc::new(Mailbox {
            changes: Mutex::default(),
            has_changes: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            bell: collector.bell(),
        });
        let listening = Listening { mailbox: mailbox.clone(), collector, sources: BTreeMap::new() };
        let thread = thread::Builder::new().name(thread_name.to_owned());
        let thread = with_signals_blocked(|| thread.spawn(move || listening.run()))?;
        Ok((Listener { mailbox }, thread))
    }

    /// Adds a source. `number` identifies the source; an earlier source with the same number is replaced.
    pub fn add(&self, number: u64, source: S) {
        self.change(number, Some(source));
    }

    /// Removes the source with this number, if there is one. A call of the source's [`ListenerSource::on_news`] may
    /// still be under way.
    pub fn remove(&self, number: u64) {
        self.change(number, None);
    }

    fn change(&self, number: u64, source: Option<S>) {
        lock(&self.mailbox.changes).push(Change(number, source));
        self.mailbox.has_changes.store(true, Release); // partner: `Mailbox::has_news`
        self.mailbox.bell.ring();
    }
}

impl<S> Listener<S> {
    /// Ends the thread without waiting for it, as dropping the listener does. Use it if the listener has other owners.
    pub fn end(&self) {
        self.mailbox.is_ending.store(true, Release); // partner: `Mailbox::is_ending`
        self.mailbox.bell.ring();
    }
}

impl<S> Drop for Listener<S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<S> Mailbox<S> {
    fn is_ending(&self) -> bool {
        self.is_ending.load(Acquire) || !context::ok() // after a shutdown, each wait returns at once
    }

    fn has_news(&self) -> bool {
        self.has_changes.load(Acquire) || self.is_ending()
    }
}

/// The state that only the listener's thread uses.
struct Listening<S> {
    mailbox: Arc<Mailbox<S>>,
    collector: Collector,
    sources: BTreeMap<u64, (S, Attachment)>,
}

impl<S: ListenerSource> Listening<S> {
    fn run(mut self) {
        while !self.mailbox.is_ending() {
            self.apply_changes();
            self.call();
            let mailbox = &self.mailbox;
            if self.collector.wait(None, || mailbox.has_news()).is_err() {
                return; // only in a forked child, which does not have this thread
            }
        }
    }

    /// Calls [`ListenerSource::on_news`] of the sources whose bits were collected.
    fn call(&mut self) {
        let mut bits = [0u64; Collector::BITS.div_ceil(64)];
        let mut has_news = false;
        self.collector.collect(|bit| {
            has_news = true;
            bits[bit / 64] |= 1 << (bit % 64);
        });
        if has_news {
            let is_named = |bit: usize| bits[bit / 64] & 1 << (bit % 64) != 0;
            let named = self.sources.values().filter(|(_, attachment)| is_named(attachment.bit()));
            named.for_each(|(source, _)| source.on_news());
        }
    }

    fn apply_changes(&mut self) {
        self.mailbox.has_changes.store(false, Relaxed); // cleared before the list is read: a later change sets it again
        let changes = mem::take(&mut *lock(&self.mailbox.changes));
        for Change(number, source) in changes {
            if let Some((_, attachment)) = self.sources.remove(&number) {
                self.collector.detach(attachment);
            }
            if let Some(source) = source
                && let Ok(Some(attachment)) = source.attach(&mut self.collector)
            {
                source.on_news(); // after the attachment: no bit reports the samples that came before
                self.sources.insert(number, (source, attachment));
            }
        }
    }
}
