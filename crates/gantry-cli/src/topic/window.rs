//! The newest messages of a topic: their times, delays and sizes.

use serde::Serialize;
use std::{collections::VecDeque, fmt, time::Duration};

/// The newest times in seconds (periods or delays of messages), at most `most`.
#[derive(Debug)]
struct Times {
    most: usize,
    seconds: VecDeque<f64>,
    /// Whether a time was added since the last call of [`Self::statistics`].
    is_new: bool,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Statistics {
    #[serde(skip)]
    mean_s: f64,
    min_s: f64,
    max_s: f64,
    std_dev_s: f64,
    window: usize,
}

impl Times {
    fn new(most: usize) -> Times {
        Times { most, seconds: VecDeque::new(), is_new: false }
    }

    fn add(&mut self, seconds: f64) {
        self.seconds.push_back(seconds);
        self.is_new = true;
        if self.seconds.len() > self.most {
            self.seconds.pop_front();
        }
    }

    /// The statistics of the times; `None` if no time was added since the last call.
    fn statistics(&mut self) -> Option<Statistics> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        let (seconds, count) = (|| self.seconds.iter().copied(), self.seconds.len() as f64);
        let mean_s = seconds().sum::<f64>() / count;
        Some(Statistics {
            mean_s,
            min_s: seconds().fold(f64::INFINITY, f64::min),
            max_s: seconds().fold(f64::NEG_INFINITY, f64::max),
            std_dev_s: (seconds().map(|second| (second - mean_s).powi(2)).sum::<f64>() / count).sqrt(),
            window: self.seconds.len(),
        })
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics { min_s, max_s, std_dev_s, window, .. } = self;
        writeln!(f, "\tmin: {min_s:.3}s max: {max_s:.3}s std dev: {std_dev_s:.5}s window: {window}")
    }
}

/// The times between messages.
#[derive(Debug)]
pub struct Periods {
    last: Option<Duration>,
    times: Times,
}

/// The rate of a topic, in the words of `ros2 topic hz`.
#[derive(Debug, PartialEq, Serialize)]
pub struct Rate {
    average_rate_hz: f64,
    #[serde(flatten)]
    periods: Statistics,
}

impl Periods {
    /// Makes an empty list, which keeps the newest `most` periods.
    pub fn new(most: usize) -> Periods {
        Periods { last: None, times: Times::new(most) }
    }

    /// Adds a message that arrived at `time`, counted from a fixed origin.
    pub fn add(&mut self, time: Duration) {
        if let Some(last) = self.last.replace(time) {
            self.times.add(time.saturating_sub(last).as_secs_f64());
        }
    }

    /// The rate; `None` if no message arrived since the last call.
    pub fn rate(&mut self) -> Option<Rate> {
        let periods = self.times.statistics()?;
        Some(Rate { average_rate_hz: if periods.mean_s > 0.0 { 1.0 / periods.mean_s } else { 0.0 }, periods })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "average rate: {:.3}\n{}", self.average_rate_hz, self.periods)
    }
}

/// The times from the stamps in the headers of messages to their arrival.
#[derive(Debug)]
pub struct Delays(Times);

/// The delay of a topic, in the words of `ros2 topic delay`.
#[derive(Debug, PartialEq, Serialize)]
pub struct Delay {
    average_delay_s: f64,
    #[serde(flatten)]
    delays: Statistics,
}

impl Delays {
    /// Makes an empty list, which keeps the newest `most` delays.
    pub fn new(most: usize) -> Delays {
        Delays(Times::new(most))
    }

    /// Adds a message; its delay is negative if the clock of its stamp is ahead.
    pub fn add(&mut self, delay_ns: i128) {
        self.0.add(delay_ns as f64 / 1e9);
    }

    /// The delay; `None` if no message arrived since the last call.
    pub fn delay(&mut self) -> Option<Delay> {
        let delays = self.0.statistics()?;
        Some(Delay { average_delay_s: delays.mean_s, delays })
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "average delay: {:.3}\n{}", self.average_delay_s, self.delays)
    }
}

/// The sizes and times of the newest messages, at most `most`.
#[derive(Debug)]
pub struct Sizes {
    most: usize,
    messages: VecDeque<(Duration, usize)>,
}

