//! The names that all files share: settings, the key of a topic, and the sentence of a failure.

use perf_worker::{endpoint::EndpointPlan, run_spec::RunSpec};

/// The name of the setting for shared memory.
pub const SHARED_MEMORY: &str = "shared-memory";
/// The name of the setting for express messages, which zenoh does not batch.
pub const EXPRESS: &str = "express";
/// True if a setting is on.
pub fn is_on(spec: &RunSpec, setting: &str) -> bool {
    spec.settings.get(setting).is_some_and(|value| value == "on")
}

/// The key expression of a topic. It contains the domain and has no leading slash, because zenoh allows none.
pub fn key(spec: &RunSpec, plan: &EndpointPlan) -> String {
    format!("perf_test/{}{}", spec.domain_id, plan.topic)
}

/// Formats the sentence of a failure.
pub fn failed(act: &str, error: impl std::fmt::Display) -> String {
    format!("zenoh cannot {act}: {error}")
}
