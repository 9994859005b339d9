//! The discovery of a publisher's readers. The control thread runs it and leaves the result for the publisher.
//!
//! A join changes the readers of all publishers of the topic, which may be many in one process. To keep a discovery
//! cheap, it only adds the new reader records to the newest roster (list of reader records), which the publisher has
//! not taken yet. It reads all records only if some are gone.
//!
//! The publisher keeps its old roster and so reclaims nothing if records cannot be mapped, or if a process that may
//! have records cannot be listed. Otherwise it could overwrite a slot that a reader has pinned.

use crate::{
    describe::description::{EndpointDescription, Gid},
    domain::{
        Domain,
        board::TopicIndex,
        control::tasks::ControlTask,
        peer::{
            Peer, PeerRecord,
            known_records::{FoundRecords, KnownRecords},
        },
    },
    error::Result,
    protocol::{
        layout::{READER_GATING, ReaderRecord},
        roster::Roster,
        sleep::Side,
        sync::{Ordering::Relaxed, acquire},
    },
    subscribe::connection::record_words,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The reader records for a publisher, each with the process in whose file it lies.
pub(crate) type Readers = Roster<Arc<Peer>>;

/// The discovery of one publisher's readers.
pub(crate) struct ReaderDiscovery {
    topic: TopicIndex,
    key: u64,
    /// The processes whose files had no name before the publisher could be found (`protocol::listing`).
    unlisted_before: Vec<u64>,
    pub(crate) discovered: Mutex<Discovered>,
}

/// The result of a discovery.
pub(crate) struct Discovered {
    /// The newest roster (the list of reader records). The publisher exchanges its older roster for it.
    pub(crate) readers: Readers,
    /// Whether `readers` is newer than the publisher's roster.
    pub(crate) is_new: bool,
    /// The generation of the newest roster.
    generation: u64,
    /// The records in the newest roster.
    known: KnownRecords,
    /// The error that prevents a newer roster.
    pub(crate) mapping_error: Option<String>,
}

impl ReaderDiscovery {
    /// Creates a discovery that has found no reader yet. The discovery must be created before the publisher
    /// can be found.
    pub(crate) fn new(domain: &Domain, topic: TopicIndex, key: u64) -> ReaderDiscovery {
        let (readers, known) = (Roster::new(key, 0, Vec::new()), KnownRecords::new(key));
        let discovered = Discovered { readers, is_new: false, generation: 0, known, mapping_error: None };
        // After an error, the list is empty: the publisher then reclaims nothing for as long as there is an unlisted
        // process.
        let unlisted_before = domain.unlisted_owners().unwrap_or_default();
        ReaderDiscovery { topic, key, unlisted_before, discovered: Mutex::new(discovered) }
    }

    /// The result of the last discovery; waits for a discovery that is under way.
    pub(crate) fn discovered(&self) -> MutexGuard<'_, Discovered> {
        self.discovered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, domain: &Domain, known: &mut KnownRecords) -> Result<FoundRecords> {
        let peers = domain.all_peers(&self.unlisted_before)?;
        known.look(peers.iter().filter(|peer| !peer.is_known_dead()))
    }
}

impl ControlTask for ReaderDiscovery {
    fn update(&self, domain: &Arc<Domain>) {
        let mut discovered = self.discovered();
        // The generation is read first: records that appear later raise it again.
        let generation = acquire(&domain.board.line(self.topic).readers_generation);
        if generation == discovered.generation {
            if !discovered.is_new {
                // The older roster that the publisher left here in the exchange is dropped, because it may keep
                // processes mapped that are gone.
                discovered.readers = Roster::new(self.key, 0, Vec::new());
            }
            // A dead reader may have held samples although its subscriptions had left before; in this case, the
            // reaper does not raise the generation of this topic.
            if discovered.known.processes().any(|peer| peer.is_known_dead()) {
                discovered.known.forget();
                domain.board.topic_changed(self.topic, Side::Readers);
            }
            return;
        }
        if !discovered.is_new {
            discovered.known.forget(); // the publisher has the newest roster, and this one is older
        }
        match self.look(domain, &mut discovered.known) {
            Ok(found) => {
                if found.is_all {
                    discovered.readers.records.clear();
                }
                // C1: the roster had all records until its generation, and `found` has the records that were
                // made since then.
                discovered.readers.records.extend(found.records);
                discovered.readers.generation = generation;
                (discovered.is_new, discovered.generation, discovered.mapping_error) = (true, generation, None);
            }
            Err(error) => discovered.mapping_error = Some(error.to_string()),
        }
    }
}

