//! What a publisher knows of its readers, found by the control thread and handed over.
//!
//! Shared by `publisher` and `control`. If rows cannot be mapped, the publisher's roster stays as old as it is, so that nothing
//! is freed: an unseen pin would be a use after free.

use crate::{
    domain::{
        board::TopicIndex,
        control::Watched,
        domain::Domain,
        peer::{Peer, PeersRow},
    },
    error::Result,
    protocol::{
        layout::Row,
        roster::Roster,
        sleep::Side,
        sync::{Ordering::Relaxed, acquire},
    },
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rows of a publisher's readers, each with the process that they lie in.
pub(crate) type Readers = Roster<Arc<Peer>>;

/// The search for a publisher's readers.
pub(crate) struct ReaderSearch {
    topic: TopicIndex,
    key: u64,
    found: Mutex<Found>,
}

/// What the search came to.
pub(crate) struct Found {
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

impl ReaderSearch {
    /// Nobody is known yet.
    pub(crate) fn new(topic: TopicIndex, key: u64) -> ReaderSearch {
        let readers = Roster::new(key, 0, Vec::new());
        let found = Found { readers, is_news: false, generation: 0, processes: Vec::new(), unmapped: None };
        ReaderSearch { topic, key, found: Mutex::new(found) }
    }

    /// What was found, once a search that is under way is over.
    pub(crate) fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found, unless a search is under way. Does not block.
    #[inline]
    pub(crate) fn try_found(&self) -> Option<MutexGuard<'_, Found>> {
        self.found.try_lock().ok()
    }

    fn rows(&self, domain: &Domain) -> Result<Vec<PeersRow>> {
        let mut rows = Vec::new();
        for peer in domain.peers()?.iter().filter(|peer| peer.is_alive()) {
            rows.extend(peer.rows_of(self.key)?);
        }
        Ok(rows)
    }
}

impl Watched for ReaderSearch {
    fn topic(&self) -> TopicIndex {
        self.topic
    }

    fn side(&self) -> Side {
        Side::Readers
    }

    fn update(&self, domain: &Arc<Domain>) {
        let mut found = self.found();
        // The generation first: rows that appear after it was read raise it again.
        let generation = acquire(&domain.board.line(self.topic).readers_generation);
        if generation == found.generation {
            if !found.is_news {
                found.readers.rows = Vec::new(); // the publisher's older roster, which may keep mapped who is gone
            }
            if found.processes.iter().any(|peer| peer.is_known_dead()) {
                found.processes.clear();
                domain.board.topic_changed(self.topic, Side::Readers); // it held samples, and had no subscription any more that told us
            }
            return;
        }
        match self.rows(domain) {
            Ok(rows) => {
                found.processes = rows.iter().map(|(_, peer)| peer.clone()).collect();
                found.processes.dedup_by(|one, other| Arc::ptr_eq(one, other));
                found.readers = Roster::new(self.key, generation, rows);
                (found.is_news, found.generation, found.unmapped) = (true, generation, None);
            }
            Err(error) => found.unmapped = Some(error.to_string()),
        }
    }
}

/// Probes the processes of the readers and forgets the dead; returns whether there were any.
pub(crate) fn drop_the_dead(readers: &mut Readers) -> bool {
    let before = readers.rows.len();
    readers.rows.retain(|(_, peer)| peer.is_alive());
    readers.rows.len() < before
}

/// Who has not taken the sample with that sequence, for an error sentence.
pub(crate) fn laggards(readers: &Readers, sequence: u64) -> Vec<String> {
    let lags = |row: &Row| {
        row.state.load(Relaxed) == crate::protocol::layout::ROW_GATING && row.cursor.load(Relaxed) <= sequence
    };
    let rows = readers.rows.iter().filter(|(row, _)| lags(row));
    rows.map(|(_, peer)| peer.to_string()).collect()
}
