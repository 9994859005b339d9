//! The reports of a recording: a progress line while it runs, and a summary at its end.

use crate::topics::Topics;
use gantry_command::text::{bytes, seconds};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

/// The state of a recording in a report.
#[derive(Debug, Serialize)]
pub struct Report {
    folder: String,
    duration_ns: u64,
    topics: usize,
    messages: u64,
    bytes: u64,
    /// The messages per second since the last report. In the summary, since the start of the recording.
    messages_per_s: f64,
    bytes_per_s: f64,
    file_bytes: u64,
    queued_bytes: u64,
    /// The number of missing messages, by topic.
    dropped: BTreeMap<String, u64>,
    #[serde(skip)]
    is_summary: bool,
}

/// Makes reports. Keeps the counts of the last report for comparison.
#[derive(Debug)]
pub struct Reports {
    folder: String,
    start: Instant,
    last: (Instant, u64, u64),
}

impl Reports {
    /// Prepares the reports of a recording that begins now.
    #[must_use]
    pub fn new(folder: String) -> Reports {
        let start = Instant::now();
        Reports { folder, start, last: (start, 0, 0) }
    }

    /// Makes the report for the time since the last report. `sizes` has the length of the current file and the total
    /// size of the queued chunks, in bytes.
    pub fn next(&mut self, topics: &Topics, sizes: (u64, u64)) -> Report {
        let since = self.last;
        let report = self.report(topics, since, sizes, false);
        self.last = (Instant::now(), report.messages, report.bytes);
        report
    }

    /// Makes the report about the whole recording.
    #[must_use]
    pub fn summary(&self, topics: &Topics) -> Report {
        self.report(topics, (self.start, 0, 0), (0, 0), true)
    }

    fn report(&self, topics: &Topics, since: (Instant, u64, u64), sizes: (u64, u64), is_summary: bool) -> Report {
        let (time, messages_before, bytes_before) = since;
        let all = topics.all();
        let messages = all.iter().map(|topic| topic.messages.load(Relaxed)).sum::<u64>();
        let bytes = all.iter().map(|topic| topic.bytes.load(Relaxed)).sum::<u64>();
        // The counts fall when a file was removed.
        let elapsed = time.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        Report {
            folder: self.folder.clone(),
            duration_ns: u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX),
            topics: all.len(),
            messages,
            bytes,
            messages_per_s: messages.saturating_sub(messages_before) as f64 / elapsed,
            bytes_per_s: bytes.saturating_sub(bytes_before) as f64 / elapsed,
            file_bytes: sizes.0,
            queued_bytes: sizes.1,
            dropped: topics.dropped(),
            is_summary,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = bytes(self.bytes);
        let rate = bytes(self.bytes_per_s as u64);
        if self.is_summary {
            let (topics, messages, duration) = (self.topics, self.messages, seconds(self.duration_ns));
            write!(f, "{}: {messages} messages of {topics} topics, {size} in {duration} ({rate}/s)", self.folder)?;
        } else {
            let (seconds, topics, messages) = (self.duration_ns / 1_000_000_000, self.topics, self.messages);
            let per_s = self.messages_per_s;
            write!(f, "{seconds} s | {topics} topics | {messages} messages, {per_s:.0}/s | {size}, {rate}/s")?;
            if self.queued_bytes > 0 {
                write!(f, " | waiting {}", bytes(self.queued_bytes))?;
            }
        }
        let dropped: u64 = self.dropped.values().sum();
        if dropped > 0 {
            let mut worst: Vec<_> = self.dropped.iter().collect();
            worst.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let separator = if self.is_summary { "\n" } else { " | " };
            write!(f, "{separator}DROPPED {dropped}:")?;
            for (topic, count) in worst.iter().take(if self.is_summary { usize::MAX } else { 3 }) {
                write!(f, " {topic} {count}")?;
            }
        } else if self.is_summary {
            write!(f, ", none dropped")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::Topic;
    use std::sync::Arc;

    #[test]
    fn a_removed_file_has_no_negative_rate() {
        let (topics, topic) = (Topics::default(), Arc::new(Topic::default()));
        topics.add(1, topic.clone());
        let mut reports = Reports::new(String::new());
        topic.messages.store(7, Relaxed);
        assert!(reports.next(&topics, (0, 0)).messages_per_s > 0.0);
        topic.messages.store(0, Relaxed);
        assert_eq!(reports.next(&topics, (0, 0)).messages_per_s, 0.0);
    }
}
