//! The properties of a taken message, with the time at which it was taken.

use gantry_shm::{SampleInfo, SourceTime};

/// The properties of a message that was taken with [`take_with_info`](crate::GenericSubscription::take_with_info): the
/// properties of its sample, and the time at which it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// The sample's sequence, its times of publishing, its publisher and its length.
    pub sample: SampleInfo,
    /// Time of the take, CLOCK_MONOTONIC, ns.
    pub received_time_ns: u64,
    /// Time of the take, CLOCK_REALTIME, ns.
    pub received_wall_time_ns: u64,
}

impl MessageInfo {
    /// Makes the properties of a sample that was just taken: reads two clocks, without a system call.
    pub(crate) fn received_now(sample: SampleInfo) -> MessageInfo {
        let SourceTime { monotonic_ns, wall_ns } = SourceTime::now();
        MessageInfo { sample, received_time_ns: monotonic_ns, received_wall_time_ns: wall_ns }
    }
}
