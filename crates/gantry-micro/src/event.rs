//! Events of a client.

use gantry_xrce::{
    session::{AgentClock, Disconnected, Loss},
    wire::{Error, ResultStatus},
};

/// An event that `spin_once` reports. Messages are not events; they go to the queues of subscriptions and services.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A session began. The client now asks the agent to create all publishers, subscriptions and services.
    Connected,
    /// The session ended. The client connects again by itself, unless the caller closed it.
    Disconnected {
        /// The reason.
        reason: Disconnected,
        /// The number of discarded messages, which were not sent or not acknowledged.
        forgotten: u16,
    },
    /// The agent refuses the session. The client continues to ask for one.
    SessionRefused(ResultStatus),
    /// The agent refuses the node.
    NodeRefused(ResultStatus),
    /// The agent has created a publisher, a subscription or a service.
    Created {
        /// The name of the created entity.
        name: &'a str,
    },
    /// The agent refuses to create a publisher, a subscription or a service, or it refuses data from an existing one.
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
