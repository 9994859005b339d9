//! The mappings of publishers' files, which the subscriptions of this process share. This module is on the
//! control path.

use crate::{
    domain::{Domain, board::TopicIndex, process_file::publisher_file_name, publisher_mapping::PublisherMapping},
    error::Result,
    protocol::sync::acquire,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// The id of a publisher's process, and the publisher's number in this process.
type PublisherId = ([u8; 16], u32);

/// The mappings by topic. A mapping lives for as long as a subscription or a sample keeps it.
#[derive(Default)]
pub(crate) struct PublisherMappings(Mutex<HashMap<TopicIndex, TopicMappings>>);

/// The mappings of the publishers that hold one topic line of the board.
#[derive(Default)]
struct TopicMappings {
    publishers: HashMap<PublisherId, Weak<PublisherMapping>>,
    /// The topic line's count of file growths when the pages of its publishers' files were last mapped.
    growths: Option<u64>,
}

impl TopicMappings {
    fn get(&self, id: PublisherId, key: u64) -> Option<Arc<PublisherMapping>> {
        self.publishers.get(&id).and_then(Weak::upgrade).filter(|mapping| mapping.key == key)
    }

    fn is_used(&self) -> bool {
        self.publishers.values().any(|mapping| mapping.strong_count() > 0)
    }
}

impl PublisherMappings {
    fn lock(&self) -> MutexGuard<'_, HashMap<TopicIndex, TopicMappings>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Domain {
    /// The mapping of the publisher with this id and key. The error has the kind `NotFound` if the publisher left
    /// meanwhile. The caller holds the publisher's topic.
    pub(crate) fn publisher_mapping(&self, topic: &str, id: PublisherId, key: u64) -> Result<Arc<PublisherMapping>> {
        let mapping = self.shared_mapping(self.topic(topic), id, key)?;
        self.check_line(&mapping)?;
        Ok(mapping)
    }

    fn shared_mapping(&self, topic: TopicIndex, id: PublisherId, key: u64) -> Result<Arc<PublisherMapping>> {
        if let Some(mapping) = self.publishers.lock().get(&topic).and_then(|known| known.get(id, key)) {
            return Ok(mapping);
        }
        let file_name = publisher_file_name(&id.0, id.1);
        // The lock is not held during the open, because mapping a file takes long.
        let opened = Arc::new(PublisherMapping::open(&self.directory, &file_name, key)?);
        let mut topics = self.publishers.lock();
        if !topics.contains_key(&topic) {
            topics.retain(|_, known| known.is_used());
        }
        let known = topics.entry(topic).or_default();
        if let Some(mapping) = known.get(id, key) {
            return Ok(mapping); // another thread mapped the file meanwhile
        }
        known.publishers.retain(|_, mapping| mapping.strong_count() > 0);
        known.publishers.insert(id, Arc::downgrade(&opened));
        Ok(opened)
    }

    /// Enters the new pages of the topic's grown publisher files into the page table. The thread that notices the
    /// growth first does this for all subscriptions.
    pub(crate) fn prefault_grown(&self, topic: TopicIndex) {
        let mut topics = self.publishers.lock();
        let Some(known) = topics.get_mut(&topic) else { return };
        // The count is loaded before the lengths of the files: a file that grows later raises the count again.
        let growths = acquire(&self.board.line(topic).growths);
        if known.growths.replace(growths) == Some(growths) {
            return;
        }
        let mappings: Vec<_> = known.publishers.values().filter_map(Weak::upgrade).collect();
        drop(topics); // unlocked, because the rest makes system calls
        mappings.iter().for_each(|mapping| mapping.region.prefault_new(&self.directory));
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use crate::{Participant, Publisher, PublisherOptions, Qos, Subscription, TypeDescription};

    /// A process whose topics and publishers change all the time would keep an entry for each if entries were never
    /// removed.
    #[test]
    fn mappings_are_shared_and_forgotten_with_their_topic() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let known = || {
            let topics = participant.domain.publishers.lock();
            topics.values().map(|known| known.publishers.len()).collect::<Vec<_>>()
        };
        let (of_type, qos) = (TypeDescription { payload_bytes: 64, ..TypeDescription::default() }, Qos::default());
        for number in 0..4 {
            let (ours, topic, of_type) = (participant.clone(), format!("/topic_{number}"), of_type.clone());
            let options = PublisherOptions::default();
            let _publisher = Publisher::new(ours, "/node", &topic, of_type.clone(), qos, options).unwrap();
            let subscribe = || Subscription::new(participant.clone(), "/node", &topic, of_type.clone(), qos).unwrap();
            let _subscriptions = [subscribe(), subscribe()];
            assert_eq!(known(), [1], "the subscriptions of topic {number} share a mapping");
        }
    }
}
