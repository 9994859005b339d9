//! The topics of the run, and random QoS for endpoints on them.

use fastrand::Rng;
use gantry_shm::{History, PublishMode, PublisherOptions, Qos, Reliability, SampleInfo, SourceTime, TypeDescription};
use std::time::Duration;

/// The largest depth of a history. It is so large that a publisher has to enlarge its ring of samples.
const MAX_DEPTH: u32 = 1000;
const MIB: usize = 1 << 20;

/// A topic.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// The largest length of the topic's type; `usize::MAX` if the type has no limit.
    payload_bytes: usize,
    /// The length of the longest message that players publish.
    longest_bytes: usize,
    /// True if only the survivor (the coordinator's endpoints) publishes on the topic; it does so all the time.
    pub is_survivors: bool,
    /// True if a stopped reader may block the topic's publisher.
    pub is_gated: bool,
}

/// Topics on which any player may create publishers with any QoS.
pub const COMMON: [Topic; 5] = [
    Topic::common("/state", 256, 256),
    Topic::common("/scan", 16 << 10, 16 << 10),
    Topic::common("/image", MIB, MIB),
    Topic::common("/text", usize::MAX, 4 << 10),
    Topic::common("/cloud", usize::MAX, 4 * MIB),
];

/// Topics that have only the survivor's publisher, for the whole run. Each topic has a QoS of [`survivors_qos`].
pub const SURVIVORS: [Topic; 4] = [
    Topic::survivors("/survivor/last", 1 << 10, 1 << 10),
    Topic::survivors("/survivor/any", usize::MAX, 64 << 10),
    Topic::survivors("/survivor/latched", 4 << 10, 4 << 10),
    Topic { is_gated: true, ..Topic::survivors("/survivor/all", 1 << 10, 1 << 10) },
];

/// The QoS of the survivor's publishers, in the order of [`SURVIVORS`].
pub fn survivors_qos() -> [Qos; SURVIVORS.len()] {
    let qos = Qos::default();
    [qos.keep_last(4), qos.keep_last(1).best_effort(), qos.keep_last(16).transient_local(), qos.keep_all()]
}

impl Topic {
    const fn common(name: &'static str, payload_bytes: usize, longest_bytes: usize) -> Topic {
        Topic { name, payload_bytes, longest_bytes, is_survivors: false, is_gated: false }
    }

    const fn survivors(name: &'static str, payload_bytes: usize, longest_bytes: usize) -> Topic {
        Topic { is_survivors: true, ..Topic::common(name, payload_bytes, longest_bytes) }
    }

    /// Chooses a topic at random.
    pub fn any(rng: &mut Rng) -> &'static Topic {
        let index = rng.usize(..COMMON.len() + SURVIVORS.len());
        COMMON.get(index).unwrap_or_else(|| &SURVIVORS[index - COMMON.len()])
    }

    pub fn message_type(&self) -> TypeDescription {
        TypeDescription {
            name: "soak_msgs/msg/Bytes".into(),
            hash: [0; 32],
            definition: "byte[] data".into(),
            payload_bytes: self.payload_bytes,
        }
    }

    /// Chooses the length of a message at random. Each order of magnitude is equally likely.
    pub fn length_bytes(&self, rng: &mut Rng) -> usize {
        let magnitude = rng.u32(..=self.longest_bytes.ilog2());
        rng.usize(..=1 << magnitude).min(self.longest_bytes)
    }
}

/// Chooses the QoS of an endpoint at random.
pub fn any_qos(rng: &mut Rng) -> Qos {
    let mut qos = Qos::default();
    qos = match rng.u32(..20) {
        0..6 => qos.keep_all(),
        6 => qos.keep_last(rng.u32(1..=MAX_DEPTH)),
        _ => qos.keep_last(1 << rng.u32(..7)),
    };
    qos = if rng.u32(..3) == 0 { qos.best_effort() } else { qos.reliable() };
    if rng.u32(..5) < 2 { qos.transient_local() } else { qos }
}

/// Chooses the options of a publisher at random. Their limits keep the whole run within a few hundred megabytes, and
/// are low enough that publishers sometimes reach them.
pub fn any_options(rng: &mut Rng) -> PublisherOptions {
    let period = Duration::from_micros(rng.u64(20..5_000));
    PublisherOptions {
        publish_mode: if rng.bool() { PublishMode::Async { period } } else { PublishMode::Sync },
        max_blocking_time: Duration::from_millis(rng.u64(..20)),
        max_kept_samples: 1 << rng.u32(..10),
        max_kept_bytes: 1 << rng.u32(12..=23),
        max_memory_bytes: Some(rng.usize(10 * MIB..=24 * MIB)),
        loses_oldest_at_limit: false,
        max_inline_bytes: [0, 64, 256, 1024][rng.usize(..4)],
    }
}

/// The QoS of a publisher. Each of its samples carries this QoS, encoded in the wall time of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The history depth; 0 means KEEP_ALL.
    pub depth: u32,
    pub is_reliable: bool,
    pub is_transient_local: bool,
}

/// The number of bits of an encoded offer.
const OFFER_BITS: u32 = 12;

impl Offer {
    /// Makes the offer of a publisher with this QoS.
    pub fn from_qos(qos: &Qos) -> Offer {
        Offer {
            depth: if qos.history == History::KeepAll { 0 } else { qos.depth },
            is_reliable: qos.reliability == Reliability::Reliable,
            is_transient_local: qos.durability == gantry_shm::Durability::TransientLocal,
        }
    }

    /// Encodes this offer in the current time. It changes the difference of the two clocks only slightly, so that small
    /// samples can still be inline.
    pub fn to_time(self) -> SourceTime {
        let word = u64::from(self.depth) << 2 | u64::from(self.is_reliable) << 1 | u64::from(self.is_transient_local);
        let now = SourceTime::now();
        let apart_ns = (now.wall_ns - now.monotonic_ns).next_multiple_of(1 << OFFER_BITS);
        SourceTime { wall_ns: now.monotonic_ns + apart_ns + word, ..now }
    }

    /// Decodes the offer from the time of a sample.
    pub fn from_time(info: &SampleInfo) -> Offer {
        let word = (info.source_wall_time_ns - info.source_time_ns) % (1 << OFFER_BITS);
        Offer { depth: (word >> 2) as u32, is_reliable: word >> 1 & 1 == 1, is_transient_local: word & 1 == 1 }
    }

    /// True if the publisher waits for its RELIABLE KEEP_ALL subscriptions, so that they must not miss a sample.
    pub fn gates(self) -> bool {
        self.depth == 0 && self.is_reliable
    }
}
