//! What a publisher says of when it was active: deadlines and leases are counted from there, by whoever watches it.
//!
//! The words are in its header; publishers that promise neither store none of them.

use super::Publisher;
use crate::{
    describe::qos::Qos,
    error::Result,
    os::clock::monotonic_ns,
    protocol::{layout::PublisherHeader, sync::Ordering::Relaxed},
    publish::publisher::SourceTime,
};

/// Whether a publisher of this QoS says when it publishes; if so, its time begins now.
pub(super) fn begin(header: &PublisherHeader, qos: &Qos) -> bool {
    let records_activity = qos.deadline.is_some() || qos.has_manual_lease();
    if records_activity {
        header.asserted_ns.store(monotonic_ns(), Relaxed);
    }
    records_activity
}

impl Publisher {
    /// Out of the way of publishers that need not.
    #[inline(never)]
    pub(super) fn record_activity(&self, time: SourceTime) {
        if let Ok(header) = self.file.header() {
            header.published_ns.store(time.monotonic_ns, Relaxed); // it tells when, and that is all: the ring tells what
        }
    }

    /// Says that it is alive, as MANUAL_BY_TOPIC asks for within the lease duration; to publish says so, too. With AUTOMATIC it
    /// does nothing.
    ///
    /// # Errors
    /// The process forked.
    ///
    /// # Real-time
    /// No allocation, lock or system call.
    pub fn assert_liveliness(&self) -> Result<()> {
        self.domain.epoch.check()?;
        if self.description.qos.has_manual_lease() {
            self.file.header()?.asserted_ns.store(monotonic_ns(), Relaxed);
        }
        Ok(())
    }
}
