//! The counters of one topic in one direction.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The numbers of samples of one topic or service in one direction. Each counter only grows.
///
/// All operations are Relaxed: no other data depends on a counter.
#[derive(Debug, Default)]
pub struct Counts {
    carried: AtomicU64,
    carried_bytes: AtomicU64,
    overwritten: AtomicU64,
    missed: AtomicU64,
    rate_limited: AtomicU64,
    duplicates: AtomicU64,
    expired: AtomicU64,
    malformed: AtomicU64,
    unclaimed: AtomicU64,
    failed: AtomicU64,
}

/// The values of [`Counts`] at one moment, as the status has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct CountValues {
    /// The number of messages that were passed to the receiving side of the bridge.
    pub carried: u64,
    /// The total size of these messages in bytes.
    pub carried_bytes: u64,
    /// The number of messages that newer messages displaced, because the link was slower than the publisher.
    pub overwritten: u64,
    /// The number of messages that left the publisher's history before the bridge took them.
    pub missed: u64,
    /// The number of messages that were dropped because of the policy's rate limit.
    pub rate_limited: u64,
    /// The number of messages that were dropped because they had arrived before.
    pub duplicates: u64,
    /// The number of messages that were older than their publisher's lifespan.
    pub expired: u64,
    /// The number of malformed messages and attachments.
    pub malformed: u64,
    /// The number of messages that were dropped because their publisher did not appear in the graph.
    pub unclaimed: u64,
    /// The number of messages that the receiving side refused.
    pub failed: u64,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $method:ident $field:ident;)*) => {
        impl Counts {
            $($(#[$doc])* pub fn $method(&self) { self.$field.fetch_add(1, Relaxed); })*
        }
    };
}

counters! {
    /// Counts a message that a newer one displaced.
    overwrite overwritten;
    /// Counts a message that exceeded the rate limit.
    limit rate_limited;
    /// Counts a message that had arrived before.
    duplicate duplicates;
    /// Counts a message that was older than its lifespan.
    expire expired;
    /// Counts a malformed message.
    malform malformed;
    /// Counts a message whose publisher did not appear in the graph.
    disown unclaimed;
    /// Counts a message that the receiving side refused.
    fail failed;
}

impl Counts {
    /// Counts a message that was passed to the receiving side.
    pub fn carry(&self, bytes: usize) {
        self.carried.fetch_add(1, Relaxed);
        self.carried_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// Counts messages that left the history before the bridge took them.
    pub fn miss(&self, messages: u64) {
        self.missed.fetch_add(messages, Relaxed);
    }

    /// The current values.
    #[must_use]
    pub fn values(&self) -> CountValues {
        CountValues {
            carried: self.carried.load(Relaxed),
            carried_bytes: self.carried_bytes.load(Relaxed),
            overwritten: self.overwritten.load(Relaxed),
            missed: self.missed.load(Relaxed),
            rate_limited: self.rate_limited.load(Relaxed),
            duplicates: self.duplicates.load(Relaxed),
            expired: self.expired.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            unclaimed: self.unclaimed.load(Relaxed),
            failed: self.failed.load(Relaxed),
        }
    }
}
