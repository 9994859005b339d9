//! The generated topologies of a measurement: the sizes, variations of the middle size, and topologies that only check
//! the estimate.

use super::{
    estimate::{Estimate, FULL},
    load::{LARGE_BYTES, Load, SMALL_BYTES},
    shape::Shape,
};

/// The numbers of publishers and subscriptions of each node.
pub const ENDS: (usize, usize) = (4, 6);
/// The highest rate of the topology at the machine's limit. Timers of robots are not faster.
const HIGHEST_HZ: f64 = 1000.0;

/// The topologies with these numbers of nodes, each with its name.
pub fn sizes(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    counts.iter().map(|nodes| (format!("{nodes} nodes"), Shape { nodes: *nodes as usize, ..node.clone() })).collect()
}

/// The middle element of the numbers of nodes.
pub fn middle(counts: &[u32]) -> Option<u32> {
    counts.get(counts.len() / 2).copied()
}

/// Variations of the middle size, each of which changes the ratio between quantities, for example more subscriptions
/// per publisher. In the sizes alone all quantities grow together, so the cost of a single one could not be fitted.
pub fn variations(counts: &[u32], node: &Shape) -> Vec<(String, Shape)> {
    let Some(nodes) = middle(counts) else { return Vec::new() };
    let ((publishers, subscriptions), rate_hz) = (ENDS, node.rate_hz);
    let varied = |nodes: u32, name: &str, shape: Shape| {
        (format!("{nodes} nodes, {name}"), Shape { nodes: nodes as usize, ..shape })
    };
    let sized = |bytes: u32, rate_hz: f64| Shape { payload_bytes: Some(bytes.into()), rate_hz, ..node.clone() };
    let ends = |publishers: usize, subscriptions: usize, rate_hz: f64| Shape {
        publishers,
        subscriptions,
        rate_hz,
        ..node.clone()
    };
    vec![
        varied(nodes, "5 x the rate", Shape { rate_hz: 5.0 * rate_hz, ..node.clone() }),
        varied(nodes, "more subscriptions", ends(publishers / 2, 2 * subscriptions, rate_hz)),
        varied(nodes, "fewer endpoints", ends(publishers / 2, subscriptions / 6, 2.0 * rate_hz)),
        varied(nodes, "twice the processes", Shape { processes: 2 * node.processes, ..node.clone() }),
        varied(nodes, &format!("{} KiB", SMALL_BYTES >> 10), sized(SMALL_BYTES, rate_hz)),
        // A publisher needs several MiB for large messages, so this variation has only a quarter of the nodes.
        varied(
            nodes.div_ceil(4),
            &format!("{} KiB", LARGE_BYTES >> 10),
            sized(LARGE_BYTES, rate_hz.div_euclid(4.0).max(1.0)),
        ),
    ]
}

/// Two topologies that the fit does not use: one with another shape, and one whose rate fills this machine according to
/// the estimate. `load` is the load of the middle size.
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
