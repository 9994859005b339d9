//! Quality of service, in ROS 2's words.

use core::num::NonZeroU32;
use gantry_xrce::wire::{self, QosFlags, StreamId};

/// Whether lost messages are sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliability {
    /// Lost messages are sent again, and long ones go in fragments.
    #[default]
    Reliable,
    /// A lost message stays lost. A message fits in one of the transport.
    BestEffort,
}

/// Whether late subscriptions get earlier messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// They do not.
    #[default]
    Volatile,
    /// They do, from the agent's publisher.
    TransientLocal,
}

/// The QoS of a publisher or a subscription. The agent gives the QoS to its own publisher or subscription; reliability
/// also holds between client and agent. The history is KEEP_LAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Reliability.
    pub reliability: Reliability,
    /// Durability.
    pub durability: Durability,
    /// The depth of the history at the agent. A subscription's history on the microcontroller is its `DEPTH`.
    pub depth: u16,
    /// The deadline in milliseconds, if there is one.
    pub deadline_ms: Option<NonZeroU32>,
    /// The lifespan in milliseconds, if there is one.
    pub lifespan_ms: Option<NonZeroU32>,
}

impl Qos {
    /// ROS 2's default: RELIABLE, VOLATILE, KEEP_LAST 10.
    pub const DEFAULT: Self = Self { depth: 10, ..Self::ZERO };

    /// ROS 2's `SensorDataQoS`: BEST_EFFORT, VOLATILE, KEEP_LAST 5.
    pub const SENSOR_DATA: Self = Self { reliability: Reliability::BestEffort, depth: 5, ..Self::ZERO };

    /// All bytes are zero.
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
