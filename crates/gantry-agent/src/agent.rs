//! The agent.

use crate::{
    client::ClientStatistics,
    clock::Clock,
    config::Config,
    error::{Error, Result},
    lock::lock,
    port::Port,
    shared::Shared,
    threads,
    transport::Transport,
};
use std::{
    fmt,
    sync::{Arc, atomic::Ordering::*},
    thread::JoinHandle,
};

/// Connects clients that speak DDS-XRCE with Gantry, until it is dropped.
///
/// Clients' messages are handled on the threads of the transports, Gantry's on a thread for each domain.
pub struct Agent {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

impl Agent {
    /// An agent without transports.
    ///
    /// # Errors
    /// Its thread cannot be started.
    pub fn new(config: Config) -> Result<Agent> {
        Self::with_clock(config, Clock::new())
    }

    /// As [`Agent::new`], with a clock that stands still until [`Agent::advance`].
    ///
    /// # Errors
    /// As there.
    #[cfg(feature = "testing")]
    pub fn with_stopped_clock(config: Config) -> Result<Agent> {
        Self::with_clock(config, Clock::Stopped(0.into()))
    }

    /// Moves a clock that stands still, and does what is due then.
    #[cfg(feature = "testing")]
    pub fn advance(&self, by: std::time::Duration) {
        if let Clock::Stopped(us) = &self.shared.context.clock {
            us.fetch_add(by.as_micros() as u64, Relaxed); // only the number matters
        }
        self.shared.tick();
    }

    fn with_clock(config: Config, clock: Clock) -> Result<Agent> {
        let shared = Arc::new(Shared::new(config, clock));
        let of_thread = shared.clone();
        let ticker = threads::spawn("ticker", move || {
            while of_thread.context.ticker.wait() {
                of_thread.tick();
            }
        })
        .map_err(|source| Error::Thread { what: "deadlines", source })?;
        Ok(Agent { shared, ticker: Some(ticker) })
    }

    /// Adds a transport, whose thread gives the port what it receives.
    #[must_use]
    pub fn attach(&self, transport: Arc<dyn Transport>) -> Port {
        // Relaxed: only the number matters.
        let number = self.shared.ports.fetch_add(1, Relaxed);
        Port { shared: self.shared.clone(), transport, number, turns: Arc::default() }
    }

    /// The clients and their counters, in the order of their keys.
    #[must_use]
    pub fn statistics(&self) -> Vec<ClientStatistics> {
        let clients = lock(&self.shared.clients).all();
        let mut statistics: Vec<ClientStatistics> = clients.iter().map(|client| lock(client).statistics()).collect();
        statistics.sort_by_key(|client| client.key);
        statistics
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.shared.context.ticker.end();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        self.shared.is_closed.store(true, Release); // partner: `Shared::accept`
        let clients = lock(&self.shared.clients).clear();
        clients.iter().for_each(|client| {
            let objects = lock(client).close(&self.shared.context);
            drop(objects);
        });
        self.shared.context.close();
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({} clients)", lock(&self.shared.clients).len())
    }
}
