//! The processes that hold samples of a publisher, for reports and error messages.

use crate::{domain::peer::PeerRecord, protocol::sync::Ordering::Relaxed};
use std::{collections::BTreeMap, fmt};

/// A process that holds samples of a publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The name of the process, as in error messages.
    pub process: String,
    /// The number of samples that the process holds.
    pub samples: usize,
    /// The bytes of the held samples whose sizes are known.
    pub bytes: usize,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes) held by {}", self.samples, self.bytes, self.process)
    }
}

/// The processes that pin samples in these reader records. `bytes_of` returns the size of the sample with a sequence, 0
/// if it is not known.
pub(crate) fn holders(records: &[PeerRecord], bytes_of: impl Fn(u64) -> usize) -> Vec<Holder> {
    let mut held: BTreeMap<&str, Holder> = BTreeMap::new();
    for (record, peer) in records {
        for sequence in record.pins.iter().map(|pin| pin.load(Relaxed)).filter(|&pin| pin != 0) {
            let nothing = || Holder { process: peer.to_string(), samples: 0, bytes: 0 };
            let holder = held.entry(&peer.file_name).or_insert_with(nothing);
            (holder.samples, holder.bytes) = (holder.samples + 1, holder.bytes.saturating_add(bytes_of(sequence)));
        }
    }
    held.into_values().collect()
}
