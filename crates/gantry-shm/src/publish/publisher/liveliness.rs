//! The times of a publisher's activity, from which QoS events count the publisher's deadlines and leases.
//!
//! The times are in the publisher's header; a publisher that offers neither a deadline nor a lease stores no times.

use super::Publisher;
use crate::{
    describe::qos::Qos,
    error::Result,
    os::clock::monotonic_ns,
    protocol::{layout::PublisherHeader, sync::Ordering::Relaxed},
    publish::publisher::SourceTime,
};

/// Returns whether a publisher of this QoS records its activity; if so, its deadline and lease begin now.
pub(super) fn begin(header: &PublisherHeader, qos: &Qos) -> bool {
    let records_activity = qos.deadline.is_some() || qos.has_manual_lease();
    if records_activity {
        header.asserted_ns.store(monotonic_ns(), Relaxed);
    }
    records_activity
}

impl Publisher {
    /// Records the time of the sample that is about to be published. The function is not inlined, because most
    /// publishers record none.
    #[inline(never)]
    pub(super) fn record_activity(&self, time: SourceTime) {
        if let Ok(header) = self.file.header() {
            header.published_ns.store(time.monotonic_ns, Relaxed); // the later store of the entry publishes it
        }
    }

    /// Asserts that the publisher is alive, as MANUAL_BY_TOPIC requires within each lease duration. Publishing also
    /// asserts it. With AUTOMATIC, the method does nothing.
    ///
    /// # Errors
    /// The process forked.
    pub fn assert_liveliness(&self) -> Result<()> {
        self.domain.epoch.check()?;
        if self.description.qos.has_manual_lease() {
            self.file.header()?.asserted_ns.store(monotonic_ns(), Relaxed);
        }
        Ok(())
    }
}