/// The bandwidth of a topic, in the words of `ros2 topic bw`.
#[derive(Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    pub bytes_per_s: f64,
    pub messages: usize,
    pub mean_bytes: f64,
    pub min_bytes: usize,
    pub max_bytes: usize,
}

impl Sizes {
    pub fn new(most: usize) -> Sizes {
        Sizes { most, messages: VecDeque::new() }
    }

    pub fn add(&mut self, time: Duration, size_bytes: usize) {
        self.messages.push_back((time, size_bytes));
        if self.messages.len() > self.most {
            self.messages.pop_front();
        }
    }

    /// The bandwidth from the first message of the window until `now`; `None` before the second message.
    pub fn bandwidth(&self, now: Duration) -> Option<Bandwidth> {
        let (first, _) = self.messages.front().filter(|_| self.messages.len() > 1)?;
        let seconds = now.saturating_sub(*first).as_secs_f64();
        let sizes = || self.messages.iter().map(|(_, size_bytes)| *size_bytes);
        let total = sizes().sum::<usize>() as f64;
        Some(Bandwidth {
            bytes_per_s: if seconds > 0.0 { total / seconds } else { 0.0 },
            messages: self.messages.len(),
            mean_bytes: total / self.messages.len() as f64,
            min_bytes: sizes().min().unwrap_or(0),
            max_bytes: sizes().max().unwrap_or(0),
        })
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All numbers of a line have the same unit, chosen by the bandwidth, as in `ros2 topic bw`.
        let text = |bytes: f64| match self.bytes_per_s {
            rate if rate < 1e3 => format!("{bytes:.0} B"),
            rate if rate < 1e6 => format!("{:.2} KB", bytes / 1e3),
            _ => format!("{:.2} MB", bytes / 1e6),
        };
        writeln!(f, "{}/s from {} messages", text(self.bytes_per_s), self.messages)?;
        let (mean, min, max) = (text(self.mean_bytes), text(self.min_bytes as f64), text(self.max_bytes as f64));
        writeln!(f, "\tMessage size mean: {mean} min: {min} max: {max}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn a_rate_is_printed_as_ros_2_prints_it() {
        let mut periods = Periods::new(3);
        periods.add(ms(0));
        assert_eq!(periods.rate(), None, "one message has no period");
        [1000, 1500, 2000, 2500].into_iter().for_each(|time| periods.add(ms(time)));
        let rate = periods.rate().unwrap();
        assert_eq!(rate.to_string(), "average rate: 2.000\n\tmin: 0.500s max: 0.500s std dev: 0.00000s window: 3\n");
        assert_eq!(periods.rate(), None, "nothing new came");
        periods.add(ms(2600));
        let rate = periods.rate().unwrap();
        assert_eq!(rate.to_string(), "average rate: 2.727\n\tmin: 0.100s max: 0.500s std dev: 0.18856s window: 3\n");
    }

    #[test]
    fn a_delay_is_printed_as_ros_2_prints_it() {
        let mut delays = Delays::new(2);
        assert_eq!(delays.delay(), None);
        [9_000_000_000, 250_000_000, -50_000_000].into_iter().for_each(|delay_ns| delays.add(delay_ns));
        let delay = delays.delay().unwrap().to_string();
        assert_eq!(delay, "average delay: 0.100\n\tmin: -0.050s max: 0.250s std dev: 0.15000s window: 2\n");
        assert_eq!(delays.delay(), None, "nothing new came");
    }

    #[test]
    fn a_bandwidth_is_printed_as_ros_2_prints_it() {
        let mut sizes = Sizes::new(2);
        sizes.add(ms(0), 1_000_000);
        assert_eq!(sizes.bandwidth(ms(10)), None);
        sizes.add(ms(1000), 100);
        sizes.add(ms(1500), 300);
        let bandwidth = sizes.bandwidth(ms(2000)).unwrap().to_string();
        assert_eq!(bandwidth, "400 B/s from 2 messages\n\tMessage size mean: 200 B min: 100 B max: 300 B\n");
        sizes.add(ms(2000), 3_000_000);
        let bandwidth = sizes.bandwidth(ms(2500)).unwrap().to_string();
        assert_eq!(bandwidth, "3.00 MB/s from 2 messages\n\tMessage size mean: 1.50 MB min: 0.00 MB max: 3.00 MB\n");
    }
}
