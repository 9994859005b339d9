//! A linear fit with the least sum of squared deviations.

/// The smallest accepted pivot. A smaller one means that the columns, scaled to at most 1, are linearly dependent.
const SINGULAR: f64 = 1e-9;

/// Finds the weights for which the weighted sum of each row's quantities is nearest to the row's value. `None` if there
/// are no rows, or if the quantities are linearly dependent.
#[must_use]
pub fn least_squares(rows: &[(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    let n = rows.first()?.0.len();
    // Each column is scaled, because the quantities have very different units.
    let scale = |column: usize| {
        let largest = rows.iter().filter_map(|(row, _)| Some(row.get(column)?.abs())).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    };
    let scales: Vec<f64> = (0..n).map(scale).collect();
    let mut equations = vec![vec![0.0; n + 1]; n];
    for (row, value) in rows {
        let scaled: Vec<f64> = row.iter().zip(&scales).map(|(quantity, scale)| quantity / scale).collect();
        for (equation, own) in equations.iter_mut().zip(&scaled) {
            for (place, other) in equation.iter_mut().zip(scaled.iter().chain([value])) {
                *place += own * other;
            }
        }
    }
    let solution = solve(equations)?;
    Some(solution.into_iter().zip(scales).map(|(weight, scale)| weight / scale).collect())
}

/// The weighted sum of quantities.
#[must_use]
pub fn weighted_sum(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().zip(weights).map(|(quantity, weight)| quantity * weight).sum()
}

/// Solves linear equations by Gaussian elimination with pivots.
fn solve(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
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
