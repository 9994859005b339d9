//! The result of a subscription's discovery: the publishers that were joined, and the reasons why other publishers
//! were not joined.

use super::RETRY_AFTER_NS;
use crate::{
    describe::description::{EndpointDescription, Gid},
    domain::{endpoints::Endpoints, joining::JoinBatch, publisher_mapping::PublisherMapping},
    error::Error,
    os::{clock::monotonic_ns, event_fd::EventFd},
    protocol::{
        entry::Entry,
        layout::READER_LEFT,
        sync::{Ordering::Acquire, acquire},
    },
    subscribe::{
        connection::{Connection, Losses, Order, PendingConnection},
        gone::{MAX_GONE_BYTES, MAX_GONE_PUBLISHERS, drop_drained, drop_surplus},
        owned_record::{OwnedRecord, places::Places},
    },
};
use std::{collections::HashSet, sync::Arc, task::Waker};

/// The result of a subscription's discovery.
#[derive(Default)]
pub(crate) struct Discovered {
    /// The generation of the topic's publishers for which this result was made.
    pub(crate) generation: Option<u64>,
    /// The number of discoveries so far.
    pub(crate) version: u64,
    /// The connections that are made and not joined yet.
    pub(super) pending: Vec<(JoinBatch, Arc<EndpointDescription>, PendingConnection)>,
    /// The newest batch of pending connections.
    pub(super) batch: JoinBatch,
    /// The generation to which this result belongs when its connections are joined.
    pub(super) next_generation: Option<u64>,
    /// The connections that were joined and that the subscription has not taken over yet.
    pub(crate) connections: Vec<Connection>,
    /// The losses that the subscription has not counted yet, including samples of dropped connections.
    pub(crate) losses: Losses,
    pub(crate) received: u64,
    /// The publishers that were joined: living publishers (also with corrupt memory), and publishers that have left
    /// but still have samples to take.
    pub(super) joined: Vec<Joined>,
    /// The number of publishers in `joined` that left or died.
    gone: usize,
    /// The number of times that joined publishers left or were removed.
    departures: u64,
    /// The reasons why publishers of the topic do not match, as sentences.
    pub(super) incompatible: Vec<String>,
    /// The reasons why publishers could not be read or joined at the last discovery, as sentences.
    pub(super) excluded: Vec<String>,
    /// The first failure to read or join an existing publisher.
    pub(crate) failure: Option<String>,
    /// The time of the next attempt to join publishers, CLOCK_MONOTONIC; `None` if all publishers could be joined.
    pub(super) retry_ns: Option<u64>,
    /// The keys of the publishers that existed at the first discovery, and so before the subscription. `None` before
    /// the first discovery; empty once all publishers are joined. The subscription existed before all other publishers,
    /// and takes their samples from the first on.
    pub(super) older_publishers: Option<Vec<u64>>,
    /// The part of the [`Endpoints`] list that was read: the epoch of the list and the number of its first
    /// publishers. `None` if a publisher could not be read or joined, so that all publishers are read again.
    pub(super) looked_at: Option<(u64, usize)>,
    /// The number of joined publishers before the retry that is under way.
    pub(super) retried_with: Option<usize>,
    /// The mismatches of which the listener was notified.
    pub(super) announced: Vec<String>,
    pub(super) notified_version: u64,
    pub(crate) listener: Listener,
    /// Whether the subscription was dropped.
    pub(super) is_closed: bool,
}

/// The descriptor and the waker by which the control thread notifies the subscription's user of news.
#[derive(Default)]
pub(crate) struct Listener {
    /// The descriptor on which the user waits for samples.
    pub(crate) event_fd: Option<EventFd>,
    /// The waker of a task that waits for samples, or for publishers to come or go; it is woken only once.
    pub(crate) waker: Option<Waker>,
}

/// A publisher that was joined.
pub(super) struct Joined {
    /// The reader record of the connection, which has the subscription's cursor; any thread may read it. While this
    /// reference exists, the record is not reused for another connection.
    pub(super) record: Arc<OwnedRecord>,
    pub(super) publisher: Arc<EndpointDescription>,
    /// Whether the publisher left or died.
    pub(super) is_gone: bool,
}

impl Discovered {
    /// Marks the joined publishers that left, and returns the keys of publishers that are joined or about to be joined.
    pub(super) fn look_again(&mut self, there: &Endpoints) -> HashSet<u64> {
        self.incompatible.clear();
        let present: HashSet<u64> = there.list.iter().map(|(_, publisher)| publisher.key).collect();
        for joined in self.joined.iter_mut().filter(|joined| !there.may_have(Gid(joined.record.mapping.gid))) {
            joined.is_gone = !present.contains(&joined.record.mapping.key);
        }
        self.count_gone();
        let joined = self.joined.iter().map(|joined| joined.record.mapping.key);
        joined.chain(self.pending.iter().map(|(_, publisher, _)| publisher.key)).collect()
    }

