//! The QoS keys of an endpoint. Without any it has the QoS of rmw's default profile: reliable, volatile, 10 samples.

use super::{
    object::Object,
    process::{Liveliness, NodeQos},
};
use perf_worker::run_spec::{Durability, History, Qos, Reliability};

/// The keys.
pub const KEYS: &[&str] = &[
    HISTORY,
    DEPTH,
    RELIABILITY,
    DURABILITY,
    LIVELINESS,
    NO_CONVENTIONS,
    "qos_deadline",
    "qos_lifespan",
    "qos_liveliness_lease_duration",
];
const HISTORY: &str = "qos_history";
const DEPTH: &str = "qos_depth";
const RELIABILITY: &str = "qos_reliability";
const DURABILITY: &str = "qos_durability";
const LIVELINESS: &str = "qos_liveliness";
const NO_CONVENTIONS: &str = "qos_avoid_ros_namespace_conventions";
/// Keys whose only value is `default`: no limit.
const UNLIMITED: [&str; 3] = ["qos_deadline", "qos_lifespan", "qos_liveliness_lease_duration"];

/// Keys that have the value `unknown`, too, which is taken as `system_default`.
pub const CHOICES: [&str; 4] = [HISTORY, RELIABILITY, DURABILITY, LIVELINESS];
/// rmw's value for a policy that it could not read.
pub const UNKNOWN: &str = "unknown";

/// The middleware's choice, which is that of the default profile in Gantry.
const SYSTEM_DEFAULT: &str = "system_default";
const DEFAULT: Qos =
    Qos { reliability: Reliability::Reliable, durability: Durability::Volatile, history: History::KeepLast, depth: 10 };
const MAX_DEPTH: u32 = 1_000_000;

/// The QoS of an endpoint.
///
/// # Errors
/// A sentence with the first value that is no QoS.
pub fn read(object: &Object<'_>) -> Result<NodeQos, String> {
    let history = [
        (SYSTEM_DEFAULT, DEFAULT.history),
        ("keep_last", History::KeepLast),
        ("keep_all", History::KeepAll),
        (UNKNOWN, DEFAULT.history),
    ];
    let reliability = [
        (SYSTEM_DEFAULT, DEFAULT.reliability),
        ("reliable", Reliability::Reliable),
        ("best_effort", Reliability::BestEffort),
        (UNKNOWN, DEFAULT.reliability),
    ];
    let durability = [
        (SYSTEM_DEFAULT, DEFAULT.durability),
        ("transient_local", Durability::TransientLocal),
        ("volatile", Durability::Volatile),
        (UNKNOWN, DEFAULT.durability),
    ];
    let liveliness = [
        (SYSTEM_DEFAULT, Liveliness::Automatic),
        ("automatic", Liveliness::Automatic),
        ("manual_by_topic", Liveliness::ManualByTopic),
        (UNKNOWN, Liveliness::Automatic),
    ];
    if object.choice(NO_CONVENTIONS, &[("false", false), ("true", true)])? == Some(true) {
        let sentence = "perf_test gives topics the names of ROS 2: give `false`, or leave it out";
        return Err(object.problem(NO_CONVENTIONS, sentence));
    }
    for key in UNLIMITED {
        object.choice(key, &[("default", ())])?;
    }
    let qos = Qos {
        reliability: object.choice(RELIABILITY, &reliability)?.unwrap_or(DEFAULT.reliability),
        durability: object.choice(DURABILITY, &durability)?.unwrap_or(DEFAULT.durability),
        history: object.choice(HISTORY, &history)?.unwrap_or(DEFAULT.history),
        depth: object.whole(DEPTH, 1..=MAX_DEPTH)?.unwrap_or(DEFAULT.depth),
    };
    Ok(NodeQos { qos, liveliness: object.choice(LIVELINESS, &liveliness)?.unwrap_or(Liveliness::Automatic) })
}
