//! Quality of service (QoS), with ROS 2's policies.

use core::num::NonZeroU32;
use gantry_xrce::wire::{self, QosFlags, StreamId};

/// Whether lost messages are sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliability {
    /// Lost messages are sent again, and long messages are sent in fragments.
    #[default]
    Reliable,
    /// Lost messages are not sent again. A message must fit in one message of the transport.
    BestEffort,
}

/// Whether late subscriptions get earlier messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Late subscriptions get no earlier messages.
    #[default]
    Volatile,
    /// Late subscriptions get earlier messages, from the agent's publisher.
    TransientLocal,
}

/// The QoS of a publisher or a subscription. The agent uses this QoS for its own publisher or subscription. Reliability
/// also applies between client and agent. The history is always KEEP_LAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Reliability.
    pub reliability: Reliability,
    /// Durability.
    pub durability: Durability,
    /// The depth of the history in the agent. On the microcontroller, the history depth of a subscription is its
    /// parameter `DEPTH`.
    pub depth: u16,
    /// The deadline in milliseconds; `None` means no deadline.
    pub deadline_ms: Option<NonZeroU32>,
    /// The lifespan in milliseconds; `None` means no limit.
    pub lifespan_ms: Option<NonZeroU32>,
}

impl Qos {
    /// ROS 2's default QoS: RELIABLE, VOLATILE, KEEP_LAST 10.
    pub const DEFAULT: Self = Self { depth: 10, ..Self::ZERO };

    /// ROS 2's `SensorDataQoS`: BEST_EFFORT, VOLATILE, KEEP_LAST 5.
    pub const SENSOR_DATA: Self = Self { reliability: Reliability::BestEffort, depth: 5, ..Self::ZERO };

    /// The QoS whose bytes are all zero.
    pub(crate) const ZERO: Self = Self {
        reliability: Reliability::Reliable,
        durability: Durability::Volatile,
        depth: 0,
        deadline_ms: None,
        lifespan_ms: None,
    };

    pub(crate) fn stream(self) -> StreamId {
        match self.reliability {
            Reliability::Reliable => StreamId::RELIABLE,
            Reliability::BestEffort => StreamId::BEST_EFFORT,
        }
    }

    pub(crate) fn on_the_wire(self) -> wire::Qos<'static> {
        let mut flags = QosFlags::KEEP_LAST;
        if self.reliability == Reliability::Reliable {
            flags = flags | QosFlags::RELIABLE;
        }
        if self.durability == Durability::TransientLocal {
            flags = flags | QosFlags::TRANSIENT_LOCAL;
        }
        wire::Qos {
            flags,
            history_depth: Some(self.depth.max(1)),
            deadline_ms: self.deadline_ms.map(NonZeroU32::get),
            lifespan_ms: self.lifespan_ms.map(NonZeroU32::get),
            user_data: None,
        }
    }
}

impl Default for Qos {
    fn default() -> Self {
        Self::DEFAULT
    }
}
