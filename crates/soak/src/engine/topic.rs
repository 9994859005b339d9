//! The topics of the run, and the QoS of the endpoints on them.

use fastrand::Rng;
use gantry_shm::{History, PublishMode, PublisherOptions, Qos, Reliability, SampleInfo, SourceTime, TypeDescription};
use std::time::Duration;

/// The largest depth of a history, which is large enough to make a ring grow.
const MAX_DEPTH: u32 = 1000;
const MIB: usize = 1 << 20;

/// A topic.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// The largest payload of the topic's type; `usize::MAX` if there is no limit.
    payload_bytes: usize,
    /// The longest message that is sent.
    longest_bytes: usize,
    /// Whether only the survivor publishes on the topic. It does so all the time.
    pub is_survivors: bool,
    /// Whether a stopped reader may block the topic's publisher.
    pub is_gated: bool,
}

/// The topics of all players, with publishers of any QoS.
pub const COMMON: [Topic; 5] = [
    Topic::common("/state", 256, 256),
    Topic::common("/scan", 16 << 10, 16 << 10),
    Topic::common("/image", MIB, MIB),
    Topic::common("/text", usize::MAX, 4 << 10),
    Topic::common("/cloud", usize::MAX, 4 * MIB),
];

/// The topics that have one publisher for the whole run, which is the survivor's. Each has a QoS of [`survivors_qos`].
pub const SURVIVORS: [Topic; 4] = [
    Topic::survivors("/survivor/last", 1 << 10, 1 << 10),
    Topic::survivors("/survivor/any", usize::MAX, 64 << 10),
    Topic::survivors("/survivor/latched", 4 << 10, 4 << 10),
    Topic { is_gated: true, ..Topic::survivors("/survivor/all", 1 << 10, 1 << 10) },
];

/// The QoS of the survivor's publishers, one for each of its topics.
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

    /// Any topic.
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

    /// The random length of a message. All orders of magnitude are equally likely.
    pub fn length_bytes(&self, rng: &mut Rng) -> usize {
        let magnitude = rng.u32(..=self.longest_bytes.ilog2());
        rng.usize(..=1 << magnitude).min(self.longest_bytes)
    }
}

/// Any QoS of an endpoint.
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

/// Random options. Their limits keep the whole run within a few hundred megabytes, and publishers sometimes reach them.
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

/// The QoS of a publisher, which each of its samples carries, encoded in the sample's wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// 0: KEEP_ALL.
    pub depth: u32,
    pub is_reliable: bool,
    pub is_transient_local: bool,
}

/// Bits of an offer, depth included.
const OFFER_BITS: u32 = 12;

impl Offer {
    /// The offer of a publisher with this QoS.
    pub fn from_qos(qos: &Qos) -> Offer {
        Offer {
            depth: if qos.history == History::KeepAll { 0 } else { qos.depth },
            is_reliable: qos.reliability == Reliability::Reliable,
            is_transient_local: qos.durability == gantry_shm::Durability::TransientLocal,
        }
    }

    /// The current time with this offer encoded in it. The encoding changes the difference between the two clocks
    /// only a little, so that small samples still travel inline.
    pub fn to_time(self) -> SourceTime {
        let word = u64::from(self.depth) << 2 | u64::from(self.is_reliable) << 1 | u64::from(self.is_transient_local);
        let now = SourceTime::now();
        let apart_ns = (now.wall_ns - now.monotonic_ns).next_multiple_of(1 << OFFER_BITS);
        SourceTime { wall_ns: now.monotonic_ns + apart_ns + word, ..now }
    }

    /// The offer that is encoded in the time of a sample.
    pub fn from_time(info: &SampleInfo) -> Offer {
        let word = (info.source_wall_time_ns - info.source_time_ns) % (1 << OFFER_BITS);
        Offer { depth: (word >> 2) as u32, is_reliable: word >> 1 & 1 == 1, is_transient_local: word & 1 == 1 }
    }

    /// Whether the publisher waits for its gating readers (RELIABLE KEEP_ALL subscriptions), so that these must
    /// not miss a sample.
    pub fn gates(self) -> bool {
        self.depth == 0 && self.is_reliable
    }
}
