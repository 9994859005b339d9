//! The published memory of micro-ROS. The entities are reliable, with `std_msgs/Int32` or
//! `example_interfaces/AddTwoInts`, MTU 512, stream history 4 and RMW history 4.

/// The memory of an entity, and of the whole program with such entities (read from the plot).
#[derive(Debug)]
pub struct Entity {
    /// The bytes of one more entity, from the published text. For services and clients the text only has "about 500",
    /// so the value is from the plot.
    pub bytes: f64,
    /// The memory of the whole program (static memory, stack and heap, in bytes) for two numbers of entities.
    pub totals: [(u32, f64); 2],
}

/// Publishers.
pub const PUBLISHER: Entity = Entity { bytes: 550.0, totals: [(1, 19.0e3), (10, 23.9e3)] };
/// Subscriptions.
pub const SUBSCRIPTION: Entity = Entity { bytes: 600.0, totals: [(1, 19.35e3), (10, 24.85e3)] };
/// Services, and clients of services.
pub const SERVICE: Entity = Entity { bytes: 505.0, totals: [(1, 19.35e3), (10, 23.9e3)] };
/// The bytes of a slot of the history, from the plot. The published text has another value: MTU × stream history =
/// 2048.
pub const HISTORY_SLOT_BYTES: f64 = 2100.0;
/// Lengths of the history, each with the bytes of the whole program (read from the plot).
pub const HISTORY_TOTALS: [(u32, f64); 2] = [(1, 9.7e3), (10, 29.0e3)];