    /// Forgets publishers that are gone and have no samples to take any more. From publishers that are gone, this
    /// function skips samples beyond the subscription's depth: otherwise, a subscription that never takes would keep
    /// the memory of every publisher that ever came.
    pub(super) fn forget_gone(&mut self, places: &Places) {
        if self.gone == 0 {
            return;
        }
        let present = self.present_keys();
        let (mut gone, there): (Vec<_>, Vec<_>) = std::mem::take(&mut self.connections)
            .into_iter()
            .partition(|connection| !present.contains(&connection.mapping.key));
        gone.iter_mut().for_each(|connection| connection.set_gone(true));
        let mut order = Order::new(&places.description.qos);
        order.reset(gone.len());
        order.oldest(&mut gone, places, &mut self.losses);
        self.received += drop_surplus(&mut gone, &mut self.losses) + drop_drained(&mut gone);
        gone.extend(there);
        self.connections = gone;
        self.joined.retain(|joined| !joined.is_gone || joined.has_news());
        self.count_gone();
    }

    fn count_gone(&mut self) {
        let gone = self.joined.iter().filter(|joined| joined.is_gone).count();
        // Departures are counted even if the number of gone publishers stays the same, because other publishers may be
        // gone.
        self.departures += u64::from(gone + std::mem::replace(&mut self.gone, gone) > 0);
    }

    /// The reason why the discovery joins no more publishers that wait for this subscription: departed publishers whose
    /// samples are not taken yet have reached the limit of mappings or of memory.
    pub(super) fn why_full(&self) -> Option<String> {
        if self.gone == 0 {
            return None;
        }
        let gone = self.joined.iter().filter(|joined| joined.is_gone && joined.has_news());
        let sizes = gone.map(|joined| joined.record.mapping.region.length_bytes());
        let (count, bytes) = sizes.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
        (count >= MAX_GONE_PUBLISHERS || bytes >= MAX_GONE_BYTES).then(|| {
            format!(
                "{count} publishers left before this RELIABLE KEEP_ALL subscription took all of their samples, which \
                 use {bytes} bytes of shared memory: the subscription matches no further RELIABLE KEEP_ALL publisher \
                 until it has taken some of these samples; take more often"
            )
        })
    }

    /// Notes why a publisher could not be joined; all publishers are then read again at the next discovery.
    pub(super) fn exclude_failed(&mut self, error: &Error) {
        self.looked_at = None;
        match error.is_not_found() {
            // The publisher is leaving and will raise the generation, or its file was removed.
            true => self.exclude(format!("the file of a publisher does not exist: {error}")),
            false => self.fail(error.to_string()),
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.failure.get_or_insert_with(|| why.clone());
        self.exclude(why);
    }

    pub(super) fn exclude(&mut self, why: String) {
        self.excluded.push(why);
        self.retry_ns = Some(monotonic_ns() + RETRY_AFTER_NS);
    }

    /// The reasons why publishers of the topic are not matched, as sentences.
    pub(crate) fn mismatches(&self) -> Vec<String> {
        self.incompatible.iter().chain(&self.excluded).cloned().collect()
    }

    /// The keys of the publishers that were joined and have not left.
    pub(crate) fn present_keys(&self) -> HashSet<u64> {
        self.present_from(0).map(|(mapping, _)| mapping.key).collect()
    }

    /// The publishers that were joined and have not left, from the position `index` of the list on.
    pub(crate) fn present_from(
        &self,
        index: usize,
    ) -> impl Iterator<Item = (&Arc<PublisherMapping>, &Arc<EndpointDescription>)> {
        let joined = self.joined.get(index..).unwrap_or_default().iter();
        joined.filter(|joined| !joined.is_gone).map(|joined| (&joined.record.mapping, &joined.publisher))
    }

    /// The number of departures, and the number of joined publishers. While the number of departures is the same,
    /// publishers are only added, at the end of the list.
    pub(crate) fn joins(&self) -> (u64, usize) {
        (self.departures, self.joined.len())
    }

    /// Forgets all publishers, because the subscription is dropped. The caller drops the returned value after the
    /// discovery is unlocked.
    #[must_use]
    pub(crate) fn close(&mut self) -> Discovered {
        let (version, departures) = (self.version + 1, self.departures + 1);
        std::mem::replace(self, Discovered { version, departures, is_closed: true, ..Discovered::default() })
    }
}

impl Joined {
    /// Whether the publisher has a sample that was not taken.
    pub(super) fn has_news(&self) -> bool {
        let record = self.record.record();
        if record.state.load(Acquire) == READER_LEFT {
            return false; // the subscription does not take from it any more
        }
        let next = acquire(&record.cursor);
        // An error of a ring that cannot be mapped counts as news: the take returns it.
        self.record.mapping.ring().is_ok_and(|ring| !matches!(ring.look(next), Entry::NotYet))
    }
}
