//! What is kept of a row's samples: all of them for percentiles, and each turn's lower quartile for comparisons.
//!
//! Used by `main`, which adds, and `report`, which asks. Ticks throughout. Not the median: a hop of a whole payload is as long as
//! a time slice, so on a machine that has something else to do half of them are as long as that something; a quarter are not.

/// The samples of a row.
#[derive(Default)]
pub struct Statistics {
    samples: Vec<u64>,
    quartiles: Vec<f64>,
}

impl Statistics {
    /// Adds the samples of a turn, and sorts them.
    pub fn add_turn(&mut self, samples: &mut [u64]) {
        samples.sort_unstable();
        self.samples.extend_from_slice(samples);
        if let Some(&quartile) = samples.get(samples.len().saturating_sub(1) / 4) {
            self.quartiles.push(quartile as f64);
        }
    }

    /// How many samples there are.
    pub fn n(&self) -> usize {
        self.samples.len()
    }

    /// The smallest samples that these shares of all samples do not exceed (nearest rank).
    pub fn percentiles<const N: usize>(&self, fractions: [f64; N]) -> [f64; N] {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        fractions.map(|fraction| {
            let rank = ((fraction * sorted.len() as f64).ceil() as usize).max(1);
            sorted.get(rank - 1).map_or(f64::NAN, |sample| *sample as f64)
        })
    }

    /// This row's lower quartile over the other's in the same cycle; of these, the median over all cycles.
    pub fn ratio_to(&self, other: &Statistics) -> f64 {
        let mut ratios: Vec<f64> =
            self.quartiles.iter().zip(&other.quartiles).map(|(own, other)| own / other).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios.get(ratios.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }
}
