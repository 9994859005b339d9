//! What is kept of a variant's samples: all of them for percentiles, and each turn's median for comparisons.
//!
//! Used by `schedule`, which adds, and `report`, which asks. Ticks throughout.

use std::collections::BTreeMap;

/// The samples of a variant.
#[derive(Default)]
pub struct Statistics {
    /// How often each value was measured.
    counts: BTreeMap<u64, u64>,
    n: u64,
    /// The median of each turn.
    medians: Vec<f64>,
}

impl Statistics {
    /// Adds the samples of a turn, and sorts them.
    pub fn add_turn(&mut self, samples: &mut [u64]) {
        samples.sort_unstable();
        for &sample in &*samples {
            *self.counts.entry(sample).or_default() += 1;
        }
        self.n += samples.len() as u64;
        if let Some(&median) = samples.get(samples.len().saturating_sub(1) / 2) {
            self.medians.push(median as f64);
        }
    }

    /// How many samples there are.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The smallest sample that a share of `fraction` of all samples does not exceed (nearest rank).
    pub fn percentile(&self, fraction: f64) -> f64 {
        let rank = ((fraction * self.n as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|&(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map_or(f64::NAN, |(&sample, _)| sample as f64)
    }

    /// This variant's median over the other's in the same cycle; of these, the median over all cycles.
    pub fn ratio_to(&self, other: &Statistics) -> f64 {
        let mut ratios: Vec<f64> = self.medians.iter().zip(&other.medians).map(|(own, other)| own / other).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios.get(ratios.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }
}
