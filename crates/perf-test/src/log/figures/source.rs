//! The place of a figure in the summary of a run: a statistic of a series of times, or any other number.

use crate::{
    log::{Distribution, Summary},
    measure::percentiles::{MIN_TAIL_SAMPLES, PERCENTILES, has_tail_samples, samples_needed},
};

/// A series of times of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// The latencies from the send time.
    Latency,
    /// The latencies from the times at which the messages were due.
    Response,
    /// The delays of the messages from due time to send time.
    Lateness,
}

/// A statistic of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The shortest time.
    Min,
    /// The arithmetic mean.
    Mean,
    /// One of [`PERCENTILES`].
    Percentile(f64),
    /// The longest time.
    Max,
}

/// The source of a figure in the summary of a run.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A statistic of a series of times.
    Times(Series, Statistic),
    /// A number, and the reason why a run may have none.
    Number(fn(&Summary) -> Option<f64>, &'static str),
}

impl Series {
    fn times(self, run: &Summary) -> &Distribution {
        match self {
            Series::Latency => &run.total.latency,
            Series::Response => &run.total.response,
            Series::Lateness => &run.total.send_lateness,
        }
    }
}

impl Source {
    /// The statistic of a series with a name such as `p99` (of the latencies), `latency.p99`, `response.mean`
    /// or `lateness.max`.
    #[must_use]
    pub fn of_times(name: &str) -> Option<Source> {
        let (series, statistic) = match name.split_once('.') {
            Some(("latency", statistic)) => (Series::Latency, statistic),
            Some(("response", statistic)) => (Series::Response, statistic),
            Some(("lateness", statistic)) => (Series::Lateness, statistic),
            _ => (Series::Latency, name),
        };
        let statistic = match statistic {
            "min" => Statistic::Min,
            "mean" => Statistic::Mean,
            "max" => Statistic::Max,
            _ => {
                Statistic::Percentile(PERCENTILES.into_iter().find(|percentile| format!("p{percentile}") == statistic)?)
            }
        };
        Some(Source::Times(series, statistic))
    }

    /// The value of the figure in a run; `None` if the run has none.
    #[must_use]
    pub fn value(&self, run: &Summary) -> Option<f64> {
        match self {
            Source::Number(value, _) => value(run),
            Source::Times(series, statistic) => {
                let times = series.times(run);
                match statistic {
                    Statistic::Min => times.min_ns,
                    Statistic::Mean => times.mean_ns,
                    Statistic::Percentile(percentile) => (times.n > 0).then(|| times.percentile_ns(*percentile)),
                    Statistic::Max => times.max_ns,
                }
            }
        }
    }

    /// The reason why a run has no value, as the end of a sentence.
    #[must_use]
    pub fn why_unknown(&self) -> &'static str {
        match self {
            Source::Number(_, why) => why,
            Source::Times(Series::Latency, _) => "no sample has a latency",
            Source::Times(Series::Response, _) => {
                "no sample's schedule is known, as with -p 0, or there is none, as with -r 0"
            }
            Source::Times(Series::Lateness, _) => "no message was due at a time, as with -s 0 -r 0 or -p 0",
        }
    }

    /// The reason not to trust a percentile (it rests on too few samples), as the end of a sentence; `None` if there
    /// is none.
    #[must_use]
    pub fn why_uncertain(&self, run: &Summary) -> Option<String> {
        let Source::Times(series, Statistic::Percentile(percentile)) = self else { return None };
        let (n, needed) = (series.times(run).n, samples_needed(*percentile));
        let why = || format!("fewer than {MIN_TAIL_SAMPLES} of {n} samples lie beyond it: run for {needed} samples");
        (!has_tail_samples(n, *percentile)).then(why)
    }

    /// Whether the figure is a percentile that rests on too few of `n` samples.
    #[must_use]
    pub fn is_uncertain(&self, n: u64) -> bool {
        matches!(self, Source::Times(_, Statistic::Percentile(percentile)) if !has_tail_samples(n, *percentile))
    }
}
