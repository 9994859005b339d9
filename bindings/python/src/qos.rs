//! Converts Python's `QoSProfile` to Gantry's QoS and back.

use crate::error::failed;
use gantry::{Durability, History, Liveliness, Qos, Reliability};
use pyo3::{prelude::*, types::PyDict};
use std::time::Duration;

/// The QoS of a `gantry.QoSProfile`.
pub fn from_python(profile: &Bound<'_, PyAny>) -> PyResult<Qos> {
    let policy = |name: &str| profile.getattr(name)?.getattr("name")?.extract::<String>();
    let unknown = |policy: &str, value: &str| failed(format!("{value} is not a {policy} that an endpoint can have"));
    let limit = |name: &str| {
        let seconds: Option<f64> = profile.getattr(name)?.extract()?;
        seconds.map(|seconds| duration(seconds, name)).transpose()
    };
    Ok(Qos {
        history: match policy("history")?.as_str() {
            "KEEP_LAST" => History::KeepLast,
            "KEEP_ALL" => History::KeepAll,
            other => return Err(unknown("history", other)),
        },
        depth: profile.getattr("depth")?.extract()?,
        reliability: match policy("reliability")?.as_str() {
            "RELIABLE" => Reliability::Reliable,
            "BEST_EFFORT" => Reliability::BestEffort,
            other => return Err(unknown("reliability", other)),
        },
        durability: match policy("durability")?.as_str() {
            "VOLATILE" => Durability::Volatile,
            "TRANSIENT_LOCAL" => Durability::TransientLocal,
            other => return Err(unknown("durability", other)),
        },
        liveliness: match policy("liveliness")?.as_str() {
            "AUTOMATIC" => Liveliness::Automatic,
            "MANUAL_BY_TOPIC" => Liveliness::ManualByTopic,
            other => return Err(unknown("liveliness", other)),
        },
        deadline: limit("deadline")?,
        lifespan: limit("lifespan")?,
        liveliness_lease_duration: limit("liveliness_lease_duration")?,
        avoid_ros_namespace_conventions: profile.getattr("avoid_ros_namespace_conventions")?.extract()?,
    })
}

/// The arguments for a `gantry.QoSProfile`. Each policy is the name of its value.
pub fn to_python(py: Python<'_>, qos: Qos) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("history", if qos.history == History::KeepAll { "KEEP_ALL" } else { "KEEP_LAST" })?;
    fields.set_item("depth", qos.depth)?;
    fields.set_item("reliability", qos.reliability.to_string())?;
    fields.set_item("durability", qos.durability.to_string())?;
    fields.set_item("liveliness", qos.liveliness.to_string())?;
    for (name, limit) in [
        ("deadline", qos.deadline),
        ("lifespan", qos.lifespan),
        ("liveliness_lease_duration", qos.liveliness_lease_duration),
    ] {
        fields.set_item(name, limit.map(|limit| limit.as_secs_f64()))?;
    }
    Ok(fields)
}

/// Converts seconds to a duration. An error mentions `name`.
pub fn duration(seconds: f64, name: &str) -> PyResult<Duration> {
    let refused = |_| failed(format!("{name} is {seconds} seconds; it must be at least 0"));
    match seconds {
        f64::INFINITY => Ok(Duration::MAX),
        seconds => Duration::try_from_secs_f64(seconds).map_err(refused),
    }
}
