//! The median of a few figures.

/// The median of the values; 0 if there are no values. A single outlier hardly moves it.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_stall() {
        assert_eq!(median(vec![3.0, 1.0, 1e9]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
