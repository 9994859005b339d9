//! What a publisher knows of its readers, found by the control thread and handed over.
//!
//! Shared by `publisher` and `control`. If records cannot be mapped, the publisher's roster stays as old as it is, so that nothing
//! is freed: an unseen pin would be a use after free.

use crate::{
    domain::{
        Domain,
        board::TopicIndex,
        control::ControlTask,
        peer::{Peer, PeerRecord},
    },
    error::Result,
    protocol::{
        layout::ReaderRecord,
        roster::Roster,
        sleep::Side,
        sync::{Ordering::Relaxed, acquire},
    },
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The records of a publisher's readers, each with the process that they lie in.
pub(crate) type Readers = Roster<Arc<Peer>>;

/// The discovery for a publisher's readers.
pub(crate) struct ReaderDiscovery {
    topic: TopicIndex,
    key: u64,
    found: Mutex<Discovered>,
}

/// What the discovery came to.
pub(crate) struct Discovered {
    /// The newest roster, until the publisher takes it and leaves its older one here.
    pub(crate) readers: Readers,
    /// `readers` was not taken yet.
    pub(crate) is_news: bool,
    /// Generation of the newest roster.
    generation: u64,
    /// The processes in it.
    processes: Vec<Arc<Peer>>,
    /// Why there is no newer one.
    pub(crate) unmapped: Option<String>,
}

impl ReaderDiscovery {
    /// Nobody is known yet.
    pub(crate) fn new(topic: TopicIndex, key: u64) -> ReaderDiscovery {
        let readers = Roster::new(key, 0, Vec::new());
        let found = Discovered { readers, is_news: false, generation: 0, processes: Vec::new(), unmapped: None };
        ReaderDiscovery { topic, key, found: Mutex::new(found) }
    }

    /// What was found, once a discovery that is under way is over.
    pub(crate) fn discovered(&self) -> MutexGuard<'_, Discovered> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found, unless a discovery is under way. Does not block.
    #[inline]
    pub(crate) fn try_discovered(&self) -> Option<MutexGuard<'_, Discovered>> {
        self.found.try_lock().ok()
    }

    fn records(&self, domain: &Domain) -> Result<Vec<PeerRecord>> {
        let mut records = Vec::new();
        for peer in domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            records.extend(peer.records_of(self.key)?);
        }
        Ok(records)
    }
}

impl ControlTask for ReaderDiscovery {
    fn topic(&self) -> TopicIndex {
        self.topic
    }

    fn side(&self) -> Side {
        Side::Readers
    }

    fn update(&self, domain: &Arc<Domain>) {
        let mut found = self.discovered();
        // The generation first: records that appear after it was read raise it again.
        let generation = acquire(&domain.board.line(self.topic).readers_generation);
        if generation == found.generation {
            if !found.is_news {
                found.readers.records = Vec::new(); // the publisher's older roster, which may keep mapped who is gone
            }
            if found.processes.iter().any(|peer| peer.is_known_dead()) {
                found.processes.clear();
                domain.board.topic_changed(self.topic, Side::Readers); // it held samples, and had no subscription any more that told us
            }
            return;
        }
        match self.records(domain) {
            Ok(records) => {
                found.processes = records.iter().map(|(_, peer)| peer.clone()).collect();
                found.processes.dedup_by(|one, other| Arc::ptr_eq(one, other));
                found.readers = Roster::new(self.key, generation, records);
                (found.is_news, found.generation, found.unmapped) = (true, generation, None);
            }
            Err(error) => found.unmapped = Some(error.to_string()),
        }
    }
}

/// Probes the processes of the readers and forgets the dead; returns whether there were any.
pub(crate) fn drop_dead_readers(readers: &mut Readers) -> bool {
    let before = readers.records.len();
    readers.records.retain(|(_, peer)| peer.is_alive());
    readers.records.len() < before
}

/// Who has not taken the sample with that sequence, for an error sentence.
pub(crate) fn slow_readers(readers: &Readers, sequence: u64) -> Vec<String> {
    let lags = |record: &ReaderRecord| {
        record.state.load(Relaxed) == crate::protocol::layout::READER_GATING && record.cursor.load(Relaxed) <= sequence
    };
    let records = readers.records.iter().filter(|(record, _)| lags(record));
    records.map(|(_, peer)| peer.to_string()).collect()
}
