//! The part of a run's summary that has the value of a figure: a statistic of a series of times, or another number.

use crate::{
    log::{Distribution, Summary},
    measure::percentiles::{MIN_TAIL_SAMPLES, PERCENTILES, has_tail_samples, samples_needed},
};

/// A series of times that a run measures, one for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// The latencies from the send time.
    Latency,
    /// The latencies from the time at which the message was due.
    Response,
    /// The delays of the messages from due time to send time.
    Lateness,
}

/// A statistic of a series of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The shortest time.
    Min,
    /// The arithmetic mean.
    Mean,
    /// A percentile, one of [`PERCENTILES`].
    Percentile(f64),
    /// The longest time.
    Max,
}

/// The part of a run's summary that has the value of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A statistic of a series of times.
    Times(Series, Statistic),
    /// A function that returns the number, and the reason why it may be unknown.
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
    /// Parses the name of a statistic of times: `p99` (of the latencies), `latency.p99`, `response.mean` or
    /// `lateness.max`.
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

    /// The value of the figure in a run; `None` if it is unknown.
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

    /// The reason why the value is unknown, as the end of a sentence.
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

    /// The statement that a run has too few samples for this percentile, as the end of a sentence; `None` if it has
    /// enough.
    #[must_use]
    pub fn why_uncertain(&self, run: &Summary) -> Option<String> {
        let Source::Times(series, Statistic::Percentile(percentile)) = self else { return None };
        let (n, needed) = (series.times(run).n, samples_needed(*percentile));
        let why = || format!("fewer than {MIN_TAIL_SAMPLES} of {n} samples lie beyond it: run for {needed} samples");
        (!has_tail_samples(n, *percentile)).then(why)
    }

    /// Whether the figure is a percentile for which `n` samples are too few.
    #[must_use]
    pub fn is_uncertain(&self, n: u64) -> bool {
        matches!(self, Source::Times(_, Statistic::Percentile(percentile)) if !has_tail_samples(n, *percentile))
    }
}
