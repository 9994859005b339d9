//! The condition (setting of the machine) under which a run has the best value of a figure.

use serde::Serialize;

use crate::{
    log::figures::Figure,
    measure::{
        interval::{CONFIDENCE, Interval},
        ranks::ratio_of_groups,
    },
};

/// The condition under which a run has the best value of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Best {
    /// The name of the figure.
    pub metric: &'static str,
    /// The condition with the lowest median; null if fewer than two conditions have the figure.
    pub condition: Option<String>,
    /// The conditions that show no difference from the best one. They may be as good as the best one.
    pub ties: Vec<String>,
    /// Whether all comparisons with the best condition have the confidence that a verdict requires.
    pub is_confident: bool,
}

impl Best {
    /// Finds the best condition. `found` has the conditions, each with the values of the figure in its rounds. Rounds
    /// are not paired, because the conditions may be of several boots. So the test is the one of
    /// `compare logs`, without its correction for the number of figures.
    #[must_use]
    pub fn among(figure: &'static Figure, found: &[(&str, Vec<f64>)]) -> Best {
        let medians = found
            .iter()
            .filter_map(|(name, values)| Some((name, values, Interval::from_values(values.clone())?.median)));
        let lowest = medians.min_by(|(.., a), (.., b)| a.total_cmp(b)).filter(|_| found.len() > 1);
        let Some((name, best, _)) = lowest else {
            return Best { metric: figure.field, condition: None, ties: Vec::new(), is_confident: false };
        };
        let others = found.iter().filter(|(other, _)| other != name);
        let ratios: Vec<_> =
            others.filter_map(|(other, values)| Some((*other, ratio_of_groups(best, values)?.0))).collect();
        let ties = ratios.iter().filter(|(_, ratio)| ratio.low <= 1.0);
        Best {
            metric: figure.field,
            condition: Some((*name).to_owned()),
            ties: ties.map(|(other, _)| (*other).to_owned()).collect(),
            is_confident: ratios.iter().all(|(_, ratio)| ratio.confidence >= CONFIDENCE),
        }
    }

    /// The mark of a condition in the table: best, tied with the best, or none. A question mark is added if the
    /// comparisons do not have the confidence that a verdict requires.
    #[must_use]
    pub fn mark(&self, condition: &str) -> &'static str {
        let is_best = self.condition.as_deref() == Some(condition);
        let is_tie = self.ties.iter().any(|tie| tie == condition);
        match (self.ties.is_empty(), self.is_confident) {
            _ if !is_best && !is_tie => "",
            (true, true) => " *",
            (true, false) => " ?",
            (false, true) => " =",
            (false, false) => " =?",
        }
    }

    /// The best condition and its ties as text. `number` is the number of all conditions.
    #[must_use]
    pub fn words(&self, number: usize) -> String {
        let Some(condition) = &self.condition else { return "-".to_owned() };
        let doubt = if self.is_confident { "" } else { " ?" };
        match self.ties.len() + 1 {
            all if all == number => format!("no difference shown{doubt}"),
            1 => format!("{condition}{doubt}"),
            _ => format!("{condition} = {}{doubt}", self.ties.join(" = ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_without_a_difference_from_the_best_tie() {
        let fast = vec![1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        let alike = vec![1.05, 1.25, 1.35, 1.6, 1.7, 1.8];
        // Its interval of 95 % overlaps with the interval of `fast`; the test shows the difference nevertheless.
        let slow = vec![1.45, 1.55, 1.65, 1.75, 1.85, 1.95];
        let metric = &crate::log::figures::MEAN;
        let best = Best::among(metric, &[("slow", slow.clone()), ("fast", fast.clone()), ("alike", alike.clone())]);
        assert_eq!((best.condition.as_deref(), best.ties.as_slice()), (Some("fast"), &["alike".to_owned()][..]));
        assert_eq!(["slow", "fast", "alike"].map(|name| best.mark(name)), ["", " =", " ="]);
        assert_eq!(best.words(3), "fast = alike");
        let alone = Best::among(metric, &[("slow", slow.clone()), ("fast", fast.clone())]);
        assert_eq!((alone.mark("fast"), alone.words(2).as_str()), (" *", "fast"));
        assert_eq!(Best::among(metric, &[("fast", fast.clone()), ("alike", alike)]).words(2), "no difference shown");
        assert_eq!(Best::among(metric, &[("fast", fast.clone())]).words(1), "-");
        let few = vec![0.9, 1.0];
        let doubtful = Best::among(metric, &[("few", few.clone()), ("slow", slow)]);
        assert_eq!((doubtful.words(2).as_str(), doubtful.mark("few")), ("few ?", " ?"));
        let doubtful = Best::among(metric, &[("few", few), ("fast", fast)]);
        assert_eq!(["few", "fast"].map(|name| doubtful.mark(name)), [" =?", " =?"]);
    }
}
