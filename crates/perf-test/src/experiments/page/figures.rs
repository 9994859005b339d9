//! The figures of a run that the page shows, in the order of its columns.

use crate::log::{
    Distribution,
    figures::{CPU_PER_MESSAGE, Figure, LOST, MAX, P50, P99, P99_9, PEAK_MEMORY, THROUGHPUT},
};

/// The number of figures.
pub const COUNT: usize = 8;
/// The number of those of the latency, which come first.
pub const LATENCIES: usize = 4;
/// The index of the longest latency.
pub const LONGEST: usize = 3;

/// All figures; the first ones are in the order of [`latencies`].
pub static FIGURES: [&Figure; COUNT] = [&P50, &P99, &P99_9, &MAX, &CPU_PER_MESSAGE, &PEAK_MEMORY, &THROUGHPUT, &LOST];

/// The indices of the figures in the order of the columns: the figures that a reader needs first, and the others.
pub const FIRST: [usize; 3] = [0, 1, 7];
/// The other ones.
pub const OTHERS: [usize; COUNT - FIRST.len()] = [2, LONGEST, 4, 5, 6];

/// The figures of a distribution of latencies, ns.
pub fn latencies(of: &Distribution) -> [Option<f64>; LATENCIES] {
    [of.p50_ns.map(|ns| ns as f64), of.p99_ns.map(|ns| ns as f64), of.p99_9_ns.map(|ns| ns as f64), of.max_ns]
}

/// The name of a figure as the beginning of a title.
pub fn title(figure: &Figure) -> String {
    let mut letters = figure.name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
