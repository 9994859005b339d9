//! Push delivery of the mock: a thread takes the messages and passes them to the sink.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::MockSubscription;
use perf_worker::backend::{Listener, Matched, Matching, OtherClock, Sink, Subscription};

/// The interval at which the thread checks for messages. It does not affect the times in messages.
const INTERVAL: Duration = Duration::from_millis(1);

/// A subscription whose messages a thread takes.
pub struct MockListener {
    subscription: Arc<Mutex<MockSubscription>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MockListener {
    /// Creates a listener. Its thread is not started yet.
    pub fn new(subscription: MockSubscription) -> MockListener {
        MockListener { subscription: Arc::new(Mutex::new(subscription)), stop: Arc::default(), thread: None }
    }

    fn subscription(&self) -> MutexGuard<'_, MockSubscription> {
        self.subscription.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Matched for MockListener {
    fn matched(&mut self) -> Result<Matching, String> {
        self.subscription().matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.subscription().mismatches()
    }

    fn clock(&self) -> Option<OtherClock> {
        self.subscription().clock()
    }
}

impl Listener for MockListener {
    fn start(&mut self, sink: Arc<dyn Sink>) -> Result<(), String> {
        let (subscription, stop) = (self.subscription.clone(), self.stop.clone());
        let deliver = move || {
            while !stop.load(Ordering::Relaxed) {
                let mut taking = subscription.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    match taking.take(&mut |taken| sink.taken(taken)) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(sentence) => return sink.failed(sentence),
                    }
                }
                drop(taking);
                std::thread::sleep(INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("mock-delivery".to_owned()).spawn(deliver);
        self.thread = Some(thread.map_err(|error| format!("the mock cannot start its thread: {error}"))?);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err("the thread of the mock panicked".to_owned()),
        }
    }

    fn overwritten(&self) -> u64 {
        self.subscription().overwritten()
    }
}
