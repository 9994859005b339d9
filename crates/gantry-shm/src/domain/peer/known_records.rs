//! The reader records for one publisher that a caller has seen. The caller's next search finds only new records. This
//! module is on the control path.

use crate::{
    domain::peer::{Peer, PeerRecord, SeenRecords},
    error::Result,
};
use std::sync::Arc;

/// The reader records for one publisher that were already seen.
pub(crate) struct KnownRecords {
    /// The publisher's key.
    key: u64,
    /// The processes whose records were seen, in the order of the peers; with `None`, the next search finds all
    /// records.
    seen: Option<Vec<(Arc<Peer>, SeenRecords)>>,
}

/// The records that a search found.
pub(crate) struct FoundRecords {
    /// Whether `records` has all records, because some records that were seen before are gone. Otherwise it has only
    /// the new records.
    pub(crate) is_all: bool,
    pub(crate) records: Vec<PeerRecord>,
}

impl KnownRecords {
    /// Creates the list for the publisher with this key; it is empty.
    pub(crate) fn new(key: u64) -> KnownRecords {
        KnownRecords { key, seen: None }
    }

    /// Forgets all records, so that the next search finds all.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }

    /// The processes whose records were seen.
    pub(crate) fn processes(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.seen.iter().flatten().map(|(peer, _)| peer)
    }

    /// Finds the records of these processes that were not seen yet. Finds all records if some of the seen records are
    /// gone, and after an error. `peers` are in the order of their files' names.
    pub(crate) fn look<'a>(&mut self, peers: impl Iterator<Item = &'a Arc<Peer>> + Clone) -> Result<FoundRecords> {
        if let Some(seen) = self.seen.take()
            && let Some(records) = self.look_on(seen, peers.clone())?
        {
            return Ok(FoundRecords { is_all: false, records });
        }
        let records = self.look_on(Vec::new(), peers)?.unwrap_or_default(); // nothing was seen that could be gone
        Ok(FoundRecords { is_all: true, records })
    }

    /// The records that were not seen yet; `None` if some of the seen records are gone.
    fn look_on<'a>(
        &mut self,
        seen: Vec<(Arc<Peer>, SeenRecords)>,
        peers: impl Iterator<Item = &'a Arc<Peer>>,
    ) -> Result<Option<Vec<PeerRecord>>> {
        let (mut seen, mut now, mut records) = (seen.into_iter().peekable(), Vec::new(), Vec::new());
        for peer in peers {
            let of_peer = seen.next_if(|(known, _)| Arc::ptr_eq(known, peer)).map(|(_, seen)| seen);
            let Some(seen) = peer.records_after(self.key, of_peer.unwrap_or_default(), &mut records)? else {
                return Ok(None);
            };
            if seen.count > 0 {
                now.push((peer.clone(), seen));
            }
        }
        if seen.next().is_some() {
            return Ok(None); // a process is gone
        }
        self.seen = Some(now);
        Ok(Some(records))
    }
}
