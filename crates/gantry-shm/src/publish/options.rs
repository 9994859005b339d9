//! The limits of a publisher besides its QoS. They are plain values that are not visible to other processes.

use crate::{
    describe::{
        description::EndpointDescription,
        qos::{Durability, History, MAX_DEPTH, Qos, Reliability},
    },
    domain::sender::PERIODS,
    error::{Error, Result},
    protocol::{layout::MAX_INLINE_BYTES, writer::Retention},
    publish::memory::slot_bytes,
};
use std::time::Duration;

/// The lower bound of the default memory limit, which grows with the message and the history.
const MIN_LIMIT_BYTES: usize = 1 << 30;
/// The number of samples that readers can hold beyond the history with the default memory limit.
const HELD_SAMPLES: usize = 64;

/// The choice of the thread that wakes sleeping readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishMode {
    /// The publishing thread wakes the sleeping readers, by one system call for each. Readers wake at once.
    #[default]
    Sync,
    /// A *sender* thread wakes the readers, so publish makes no system call. All asynchronous publishers of the process
    /// in the domain share one sender. The thread polls for samples until it has found none for at most 20 µs, then
    /// sleeps for the shortest `period` of its publishers. So a sleeping reader wakes at most a period later; a polling
    /// reader is not affected. The sender costs CPU time in each period, with or without samples: a few microseconds,
    /// on a virtual machine up to 25 µs.
    ///
    /// The thread is named `gantry-sender` and has the scheduling policy, priority and CPUs of the thread that made the
    /// first such publisher.
    Async {
        /// The period of the thread, from 1 µs to 1 s.
        period: Duration,
    },
}

/// Limits of one publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublisherOptions {
    /// The thread that wakes the sleeping readers. The default is [`PublishMode::Sync`].
    pub publish_mode: PublishMode,
    /// The longest time that [`publish`](crate::Publisher::publish) waits for RELIABLE KEEP_ALL subscriptions, if the
    /// publisher's QoS is also RELIABLE KEEP_ALL (DDS's `max_blocking_time`). The default is 100 ms.
    pub max_blocking_time: Duration,
    /// The largest number of samples that a KEEP_ALL publisher keeps, or that a publisher keeps for subscriptions
    /// with a larger depth than its own. The default is 1024, the maximum [`MAX_DEPTH`].
    pub max_kept_samples: usize,
    /// The largest number of bytes that a KEEP_ALL publisher keeps, or that a publisher keeps for subscriptions with
    /// a larger depth than its own. The default is 64 MiB.
    pub max_kept_bytes: usize,
    /// The largest amount of shared memory for the publisher's samples, including samples that readers hold. `None`
    /// (the default) means 1 GiB, or the memory of the history and 64 held samples of the largest size, if that is
    /// more. The memory is address space until it is used; memory that was used stays until the publisher is dropped.
    pub max_memory_bytes: Option<usize>,
    /// Whether a KEEP_LAST publisher gives up its oldest samples for a new message when the memory of
    /// `max_memory_bytes` is in use or the file system is full; if not, the loan fails. Even samples within the depth
    /// are given up; readers that have not taken them count them as overwritten. The default is `false`. The option
    /// is set by the servers of services, so that no client can stop them, and by the publishers of `rmw_gantry`.
    pub loses_oldest_at_limit: bool,
    /// The largest message, in bytes, that travels *inline*, in an entry of the publisher's ring: a subscription copies
    /// it out instead of pinning it, which is faster for small messages. The default is 256, the maximum 1024. Each
    /// entry of the ring has room for such a message. Responses to requests travel in slots. Messages also travel in
    /// slots if the difference between their wall time and their monotonic time deviates by more than a quarter of a
    /// millisecond from this difference at the publisher's creation. When the wall clock is set for the first time,
    /// messages travel inline with the new time at once; when it is set again, only after the publisher has sent as
    /// many messages as its ring has entries.
    pub max_inline_bytes: usize,
}

impl Default for PublisherOptions {
    fn default() -> Self {
        PublisherOptions {
            publish_mode: PublishMode::Sync,
            max_blocking_time: Duration::from_millis(100),
            max_kept_samples: 1024,
            max_kept_bytes: 64 << 20,
            max_memory_bytes: None,
            loses_oldest_at_limit: false,
            max_inline_bytes: 256,
        }
    }
}

impl PublisherOptions {
    /// The retention of a publisher with this QoS: the samples that it keeps.
    pub(crate) fn retention(&self, qos: &Qos) -> Retention {
        let is_keep_all = qos.history == History::KeepAll;
        let guaranteed = if is_keep_all { 1 } else { qos.depth as usize };
        let samples = self.max_kept_samples.min(MAX_DEPTH as usize).max(guaranteed);
        // Late joiners take the samples that a TRANSIENT_LOCAL publisher published before its first reader.
        let is_latched = is_keep_all && qos.durability == Durability::TransientLocal;
        Retention {
            guaranteed,
            initial: if is_latched { samples } else { guaranteed },
            samples,
            bytes: self.max_kept_bytes,
            is_keep_all,
            is_gated: is_keep_all && qos.reliability == Reliability::Reliable,
            grows: !is_keep_all && self.max_memory_bytes.is_none(),
        }
    }

    /// The sender's period; `None` if the publisher needs no sender.
    pub(crate) fn sender_period(&self) -> Result<Option<Duration>> {
        let PublishMode::Async { period } = self.publish_mode else { return Ok(None) };
        if PERIODS.contains(&period) {
            return Ok(Some(period));
        }
        let range = format!("the allowed range is {:?} to {:?}", PERIODS.start(), PERIODS.end());
        Err(Error::out_of_range("the period of asynchronous publishing", format!("{period:?}"), range))
    }

    /// The longest message that travels inline.
    pub(crate) fn inline_bytes(&self, description: &EndpointDescription) -> Result<usize> {
        let (most, payload_bytes) = (self.max_inline_bytes, description.message_type.payload_bytes);
        if most > MAX_INLINE_BYTES {
            let range = format!("at most {MAX_INLINE_BYTES} bytes are allowed");
            return Err(Error::out_of_range("the size of messages that travel inline", format!("{most} bytes"), range));
        }
        Ok(payload_bytes.min(most))
    }

    /// The largest size of the publisher's file, with a ring of `ring_bytes` that keeps `samples` samples.
    pub(crate) fn memory_limit_bytes(
        &self,
        samples: usize,
        ring_bytes: usize,
        description: &EndpointDescription,
    ) -> Result<usize> {
        let payload_bytes = description.message_type.payload_bytes;
        let slot_bytes = if payload_bytes == usize::MAX { 0 } else { slot_bytes(payload_bytes)? };
        let least = ring_bytes + 2 * slot_bytes;
        match self.max_memory_bytes {
            Some(bytes) if bytes < least => {
                let range = format!("the ring of the history and two messages need at least {least} bytes");
                Err(Error::out_of_range("a publisher's memory limit", format!("{bytes} bytes"), range))
            }
            Some(bytes) => Ok(bytes),
            None => Ok((ring_bytes + (samples + HELD_SAMPLES).saturating_mul(slot_bytes)).max(MIN_LIMIT_BYTES)),
        }
    }
}
