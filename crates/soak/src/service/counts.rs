//! The counts of requests by the way in which they ended. A process of clients prints the counts as a line of numbers.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Requests by their end.
#[derive(Debug, Default)]
pub struct Counts {
    /// The number of requests with the right answer.
    pub answered: AtomicU64,
    /// The number of requests that failed because all servers that received them ended.
    pub server_gone: AtomicU64,
    /// The number of requests that failed for another reason, or had a wrong answer.
    pub failed: AtomicU64,
    /// The number of requests that were not sent, because a server took none for 100 ms while other servers continued.
    pub not_sent: AtomicU64,
}

impl Counts {
    fn all(&self) -> [&AtomicU64; 4] {
        [&self.answered, &self.server_gone, &self.failed, &self.not_sent]
    }

    /// A line with the counts that were added since the last line.
    pub fn take_line(&self) -> String {
        self.all().map(|count| count.swap(0, Relaxed).to_string()).join(" ")
    }

    /// Adds a line of another process. An incomplete line, of a process that was killed, counts nothing.
    pub fn add_line(&self, line: &str) {
        let numbers: Vec<u64> = line.split(' ').map_while(|number| number.parse().ok()).collect();
        if numbers.len() == self.all().len() {
            for (count, number) in self.all().into_iter().zip(numbers) {
                count.fetch_add(number, Relaxed);
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [answered, server_gone, failed, not_sent] = self.all().map(|count| count.load(Relaxed));
        write!(
            f,
            "{answered} answered, {server_gone} lost all their servers, {failed} failed otherwise, {not_sent} not sent"
        )
    }
}
