//! Events of a client.

use gantry_xrce::{
    session::{AgentClock, Disconnected, Loss},
    wire::{Error, ResultStatus},
};

/// The events of `spin_once` besides messages.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A session began; the client asks the agent for all publishers, subscriptions and services.
    Connected,
    /// The session ended. The client connects again by itself, unless the caller closed it.
    Disconnected {
        /// The reason.
        reason: Disconnected,
        /// The number of messages that were not sent or not acknowledged, and are now forgotten.
        forgotten: u16,
    },
    /// The agent refuses the session. The client continues to ask.
    SessionRefused(ResultStatus),
    /// The agent refuses the node.
    NodeRefused(ResultStatus),
    /// The agent has created a publisher, a subscription or a service.
    Created {
        /// The name of the created entity.
        name: &'a str,
    },
    /// The agent refuses a publisher, a subscription or a service, or data that was written with an existing one.
    Refused {
        /// The name of the refused entity.
        name: &'a str,
        /// The reason.
        status: ResultStatus,
    },
    /// The session lost data on its way from the agent.
    Loss(Loss),
    /// A message from the agent could not be read and is dropped.
    Malformed(Error),
    /// The estimate of the agent's clock changed.
    Clock(AgentClock),
}
