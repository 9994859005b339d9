//! The ratio between two unpaired groups of runs: the Hodges-Lehmann estimate with its confidence interval, and the
//! Mann-Whitney test.
//!
//! Assumptions: the runs are independent, and the logarithms of both groups have the same distribution apart from a
//! shift. The shape of the distribution does not matter. The interval excludes 1 exactly if the test rejects at the
//! same confidence. The distribution of the test statistic is exact for values without ties; a tie counts as evidence
//! against a difference.

use super::interval::{CONFIDENCE, Interval};

/// The ratio of `after` to `before` with its interval, and the two-sided p-value: the probability, 0 to 1, that chance
/// alone causes a ratio at least as far from 1. `None` if a group is empty. Values must not be negative; the ratio of 0
/// to 0 counts as 1.
#[must_use]
pub fn ratio_of_groups(before: &[f64], after: &[f64]) -> Option<(Interval, f64)> {
    let mut ratios: Vec<f64> = before.iter().flat_map(|b| after.iter().map(|a| ratio(*b, *a))).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let n = ratios.len();
    let (middle, upper) = (*ratios.get(n.checked_sub(1)? / 2)?, *ratios.get(n / 2)?);
    let median = if middle == upper { middle } else { (middle * upper).sqrt() };
    let tails = tails(before.len(), after.len());
    // No ratio is dropped if no tail is small enough. With one value in each group, the interval is only the ratio
    // itself.
    let dropped = tails.iter().rposition(|tail| 1.0 - 2.0 * tail >= CONFIDENCE).unwrap_or(0);
    let (low, high) = (*ratios.get(dropped)?, *ratios.get(n - 1 - dropped)?);
    let confidence = (1.0 - 2.0 * tails.get(dropped)?).max(0.0);
    let not_above = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
    let not_below = ratios.iter().filter(|ratio| **ratio >= 1.0).count();
    let chance = tails.get(not_above.min(not_below)).map_or(1.0, |tail| (2.0 * tail).min(1.0));
    Some((Interval { n, median, low, high, confidence }, chance))
}

/// The smallest p-value that [`ratio_of_groups`] can return for groups of these sizes. The sizes must not be 0.
#[must_use]
pub fn least_chance(before: usize, after: usize) -> f64 {
    tails(before, after).first().map_or(1.0, |tail| (2.0 * tail).min(1.0))
}

/// The ratio `after / before`; 1 if both are 0.
#[must_use]
pub fn ratio(before: f64, after: f64) -> f64 {
    if before == after { 1.0 } else { after / before }
}

/// The cumulative probabilities P(U ≤ u) of the Mann-Whitney statistic U for groups of `m` and `n` values, for u from 0
/// to the middle of the distribution.
///
/// The number of orderings with a given U is a coefficient of the Gaussian binomial. This is the product, over i from 1
/// to m, of the factors (1 - q^(n+i)) / (1 - q^i). Each factor is divided by its value at q = 1, so that the
/// coefficients become probabilities.
fn tails(m: usize, n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; m * n / 2 + 1];
    probabilities[0] = 1.0;
    for i in 1..=m {
        for u in (n + i..probabilities.len()).rev() {
            probabilities[u] -= probabilities[u - n - i];
        }
        for u in i..probabilities.len() {
            probabilities[u] += probabilities[u - i];
        }
        let share = i as f64 / (n + i) as f64;
        probabilities.iter_mut().for_each(|probability| *probability *= share);
    }
    let mut sum = 0.0;
    let below = |probability| {
        sum += probability;
        sum
    };
    probabilities.into_iter().map(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_that_of_mann_and_whitney() {
        // Source: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger" (1947),
        // table I.
        for (m, n, table) in [
            (3, 3, vec![0.05, 0.1, 0.2, 0.35, 0.5]),
            (3, 5, vec![0.018, 0.036, 0.071, 0.125, 0.196, 0.286, 0.393, 0.5]),
            (4, 4, vec![0.014, 0.029, 0.057, 0.1, 0.171, 0.243, 0.343, 0.443]),
        ] {
            for found in [tails(m, n), tails(n, m)] {
                assert!(
                    found.iter().zip(&table).all(|(found, known)| (found - known).abs() < 6e-4),
                    "{m} {n} {found:?}"
                );
            }
        }
        // Critical values from textbooks, two-sided at 5 %.
        for (n, critical) in [(4, 0), (5, 2), (6, 5), (8, 13), (10, 23), (15, 64), (20, 127)] {
            let tails = tails(n, n);
            assert!(tails[critical] <= 0.025 && tails[critical + 1] > 0.025, "{n}: {tails:?}");
        }
        assert_eq!(least_chance(6, 6), 2.0 / 924.0);
        let many = tails(200, 200);
        assert!(many.is_sorted() && (many[200 * 100] - 0.5).abs() < 1e-3, "{:?}", many.last());
    }

    #[test]
    fn the_ratio_is_that_of_a_textbook() {
        // Source: Hollander and Wolfe, "Nonparametric Statistical Methods", examples 4.1, 4.3 and 4.5. Their values are
        // used as logarithms here.
        let at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46].map(f64::exp);
        let earlier = [1.15, 0.88, 0.90, 0.74, 1.21].map(f64::exp);
        let (found, chance) = ratio_of_groups(&at_term, &earlier).unwrap();
        let near = |found: f64, known: f64| (found - known).abs() < 1e-9;
        assert!(near(found.median.ln(), -0.305), "{found:?}");
        assert!(near(found.low.ln(), -0.76) && near(found.high.ln(), 0.15), "{found:?}");
        assert!((found.confidence - 0.96).abs() < 1e-3 && (chance - 0.2544).abs() < 1e-4, "{found:?} {chance}");
    }

    #[test]
    fn few_values_have_the_range_of_their_ratios_and_its_low_confidence() {
        assert_eq!(ratio_of_groups(&[], &[1.0]), None);
        let (one, chance) = ratio_of_groups(&[2.0], &[3.0]).unwrap();
        assert_eq!((one.low, one.median, one.high, one.confidence, chance), (1.5, 1.5, 1.5, 0.0, 1.0));
        let (three, chance) = ratio_of_groups(&[1.0, 2.0, 4.0], &[8.0, 8.0, 16.0]).unwrap();
        assert_eq!((three.low, three.high), (2.0, 16.0));
        assert!((three.confidence - 0.9).abs() < 1e-12 && (chance - 0.1).abs() < 1e-12, "{three:?} {chance}");
    }

    #[test]
    fn equal_values_and_zeros_show_nothing_that_is_not_there() {
        let (same, chance) = ratio_of_groups(&[0.0; 6], &[0.0; 6]).unwrap();
        assert_eq!((same.low, same.median, same.high, chance), (1.0, 1.0, 1.0, 1.0));
        let (lost, chance) = ratio_of_groups(&[0.0; 6], &[7.0; 6]).unwrap();
        assert_eq!((lost.low, lost.high, chance), (f64::INFINITY, f64::INFINITY, 2.0 / 924.0));
        // The interval excludes 1 exactly if the p-value is small enough.
        let before = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for shift in 0..60 {
            let after = before.map(|value| value + f64::from(shift) / 10.0);
            let (found, chance) = ratio_of_groups(&before, &after).unwrap();
            assert_eq!(found.contains(1.0), chance > 1.0 - found.confidence + 1e-9, "{shift}: {found:?} {chance}");
        }
    }
}
