//! Events of a client.

use gantry_xrce::{
    session::{AgentClock, Disconnected, Loss},
    wire::{Error, ResultStatus},
};

/// The events of `spin_once` besides messages.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A session began; the agent is asked for all publishers, subscriptions and services.
    Connected,
    /// The session ended. Unless the caller closed it, the client connects again by itself.
    Disconnected {
        /// The reason.
        reason: Disconnected,
        /// The messages that were not sent or not acknowledged, and are forgotten.
        forgotten: u16,
    },
    /// The agent refuses the session. The client goes on asking.
    SessionRefused(ResultStatus),
    /// The agent refuses the node.
    NodeRefused(ResultStatus),
    /// The agent has created a publisher, a subscription or a service.
    Created {
        /// Its name.
        name: &'a str,
    },
    /// The agent refuses a publisher, a subscription or a service, or what was written with it.
    Refused {
        /// Its name.
        name: &'a str,
        /// The reason.
        status: ResultStatus,
    },
    /// The session lost something on its way from the agent.
    Loss(Loss),
    /// A message from the agent could not be read and is dropped.
    Malformed(Error),
    /// The estimate of the agent's clock changed.
    Clock(AgentClock),
}
