//! Sources: the subscriptions, services and clients whose messages `rmw_wait` and the listener wait for.

use super::{
    callback::Callback,
    context::Context,
    library::{Close, Library},
};
use crate::lock::lock;
use gantry::{Attachment, Collector, GenericClient, GenericService, ListenerSource, Waitable};
use rmw_abi::{bindings::rmw_event_callback_t, failure::Result};
use std::{
    ffi::c_void,
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// An endpoint that takes messages, with its callback for new messages.
pub struct Source<E> {
    /// The number of this source, which is unique in the process.
    pub id: u64,
    pub library: Library<E>,
    /// The callback for new messages, with a count of the messages that it was called for.
    pub callback: Mutex<Callback>,
}

/// An endpoint from which messages are taken.
pub trait Receive: Send {
    /// True if there is a message to take.
    fn is_ready(&mut self) -> gantry::Result<bool>;
    /// The number of all messages that the endpoint has received. The number never decreases.
    fn received(&mut self) -> gantry::Result<u64>;
    /// The endpoint in the form that a `Collector` can attach.
    fn waitable(&mut self) -> &mut dyn Waitable;
}

/// A source of any endpoint type.
pub trait AnySource: Send + Sync {
    fn id(&self) -> u64;
    /// True if there is a message to take; `false` if the node was destroyed.
    fn is_ready(&self) -> Result<bool>;
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>>;
    /// The number of all messages that the endpoint has received.
    fn received(&self) -> Result<u64>;
    fn callback(&self) -> MutexGuard<'_, Callback>;
}

impl<E> Source<E> {
    pub fn new(endpoint: E) -> Source<E> {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the number has to be unique, and orders no other memory.
        let id = LAST_ID.fetch_add(1, Relaxed) + 1;
        Source { id, library: Library::new(endpoint), callback: Mutex::default() }
    }

    /// Sets or removes the callback for new messages. `gone` is the number of messages that cannot be taken any more.
    /// As in other RMWs, this function calls the callback for messages that have arrived already. The listener of the
    /// context calls it for later messages.
    ///
    /// # Safety
    /// The same as for [`Callback::set`].
    pub unsafe fn set_callback(
        self: &Arc<Source<E>>,
        context: &Context,
        gone: u64,
        function: rmw_event_callback_t,
        user_data: *const c_void,
    ) -> Result<()>
    where
        E: Receive + 'static,
    {
        let mut callback = self.callback();
        if function.is_none() && !callback.is_set() {
            return Ok(());
        }
        let listener = context.listener()?;
        callback.skip(gone);
        // SAFETY: the promise of the caller.
        unsafe { callback.set(function, user_data) };
        callback.notify(|| self.received());
        // The lock of the callback is still held, so that the listener gets `add` and `remove` in the order of the
        // settings.
        match function {
            Some(_) => listener.add(self.id, ListenedSource(Arc::downgrade(self))),
            None => listener.remove(self.id),
        }
        Ok(())
    }

    /// Makes the listener check this source again, because it has messages that no new arrival announces. The callback
    /// itself may call this function.
    pub fn announce(self: &Arc<Source<E>>, context: &Context)
    where
        E: Receive + 'static,
    {
        // Another call that holds the lock runs a callback or sets one, so one may be set.
        let may_be_set = self.callback.try_lock().map_or(true, |callback| callback.is_set());
        if may_be_set && let Some(listener) = context.started_listener() {
            listener.add(self.id, ListenedSource(Arc::downgrade(self)));
        }
    }

    /// Removes the callback before the endpoint is destroyed. No call of the callback runs afterwards.
    pub fn end_callback(&self, context: &Context) {
        *lock(&self.callback) = Callback::default();
        if let Some(listener) = context.started_listener() {
            listener.remove(self.id);
        }
    }
}

/// A source with a callback, in the form that the listener keeps.
struct ListenedSource<E>(Weak<Source<E>>);

impl<E: Receive + 'static> ListenerSource for ListenedSource<E> {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        self.0.upgrade().map_or(Ok(None), |source| AnySource::attach(&*source, collector))
    }

    /// The lock of `library` is free while the callback runs, because the callback may take messages.
    fn on_news(&self) {
        let Some(source) = self.0.upgrade() else { return };
        source.callback().notify(|| source.received());
    }
}

impl<E: Send> Close for Source<E> {
    fn close(&self) {
        self.library.close();
    }
}

impl<E: Receive> AnySource for Source<E> {
    fn id(&self) -> u64 {
        self.id
    }

    fn is_ready(&self) -> Result<bool> {
        self.library.with_open(|endpoint| Ok(endpoint.is_ready()?)).unwrap_or(Ok(false))
    }

    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        self.library.with_open(|endpoint| collector.attach(endpoint.waitable())).unwrap_or(Ok(None))
    }

    fn received(&self) -> Result<u64> {
        self.library.with(|endpoint| Ok(endpoint.received()?))
    }

    fn callback(&self) -> MutexGuard<'_, Callback> {
        lock(&self.callback)
    }
}

macro_rules! receive {
    ($($endpoint:ty),*) => { $(
        impl Receive for $endpoint {
            fn is_ready(&mut self) -> gantry::Result<bool> {
                Waitable::is_ready(self)
            }

            fn received(&mut self) -> gantry::Result<u64> {
                <$endpoint>::received(self)
            }

            fn waitable(&mut self) -> &mut dyn Waitable {
                self
            }
        }
    )* };
}

receive!(GenericService, GenericClient);
