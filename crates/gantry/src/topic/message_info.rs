//! The properties of a taken message, with the time at which it was taken.

use gantry_shm::{SampleInfo, SourceTime};

/// The properties of a message that [`take_with_info`](crate::GenericSubscription::take_with_info) returned: the
/// properties of its sample, and the time at which it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// The sample's sequence number, publication times, publisher and length.
    pub sample: SampleInfo,
    /// The time of the take, CLOCK_MONOTONIC, ns.
    pub received_time_ns: u64,
    /// The time of the take, CLOCK_REALTIME, ns.
    pub received_wall_time_ns: u64,
}

impl MessageInfo {
    /// Makes the properties of a sample that was just taken. Reads two clocks without a system call.
    pub(crate) fn received_now(sample: SampleInfo) -> MessageInfo {
        let SourceTime { monotonic_ns, wall_ns } = SourceTime::now();
        MessageInfo { sample, received_time_ns: monotonic_ns, received_wall_time_ns: wall_ns }
    }
}
