//! The figures of a run that the page shows.

use crate::log::{
    Distribution,
    figures::{CPU_PER_MESSAGE, Figure, LOST, MAX, P50, P99, P99_9, PEAK_MEMORY, PSS, THROUGHPUT},
};

/// The figures of latency, in the order of the values that [`latencies`] returns.
pub static LATENCIES: [&Figure; 4] = [&P50, &P99, &P99_9, &MAX];
/// All figures, in the order of the plots. The first four must be [`LATENCIES`].
pub static FIGURES: [&Figure; 9] = [&P50, &P99, &P99_9, &MAX, &CPU_PER_MESSAGE, &PEAK_MEMORY, &PSS, &THROUGHPUT, &LOST];
/// The most important figures. In the table, their columns are before the columns of the conditions.
pub static FIRST: [&Figure; 3] = [&P50, &P99, &LOST];
/// The other figures. In the table, their columns are after the columns of the conditions.
pub static OTHERS: [&Figure; 6] = [&P99_9, &MAX, &CPU_PER_MESSAGE, &PEAK_MEMORY, &PSS, &THROUGHPUT];

/// The values of [`LATENCIES`] for a distribution, ns.
pub fn latencies(of: &Distribution) -> [Option<f64>; LATENCIES.len()] {
    [of.p50_ns.map(|ns| ns as f64), of.p99_ns.map(|ns| ns as f64), of.p99_9_ns.map(|ns| ns as f64), of.max_ns]
}

/// The name of a figure as a title, with an upper-case first letter.
pub fn title(figure: &Figure) -> String {
    let mut letters = figure.name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
