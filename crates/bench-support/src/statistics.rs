//! The samples of a row of a benchmark. Percentiles use all samples; comparisons use one figure for each turn of the
//! measurement.

use std::collections::BTreeMap;

/// The samples of a row, in ticks of the clock.
pub struct Statistics {
    /// The number of times that each value was measured.
    counts: BTreeMap<u64, u64>,
    n: u64,
    /// The position, in the sorted samples of a turn, of the samples from which the turn's figure is computed: 2 is the
    /// median, and 4 the lower quartile.
    part: usize,
    /// The figure of each turn.
    figures: Vec<f64>,
}

impl Default for Statistics {
    /// Creates statistics in which the figure of a turn is the mean of the samples around the median.
    fn default() -> Statistics {
        Statistics { counts: BTreeMap::new(), n: 0, part: 2, figures: Vec::new() }
    }
}

impl Statistics {
    /// Creates statistics in which the figure of a turn is the mean of the samples around the lower quartile. This
    /// suits samples that last as long as a time slice: on a busy machine half of the samples are disturbed, but not
    /// the shortest quarter.
    pub fn with_lower_quartiles() -> Statistics {
        Statistics { part: 4, ..Statistics::default() }
    }

    /// Adds the samples of a turn; sorts `samples`.
    pub fn add_turn(&mut self, samples: &mut [u64]) {
        samples.sort_unstable();
        for &sample in &*samples {
            *self.counts.entry(sample).or_default() += 1;
        }
        self.n += samples.len() as u64;
        // The figure is the mean of a quarter of the samples, so that it is finer than a step of the clock. On many
        // machines, this step is a tenth of the measured time.
        let (middle, around) = (samples.len().saturating_sub(1) / self.part, samples.len() / 8);
        if let Some(quarter) = samples.get(middle.saturating_sub(around)..=middle + around) {
            self.figures.push(quarter.iter().sum::<u64>() as f64 / quarter.len() as f64);
        }
    }

    /// The number of samples.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The `fraction` quantile of all samples (nearest rank).
    pub fn percentile(&self, fraction: f64) -> f64 {
        let rank = ((fraction * self.n as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|&(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map_or(f64::NAN, |(&sample, _)| sample as f64)
    }

    /// Divides this row's figure by the other row's figure of the same turn, and returns the median over all turns.
    pub fn ratio_to(&self, other: &Statistics) -> f64 {
        median(self.figures.iter().zip(&other.figures).map(|(own, other)| own / other))
    }
}

/// The median; for an even number of values, the smaller one of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    rank(values, 2)
}

/// The lower quartile; it is always one of the values.
pub fn lower_quartile(values: impl IntoIterator<Item = f64>) -> f64 {
    rank(values, 4)
}

fn rank(values: impl IntoIterator<Item = f64>, part: usize) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / part).copied().unwrap_or(f64::NAN)
}

/// The `fraction` quantile of sorted samples (nearest rank).
pub fn percentile(sorted: &[u64], fraction: f64) -> f64 {
    let rank = ((fraction * sorted.len() as f64).ceil() as usize).max(1);
    sorted.get(rank - 1).map_or(f64::NAN, |value| *value as f64)
}
