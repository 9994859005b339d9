//! The agent, which connects DDS-XRCE clients with Gantry.

mod port;
mod state;

pub use port::Port;

use crate::{
    client::ClientStatistics,
    clock::Clock,
    config::Config,
    error::{Error, Result},
    link::Transport,
    lock::lock,
    threads,
};
use state::AgentState;
use std::{
    fmt,
    sync::{Arc, atomic::Ordering::*},
    thread::JoinHandle,
};

/// An agent, which connects clients that speak DDS-XRCE with Gantry until this value is dropped.
///
/// The threads of the transports handle the clients' messages. One thread for each domain handles Gantry's messages.
pub struct Agent {
    state: Arc<AgentState>,
    ticker: Option<JoinHandle<()>>,
}

impl Agent {
    /// Makes an agent without transports.
    ///
    /// # Errors
    /// The agent's own thread cannot be started.
    pub fn new(config: Config) -> Result<Agent> {
        Self::with_clock(config, Clock::new())
    }

    /// Makes an agent without transports, whose clock is stopped and moves only by [`Agent::advance`].
    ///
    /// # Errors
    /// As [`Agent::new`].
    #[cfg(feature = "testing")]
    pub fn with_stopped_clock(config: Config) -> Result<Agent> {
        Self::with_clock(config, Clock::Stopped(0.into()))
    }

    /// Moves a stopped clock forward, and does the work that becomes due.
    #[cfg(feature = "testing")]
    pub fn advance(&self, by: std::time::Duration) {
        if let Clock::Stopped(us) = &self.state.context.clock {
            us.fetch_add(by.as_micros() as u64, Relaxed); // Relaxed: the counter has no partner
        }
        self.state.tick();
    }

    fn with_clock(config: Config, clock: Clock) -> Result<Agent> {
        let state = Arc::new(AgentState::new(config, clock));
        let of_thread = state.clone();
        let ticker = threads::spawn("ticker", move || {
            while of_thread.context.ticker.wait() {
                of_thread.tick();
            }
        })
        .map_err(|source| Error::Thread { what: "deadlines", source })?;
        Ok(Agent { state, ticker: Some(ticker) })
    }

    /// Adds a transport. The transport's thread passes each received message to the port.
    #[must_use]
    pub fn attach(&self, transport: Arc<dyn Transport>) -> Port {
        // Relaxed: the numbers only have to be unique.
        let number = self.state.ports.fetch_add(1, Relaxed);
        Port { state: self.state.clone(), transport, number, turns: Arc::default() }
    }

    /// The clients and their counters, in the order of their keys.
    #[must_use]
    pub fn statistics(&self) -> Vec<ClientStatistics> {
        let clients = lock(&self.state.clients).all();
        let mut statistics: Vec<ClientStatistics> = clients.iter().map(|client| lock(client).statistics()).collect();
        statistics.sort_by_key(|client| client.key);
        statistics
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.state.context.ticker.end();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        self.state.is_closed.store(true, Release); // partner: `AgentState::accept`
        let clients = lock(&self.state.clients).clear();
        clients.iter().for_each(|client| {
            let objects = lock(client).close(&self.state.context);
            drop(objects);
        });
        self.state.context.close();
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({} clients)", lock(&self.state.clients).len())
    }
}
