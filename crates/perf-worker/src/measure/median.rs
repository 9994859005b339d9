//! The median of a few figures.

/// The median of the values, which lies in the middle between two values if their number is even; 0 if there are no
/// values. A single outlier hardly moves it.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    let lower = values.len().saturating_sub(1) / 2;
    values.get(upper).map_or(0.0, |upper| f64::midpoint(values[lower], *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_stall() {
        assert_eq!(median(vec![3.0, 1.0, 1e9]), 3.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
