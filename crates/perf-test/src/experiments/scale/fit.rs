//! A linear fit whose coefficients are not negative: no part of a machine is won by more messages.
//!
//! Each value counts by its relative error, so that a small system counts as much as a large one.

/// The coefficients of the quantities that explain values best; 0 of a quantity that explains nothing. `None` with
/// fewer values than would tell a single coefficient. `rows` has the quantities of each value.
#[must_use]
pub fn fit(rows: &[Vec<f64>], values: &[f64]) -> Option<Vec<f64>> {
    let columns = rows.first()?.len();
    let usable: Vec<(Vec<f64>, f64)> =
        rows.iter().cloned().zip(values.iter().copied()).filter(|(_, v)| *v > 0.0).collect();
    let mut best: Option<(f64, Vec<f64>)> = None;
    // All subsets: there are few quantities, and so the result is the best one.
    for subset in 1..1_u32 << columns {
        let chosen: Vec<usize> = (0..columns).filter(|column| subset >> column & 1 == 1).collect();
        if chosen.len() > usable.len() {
            continue;
        }
        let Some(solution) = least_squares(&usable, &chosen) else { continue };
        if solution.iter().any(|coefficient| *coefficient < 0.0) {
            continue;
        }
        let mut coefficients = vec![0.0; columns];
        for (column, coefficient) in chosen.iter().zip(solution) {
            if let Some(place) = coefficients.get_mut(*column) {
                *place = coefficient;
            }
        }
        let error = usable.iter().map(|(row, value)| (predict(row, &coefficients) / value - 1.0).powi(2)).sum();
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, coefficients));
        }
    }
    best.map(|(_, coefficients)| coefficients)
}

/// The value of these quantities.
#[must_use]
pub fn predict(row: &[f64], coefficients: &[f64]) -> f64 {
    row.iter().zip(coefficients).map(|(quantity, coefficient)| quantity * coefficient).sum()
}

/// The least relative squares in the chosen columns, by the normal equations; `None` if the columns depend on each
/// other.
fn least_squares(usable: &[(Vec<f64>, f64)], chosen: &[usize]) -> Option<Vec<f64>> {
    // Columns have very different units: each is scaled to at most 1.
    let scale = |column: &usize| {
        let largest =
            usable.iter().filter_map(|(row, value)| Some(row.get(*column)?.abs() / value)).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    };
    let scales: Vec<f64> = chosen.iter().map(scale).collect();
    let n = chosen.len();
    let mut equations = vec![vec![0.0; n + 1]; n];
    for (row, value) in usable {
        let scaled: Vec<f64> = chosen
            .iter()
            .zip(&scales)
            .map(|(column, scale)| row.get(*column).copied().unwrap_or(0.0) / value / scale)
            .collect();
        for (equation, own) in equations.iter_mut().zip(&scaled) {
            for (place, other) in equation.iter_mut().zip(scaled.iter().chain([&1.0])) {
                *place += own * other;
            }
        }
    }
    let solution = solve(equations)?;
    Some(solution.into_iter().zip(scales).map(|(coefficient, scale)| coefficient / scale).collect())
}

/// Gauss's elimination with pivots.
fn solve(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    /// Below it, scaled columns depend on each other.
    const SINGULAR: f64 = 1e-9;
    let n = equations.len();
    for step in 0..n {
        let size = |equation: &Vec<f64>| equation.get(step).map_or(0.0, |value| value.abs());
        let (pivot, largest) = equations
            .iter()
            .enumerate()
            .skip(step)
            .map(|(index, equation)| (index, size(equation)))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        if largest < SINGULAR {
            return None;
        }
        equations.swap(step, pivot);
        let first = equations.get(step)?.clone();
        for (index, equation) in equations.iter_mut().enumerate() {
            if index != step {
                let factor = equation.get(step)? / first.get(step)?;
                equation.iter_mut().zip(&first).for_each(|(value, of_first)| *value -= factor * of_first);
            }
        }
    }
    equations.iter().enumerate().map(|(index, equation)| Some(equation.last()? / equation.get(index)?)).collect()
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
        let values: Vec<f64> = rows().iter().map(|row| predict(row, &wanted)).collect();
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
        // One value tells one coefficient.
        let one = fit(&[vec![1.0, 10.0]], &[20.0]).unwrap();
        assert!((predict(&[1.0, 10.0], &one) - 20.0).abs() < 1e-9, "{one:?}");
    }
}
