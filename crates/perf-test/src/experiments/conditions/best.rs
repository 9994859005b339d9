//! The condition (setting of the machine) under which a run has the best value of a figure.

use serde::Serialize;

use crate::{
    log::figures::Figure,
    measure::interval::{CONFIDENCE, Interval},
};

/// The condition under which a run has the best value of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Best {
    /// The name of the figure.
    pub metric: &'static str,
    /// The condition with the lowest median; null if fewer than two conditions have the figure.
    pub condition: Option<String>,
    /// The conditions whose intervals overlap with the interval of the best one. They may be as good as the best one.
    pub ties: Vec<String>,
    /// Whether all intervals have the confidence that a verdict requires.
    pub is_confident: bool,
}

impl Best {
    /// Finds the best condition. `found` has the conditions, each with the interval of the figure.
    #[must_use]
    pub fn among(figure: &'static Figure, found: &[(&str, Interval)]) -> Best {
        let lowest = found.iter().min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median)).filter(|_| found.len() > 1);
        let Some((name, best)) = lowest else {
            return Best { metric: figure.field, condition: None, ties: Vec::new(), is_confident: false };
        };
        let ties = found.iter().filter(|(other, interval)| other != name && interval.low <= best.high);
        Best {
            metric: figure.field,
            condition: Some((*name).to_owned()),
            ties: ties.map(|(other, _)| (*other).to_owned()).collect(),
            is_confident: found.iter().all(|(_, interval)| interval.confidence >= CONFIDENCE),
        }
    }

    /// The mark of a condition in the table: best, tied with the best, or none. A question mark is added if the
    /// intervals do not have the confidence that a verdict requires.
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

    fn interval(values: [f64; 6]) -> Interval {
        Interval::from_values(values.to_vec()).unwrap()
    }

    #[test]
    fn conditions_whose_intervals_overlap_tie() {
        let fast = interval([1.0, 1.1, 1.2, 1.3, 1.4, 1.5]);
        let alike = interval([1.4, 1.5, 1.6, 1.7, 1.8, 1.9]);
        let slow = interval([2.0, 2.1, 2.2, 2.3, 2.4, 2.5]);
        let metric = &crate::log::figures::MEAN;
        let best = Best::among(metric, &[("slow", slow), ("fast", fast), ("alike", alike)]);
        assert_eq!((best.condition.as_deref(), best.ties.as_slice()), (Some("fast"), &["alike".to_owned()][..]));
        assert_eq!(["slow", "fast", "alike"].map(|name| best.mark(name)), ["", " =", " ="]);
        assert_eq!(best.words(3), "fast = alike");
        let alone = Best::among(metric, &[("slow", slow), ("fast", fast)]);
        assert_eq!((alone.mark("fast"), alone.words(2).as_str()), (" *", "fast"));
        assert_eq!(Best::among(metric, &[("fast", fast), ("alike", alike)]).words(2), "no difference shown");
        assert_eq!(Best::among(metric, &[("fast", fast)]).words(1), "-");
        let few = Interval::from_values(vec![1.0, 1.1]).unwrap();
        let doubtful = Best::among(metric, &[("few", few), ("slow", slow)]);
        assert_eq!((doubtful.words(2).as_str(), doubtful.mark("few")), ("few ?", " ?"));
        let doubtful = Best::among(metric, &[("few", few), ("fast", fast)]);
        assert_eq!(["few", "fast"].map(|name| doubtful.mark(name)), [" =?", " =?"]);
    }
}
