//! The topics of a bag that is being written, with their counters. They are shared by the thread that takes samples,
//! the thread that writes chunks, and the reports.

use crate::describe::TopicMetadata;
use gantry::Qos;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Locks a mutex and ignores poisoning, because the values in it are consistent even after a panic of another thread.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A topic with one type.
#[derive(Debug, Default)]
pub struct Topic {
    /// The full name.
    pub name: String,
    /// The type's name.
    pub type_name: String,
    /// The hash of the type in the form RIHS01_...; empty if it is not known.
    pub hash: String,
    /// The different QoS of the topic's publishers that were discovered.
    pub offered: Mutex<Vec<Qos>>,
    /// The number of messages that are written to a file.
    pub messages: AtomicU64,
    /// The total size of the written messages in bytes.
    pub bytes: AtomicU64,
    /// The number of messages that left their publisher's history before they were taken.
    pub overwritten: AtomicU64,
    /// The number of messages that were taken but could not be written.
    pub unwritten: AtomicU64,
}

/// The topics by the ids of their channels.
#[derive(Debug, Default)]
pub struct Topics(Mutex<BTreeMap<u16, Arc<Topic>>>);

impl Topic {
    /// The number of messages of this topic that are missing in the bag.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.overwritten.load(Relaxed) + self.unwritten.load(Relaxed)
    }
}

impl Topics {
    /// Adds a topic.
    pub fn add(&self, channel_id: u16, topic: Arc<Topic>) {
        lock(&self.0).insert(channel_id, topic);
    }

    /// The topic of a channel.
    #[must_use]
    pub fn get(&self, channel_id: u16) -> Option<Arc<Topic>> {
        lock(&self.0).get(&channel_id).cloned()
    }

    /// All topics.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Topic>> {
        lock(&self.0).values().cloned().collect()
    }

    /// The topics with missing messages, and their numbers of missing messages.
    #[must_use]
    pub fn dropped(&self) -> BTreeMap<String, u64> {
        let mut dropped = BTreeMap::new();
        for topic in self.all() {
            let count = topic.dropped();
            if count > 0 {
                *dropped.entry(topic.name.clone()).or_default() += count;
            }
        }
        dropped
    }

    /// The topics in the form for `metadata.yaml`.
    #[must_use]
    pub fn metadata(&self) -> Vec<TopicMetadata> {
        let metadata = |topic: Arc<Topic>| TopicMetadata {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            hash: topic.hash.clone(),
            offered: lock(&topic.offered).clone(),
            messages: topic.messages.load(Relaxed),
        };
        self.all().into_iter().map(metadata).collect()
    }
}
