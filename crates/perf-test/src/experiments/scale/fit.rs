//! A linear fit without negative coefficients: more messages never reduce the cost, so a negative coefficient is wrong.
//!
//! The fit minimises relative errors, so that a small system counts as much as a large one.

use crate::measure::least_squares::{least_squares, weighted_sum};

/// Finds the coefficients for which the weighted sums of the quantities are nearest to the values. Each row of `rows`
/// has the quantities of one value. A quantity that explains nothing gets the coefficient 0. `None` if there are no
/// values.
#[must_use]
pub fn fit(rows: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    let columns = rows.first()?.len();
    let usable: Vec<(Vec<f64>, f64)> =
        rows.iter().cloned().zip(values.iter().copied()).filter(|(_, v)| *v > 0.0).collect();
    let mut best: Option<(f64, Vec<f64>)> = None;
    // There are few quantities, so every subset of them is tried and the best one is chosen.
    for subset in 1..1_u32 << columns {
        let chosen: Vec<usize> = (0..columns).filter(|column| subset >> column & 1 == 1).collect();
        if chosen.len() > usable.len() {
            continue;
        }
        let part =
            |row: &[f64], value: f64| chosen.iter().filter_map(|column| Some(row.get(*column)? / value)).collect();
        let relative: Vec<(Vec<f64>, f64)> = usable.iter().map(|(row, value)| (part(row, *value), 1.0)).collect();
        let Some(solution) = least_squares(&relative) else { continue };
        if solution.iter().any(|coefficient| *coefficient < 0.0) {
            continue;
        }
        let mut coefficients = vec![0.0; columns];
        for (column, coefficient) in chosen.iter().zip(solution) {
            if let Some(place) = coefficients.get_mut(*column) {
                *place = coefficient;
            }
        }
        let error = usable.iter().map(|(row, value)| (weighted_sum(row, &coefficients) / value - 1.0).powi(2)).sum();
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, coefficients));
        }
    }
    best.map(|(_, coefficients)| coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<f64>> {
        [(10.0, 40.0, 1e6), (100.0, 400.0, 1e6), (100.0, 80.0, 5e5), (50.0, 900.0, 0.0), (1000.0, 4000.0, 2e8)]
            .map(|(a, b, c)| vec![1.0, a, b, c])
            .to_vec()
    }

    #[test]
    fn exact_coefficients_are_found_whatever_their_units() {
        let wanted = [3.0, 0.02, 0.5, 1e-8];
        let values: Vec<f64> = rows().iter().map(|row| weighted_sum(row, &wanted)).collect();
        let found = fit(&rows(), &values).unwrap();
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 1e-6, "{found} against {wanted}");
        }
    }

    #[test]
    fn a_quantity_that_would_have_a_negative_coefficient_counts_nothing() {
        let values: Vec<f64> = rows().iter().map(|row| 5.0 * row[1] - 0.001 * row[2] + 1.0).collect();
        let found = fit(&rows(), &values).unwrap();
        assert!(found.iter().all(|coefficient| *coefficient >= 0.0), "{found:?}");
        assert!((found[1] - 5.0).abs() < 0.1, "{found:?}");
        assert_eq!(fit(&[], &[]), None);
        // One value suffices for one coefficient.
        let one = fit(&[vec![1.0, 10.0]], &[20.0]).unwrap();
        assert!((weighted_sum(&[1.0, 10.0], &one) - 20.0).abs() < 1e-9, "{one:?}");
    }
}