/// The subscriptions that have a reader record for the publisher; their records are removed from `records`. A record
/// does not contain its subscription's gid, so records are assigned by process, state and depth. If a process has fewer
/// records than compatible subscriptions, its first subscriptions count as joined.
pub(crate) fn joined<'a>(
    publisher: &EndpointDescription,
    records: &mut Vec<PeerRecord>,
    subscriptions: impl Iterator<Item = (&'a Arc<Peer>, &'a Arc<EndpointDescription>)>,
) -> BTreeSet<Gid> {
    let mut has_record = |peer: &Peer, subscription: &EndpointDescription| {
        let words = record_words(&publisher.qos, &subscription.qos);
        let is_its = |(record, home): &PeerRecord| {
            home.id == peer.id && (record.state.load(Relaxed), record.depth.load(Relaxed)) == words
        };
        records.iter().position(is_its).map(|index| records.swap_remove(index)).is_some()
    };
    let compatible = subscriptions.filter(|(_, subscription)| publisher.mismatch(subscription).is_none());
    compatible.filter(|(peer, subscription)| has_record(peer, subscription)).map(|(_, joined)| joined.gid).collect()
}

/// Probes the processes of the readers and removes the dead; returns whether a process was dead.
pub(crate) fn drop_dead_readers(readers: &mut Readers) -> bool {
    let before = readers.records.len();
    readers.records.retain(|(_, peer)| peer.is_alive());
    readers.records.len() < before
}

/// The processes of gating readers that have not taken the sample with this sequence, for an error message.
pub(crate) fn slow_readers(readers: &Readers, sequence: u64) -> Vec<String> {
    let lags =
        |record: &ReaderRecord| record.state.load(Relaxed) == READER_GATING && record.cursor.load(Relaxed) <= sequence;
    let records = readers.records.iter().filter(|(record, _)| lags(record));
    records.map(|(_, peer)| peer.as_seen_here()).collect()
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::{Participant, Publisher, PublisherOptions, Qos, Subscription, TypeDescription};
    use std::path::Path;

    /// Invariant C1: the roster that a publisher takes has all reader records for the publisher, whichever records
    /// appeared or disappeared since the last roster.
    #[test]
    fn a_roster_that_grew_has_all_records() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        // The two participants of this process act as two processes.
        let other_path = Path::new("/dev/shm/../shm").join(root.path().file_name().unwrap());
        let homes = [root.path(), &other_path].map(|root| Participant::join_under(root, 0).unwrap());
        let (qos, options, of_type) = (Qos::default(), PublisherOptions::default(), TypeDescription::default);
        let publisher = Publisher::new(homes[0].clone(), "/node", "/topic", of_type(), qos, options).unwrap();
        let domain = &homes[0].domain;
        let discovery = ReaderDiscovery::new(domain, domain.topic("/topic"), publisher.description().key);
        let mut random = fastrand::Rng::with_seed(7);
        let mut subscriptions = Vec::new();
        let mut grew = 0;
        for _ in 0..300 {
            if subscriptions.is_empty() || random.u8(..) < 150 {
                let home = homes[random.usize(..2)].clone();
                subscriptions.push(Subscription::new(home, "/node", "/topic", of_type(), qos).unwrap());
                subscriptions.last_mut().unwrap().publisher_count().unwrap();
            } else {
                subscriptions.swap_remove(random.usize(..subscriptions.len()));
            }
            let was_new = discovery.discovered().is_new;
            let before = discovery.discovered().readers.records.len();
            discovery.update(domain);
            let mut discovered = discovery.discovered();
            grew += usize::from(was_new && before > 0 && discovered.readers.records.len() == before + 1);
            let address = |(record, _): &PeerRecord| std::ptr::from_ref(&**record).addr();
            let all = domain.peers().unwrap().iter().flat_map(|peer| peer.records_of(discovery.key).unwrap()).collect();
            let sorted = |records: &Vec<PeerRecord>| {
                let mut addresses: Vec<usize> = records.iter().map(address).collect();
                addresses.sort_unstable();
                addresses
            };
            assert_eq!(sorted(&discovered.readers.records), sorted(&all));
            assert_eq!(all.len(), subscriptions.len());
            if random.u8(..) < 20 {
                // A publisher takes the roster in this way.
                discovered.is_new = false;
                discovered.readers = Roster::new(discovery.key, 0, Vec::new());
            }
        }
        assert!(grew > 50, "{grew} of 300 rosters grew");
    }
}
