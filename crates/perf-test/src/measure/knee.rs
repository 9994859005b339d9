//! The knee of a curve: the point from which the curve grows faster. It is found by fitting two lines that meet at the
//! knee.
//!
//! Both axes are logarithmic, so a slope of 1 means proportional growth, and a slope of 0 means no growth.

use serde::Serialize;

use super::least_squares::{least_squares, weighted_sum};

/// The least number of points for a fit. Akaike's criterion divides by n - p - 1, and two lines that meet have p = 5
/// parameters.
pub const MIN_POINTS: usize = 7;
/// The number of equal steps into which the range of possible knees is divided. The knee is tried at each step.
const PLACES: u32 = 200;
/// The root mean square of the deviations, in natural logarithms (5 %), below which one line describes all points.
const SMALL: f64 = 0.05;
/// The numbers of parameters of one line, and of two lines that meet. The variance of the deviations is one of them.
const PARAMETERS: [f64; 2] = [3.0, 5.0];

/// The knee of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Knee {
    /// The x coordinate of the knee.
    pub at: f64,
    /// The slope of the line before the knee.
    pub slope_before: f64,
    /// The slope of the line after the knee. It is greater than the slope before.
    pub slope_after: f64,
}

/// Finds the knee of a curve through points with positive coordinates. `None` if a single line describes the points
/// equally well (Akaike's criterion, corrected for few points), if the slope is smaller after the bend than before it,
/// or if there are fewer than [`MIN_POINTS`] points.
#[must_use]
pub fn knee(points: &[(f64, f64)]) -> Option<Knee> {
    let mut points: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = points.len();
    if n < MIN_POINTS {
        return None;
    }
    let (_, one) = fit(&points, |x| vec![1.0, x])?;
    if (one / n as f64).sqrt() < SMALL {
        return None;
    }
    // The knee is between the second point and the last but one, so that each line has at least two points.
    let (first, last) = (points.get(1)?.0, points.get(n - 2)?.0);
    let places = (0..=PLACES).map(|step| first + (last - first) * f64::from(step) / f64::from(PLACES));
    let fits =
        places.filter_map(|at| fit(&points, |x| vec![1.0, x, (x - at).max(0.0)]).map(|(line, two)| (at, line, two)));
    let (at, weights, two) = fits.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let [_, slope, more] = weights[..] else { return None };
    let is_better = criterion(two, n, PARAMETERS[1]) < criterion(one, n, PARAMETERS[0]);
    (is_better && more > 0.0).then(|| Knee { at: at.exp(), slope_before: slope, slope_after: slope + more })
}

/// Akaike's criterion, corrected for few points. A smaller value is better.
fn criterion(squares: f64, n: usize, parameters: f64) -> f64 {
    let n = n as f64;
    let fit = n * (squares.max(f64::MIN_POSITIVE) / n).ln();
    fit + 2.0 * parameters + 2.0 * parameters * (parameters + 1.0) / (n - parameters - 1.0)
}

/// Fits a weighted sum of `terms` to the points. Returns the weights and the sum of the squared deviations.
fn fit(points: &[(f64, f64)], terms: impl Fn(f64) -> Vec<f64>) -> Option<(Vec<f64>, f64)> {
    let rows: Vec<(Vec<f64>, f64)> = points.iter().map(|(x, y)| (terms(*x), *y)).collect();
    let weights = least_squares(&rows)?;
    let squares = rows.iter().map(|(row, y)| (y - weighted_sum(row, &weights)).powi(2)).sum();
    Some((weights, squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of performance_test's messages, from 1 KiB to 8 MiB.
    const KIB: [f64; 11] = [1.0, 4.0, 16.0, 32.0, 60.0, 64.0, 256.0, 1024.0, 2048.0, 4096.0, 8192.0];

    /// Points of a curve. Each deviates by at most 5 %, as on a busy machine.
    fn points(curve: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let noise = [1.04, 0.97, 1.02, 0.95, 1.05, 1.01, 0.96, 1.03, 0.98, 1.04, 0.99];
        KIB.iter().zip(noise).map(|(kib, noise)| (*kib, curve(*kib) * noise)).collect()
    }

    #[test]
    fn the_knee_is_where_latency_begins_to_grow_in_proportion() {
        let found = knee(&points(|kib| if kib < 256.0 { 30.0 } else { 30.0 * kib / 256.0 })).unwrap();
        assert!((180.0..360.0).contains(&found.at), "{found:?}");
        assert!(found.slope_before.abs() < 0.1 && (found.slope_after - 1.0).abs() < 0.1, "{found:?}");
        // The latency has a fixed part and a part per byte. The two parts are equal at 512 KiB.
        let found = knee(&points(|kib| 30.0 + 30.0 * kib / 512.0)).unwrap();
        assert!((128.0..1024.0).contains(&found.at), "{found:?}");
    }

    #[test]
    fn one_line_has_no_knee() {
        for curve in [|_| 30.0, |kib| 5.0 * kib, |kib: f64| 10.0 * kib.sqrt()] {
            assert_eq!(knee(&points(curve)), None);
        }
        // Points exactly on one line have no knee, either.
        assert_eq!(knee(&KIB.map(|kib| (kib, 3.0 * kib))), None);
    }

    #[test]
    fn neither_a_bend_downwards_nor_a_few_points_are_a_knee() {
        assert_eq!(knee(&points(|kib| kib.min(256.0))), None);
        let few: Vec<_> = points(|kib| if kib < 256.0 { 30.0 } else { kib }).into_iter().step_by(2).collect();
        assert_eq!((few.len(), knee(&few)), (6, None));
        assert_eq!(knee(&[(1.0, 0.0); 20]), None);
        assert_eq!(knee(&[(4.0, 4.0); 20]), None);
    }
}
