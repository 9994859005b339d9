//! The coordinator's own short visits to a domain: is its shared memory usable, and what have the dead left?
//!
//! Joining a domain removes what dead processes left there, and leaving it removes what is empty then. The
//! coordinator does both before a run, and again after one in which a worker did not end well.

/// Joins the domain and leaves it at once.
///
/// # Errors
/// The middleware's sentence: the shared memory cannot be made, written or trusted.
pub fn visit(domain_id: u32) -> Result<(), String> {
    gantry::Node::builder("perf_test_coordinator")
        .domain_id(domain_id)
        .build()
        .map(drop)
        .map_err(|error| error.to_string())
}
