//! The generated topologies of a measurement: the sizes, variations of one of them, and those that only check the
//! estimate.

use super::{
    estimate::{Estimate, FULL},
    load::{LARGE_BYTES, Load, SMALL_BYTES},
    shape::Shape,
};

/// Publishers and subscriptions of a node.
pub const ENDS: (usize, usize) = (4, 6);
/// The highest rate of the check at the limit: timers of more are no robot's.
const HIGHEST_HZ: f64 = 1000.0;

/// Topologies of so many nodes, with their names.
pub fn sizes(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    counts.iter().map(|nodes| (format!("{nodes} nodes"), Shape { nodes: *nodes as usize, ..node.clone() })).collect()
}

/// The middle one of the sizes.
pub fn middle(counts: &[u32]) -> Option<u32> {
    counts.get(counts.len() / 2).copied()
}

/// The variations of the middle size: each changes what the sizes alone leave in one ratio.
pub fn variations(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    let Some(nodes) = middle(counts) else { return Vec::new() };
    let base = Shape { nodes: nodes as usize, ..node.clone() };
    let (publishers, subscriptions) = ENDS;
    // Each has MiB for its messages.
    let few = nodes.div_ceil(4);
    vec![
        (format!("{nodes} nodes, 5 x the rate"), Shape { rate_hz: 5.0 * base.rate_hz, ..base.clone() }),
        (
            format!("{nodes} nodes, more subscriptions"),
            Shape { publishers: publishers / 2, subscriptions: 2 * subscriptions, ..base.clone() },
        ),
        (
            format!("{nodes} nodes, fewer endpoints"),
            Shape {
                publishers: publishers / 2,
                subscriptions: subscriptions / 6,
                rate_hz: 2.0 * base.rate_hz,
                ..base.clone()
            },
        ),
        (format!("{nodes} nodes, twice the processes"), Shape { processes: 2 * base.processes, ..base.clone() }),
        (
            format!("{nodes} nodes, {} KiB", SMALL_BYTES >> 10),
            Shape { payload_bytes: Some(u64::from(SMALL_BYTES)), ..base.clone() },
        ),
        (
            format!("{few} nodes, {} KiB", LARGE_BYTES >> 10),
            Shape {
                nodes: few as usize,
                payload_bytes: Some(u64::from(LARGE_BYTES)),
                rate_hz: base.rate_hz.div_euclid(4.0).max(1.0),
                ..base
            },
        ),
    ]
}

/// Topologies that the fit has not seen: one of another shape, and one whose rate should fill this machine as far as
/// the estimate allows. `load` is that of the middle size.
pub fn unseen(nodes: u32, node: &Shape, load: &Load, estimate: &Estimate, cores: u32) -> Vec<(String, Shape)> {
    let other = nodes as usize * 3 / 2 + 1;
    let mut found = vec![(
        format!("{other} nodes, another shape"),
        Shape { nodes: other, publishers: 3, subscriptions: 5, rate_hz: 2.0 * node.rate_hz, ..node.clone() },
    )];
    let cost = |times: f64| estimate.cost(&load.faster(times, 1.0)).cpu_percent;
    let (none, once) = (cost(0.0), cost(1.0));
    let times = (FULL * f64::from(cores) * 100.0 - none) / (once - none);
    let rate_hz = (times * node.rate_hz).min(HIGHEST_HZ).floor();
    if rate_hz.is_finite() && rate_hz >= 1.0 {
        let shape = Shape { nodes: nodes as usize, rate_hz, ..node.clone() };
        found.push((format!("{nodes} nodes at {rate_hz} Hz, the limit"), shape));
    }
    found
}
