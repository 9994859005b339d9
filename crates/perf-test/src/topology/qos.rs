//! The QoS keys of an endpoint in a topology file. Without these keys, the endpoint has rmw's default profile:
//! reliable, volatile, 10 samples.

use super::{
    object::Object,
    process::{Liveliness, NodeQos},
};
use perf_worker::run_spec::{Durability, History, Qos, Reliability};

/// The QoS keys of an endpoint.
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
/// The keys whose only allowed value is `default`, which means no limit.
const UNLIMITED: [&str; 3] = ["qos_deadline", "qos_lifespan", "qos_liveliness_lease_duration"];

/// The keys that also allow the value `unknown`. It has the same effect as `system_default`.
pub const CHOICES: [&str; 4] = [HISTORY, RELIABILITY, DURABILITY, LIVELINESS];
/// The value that rmw uses for a policy that it could not determine.
pub const UNKNOWN: &str = "unknown";

/// The value that leaves a policy to the middleware. perf_test then uses the default profile.
const SYSTEM_DEFAULT: &str = "system_default";
const DEFAULT: Qos =
    Qos { reliability: Reliability::Reliable, durability: Durability::Volatile, history: History::KeepLast, depth: 10 };
const MAX_DEPTH: u32 = 1_000_000;

/// Reads the QoS keys of an endpoint.
///
/// # Errors
/// The reason, as a sentence about the first value that is not valid.
pub fn read(object: &Object<'_>) -> Result<NodeQos, String> {
    if object.choice(NO_CONVENTIONS, &[("false", false), ("true", true)])? == Some(true) {
        let sentence = "perf_test gives topics the names of ROS 2: give `false`, or remove the key";
        return Err(object.problem(NO_CONVENTIONS, sentence));
    }
    for key in UNLIMITED {
        object.choice(key, &[("default", ())])?;
    }
    let history = [("keep_last", History::KeepLast), ("keep_all", History::KeepAll)];
    let reliability = [("reliable", Reliability::Reliable), ("best_effort", Reliability::BestEffort)];
    let durability = [("transient_local", Durability::TransientLocal), ("volatile", Durability::Volatile)];
    let liveliness = [("automatic", Liveliness::Automatic), ("manual_by_topic", Liveliness::ManualByTopic)];
    let qos = Qos {
        history: choice(object, HISTORY, DEFAULT.history, history)?,
        reliability: choice(object, RELIABILITY, DEFAULT.reliability, reliability)?,
        durability: choice(object, DURABILITY, DEFAULT.durability, durability)?,
        depth: object.whole(DEPTH, 1..=MAX_DEPTH)?.unwrap_or(DEFAULT.depth),
    };
    Ok(NodeQos { qos, liveliness: choice(object, LIVELINESS, Liveliness::Automatic, liveliness)? })
}

/// The value of a policy. If the key is absent or its value is `unknown` or `system_default`, this is `default`.
fn choice<T: Copy>(object: &Object<'_>, key: &str, default: T, [one, other]: [(&str, T); 2]) -> Result<T, String> {
    let values = [(SYSTEM_DEFAULT, default), one, other, (UNKNOWN, default)];
    Ok(object.choice(key, &values)?.unwrap_or(default))
}
