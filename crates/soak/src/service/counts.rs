//! The numbers of requests by their outcome. A process of clients prints them as a line of numbers.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The numbers of requests by their outcome.
#[derive(Debug, Default)]
pub struct Counts {
    /// The number of requests with the right response.
    pub answered: AtomicU64,
    /// The number of requests that failed because all servers that received them ended.
    pub server_gone: AtomicU64,
    /// The number of requests that failed for another reason, or had a wrong response.
    pub failed: AtomicU64,
    /// The number of requests that were not sent, because a server took no request for 100 ms.
    pub not_sent: AtomicU64,
}

impl Counts {
    fn all(&self) -> [&AtomicU64; 4] {
        [&self.answered, &self.server_gone, &self.failed, &self.not_sent]
    }

    /// Returns a line with the counts since the last line, and resets them.
    pub fn take_line(&self) -> String {
        self.all().map(|count| count.swap(0, Relaxed).to_string()).join(" ")
    }

    /// Adds the counts in a line of another process. A line that is incomplete, because its process was killed, is
    /// ignored.
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
