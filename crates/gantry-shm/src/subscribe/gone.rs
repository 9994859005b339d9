//! Publishers that left or died before a subscription took all of their samples. The subscription's connections, in a
//! list with the oldest first, keep the memory of these publishers mapped.
//!
//! The depth of a KEEP_LAST subscription bounds the samples that wait, and so the number of these publishers
//! ([`Order`]). This file has the bound for KEEP_ALL and for deep subscriptions. The connection to a publisher that
//! waits for this subscription (both RELIABLE KEEP_ALL) is never dropped, because no sample may be lost. Instead, the
//! discovery joins no more publishers of this kind ([`Discovered::why_full`]).
//!
//! [`Order`]: crate::subscribe::connection::Order
//! [`Discovered::why_full`]: crate::subscribe::discovery::Discovered

use crate::subscribe::connection::{Connection, Losses};

/// The largest number of mappings of publishers that are gone, in each list of connections. It is a quarter of the
/// number of mappings that a process may have by default (vm.max_map_count).
pub(crate) const MAX_GONE_PUBLISHERS: usize = if cfg!(test) { 8 } else { 1 << 14 };
/// The largest total size of the files of publishers that are gone, in each list of connections.
pub(crate) const MAX_GONE_BYTES: usize = if cfg!(test) { 16 << 20 } else { 256 << 20 };

/// Drops the oldest connections to publishers that are gone, until the remaining ones are within the limits of number
/// and size. The newest connection always stays. The samples of dropped connections are lost. Returns the number of
/// samples that these connections had received since their joins.
pub(crate) fn drop_surplus(connections: &mut Vec<Connection>, losses: &mut Losses) -> u64 {
    let sizes = connections.iter().rev().filter(|connection| connection.is_gone()).map(Connection::file_bytes);
    let kept = sizes.scan(0, |sum: &mut usize, bytes| {
        *sum += bytes;
        Some(*sum)
    });
    let kept = kept.take(MAX_GONE_PUBLISHERS).take_while(|&sum| sum <= MAX_GONE_BYTES).count().max(1);
    let gone = connections.iter().filter(|connection| connection.is_gone()).count();
    let mut surplus = gone.saturating_sub(kept);
    drop_if(connections, |connection| {
        let is_surplus = surplus > 0 && connection.is_gone();
        surplus -= usize::from(is_surplus);
        let drops = is_surplus && !connection.is_gating();
        if drops {
            connection.skip_all(losses);
        }
        drops
    })
}

/// Drops the connections to publishers that are gone and have no samples left to take. Returns the number of samples
/// that these connections had received since their joins.
pub(crate) fn drop_drained(connections: &mut Vec<Connection>) -> u64 {
    drop_if(connections, |connection| connection.is_gone() && !connection.has_news())
}

fn drop_if(connections: &mut Vec<Connection>, mut drops: impl FnMut(&mut Connection) -> bool) -> u64 {
    let dropped = connections.extract_if(.., |connection| drops(connection));
    dropped.fold(0, |sum, connection| sum.saturating_add(connection.received()))
}

#[cfg(all(test, not(feature = "loom")))]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
mod tests {
    use super::*;
    use crate::{Participant, Publisher, PublisherOptions, Qos, SourceTime, Subscription, TypeDescription};
    use std::sync::Arc;

    const PUBLISHERS: u64 = 3 * MAX_GONE_PUBLISHERS as u64;

    fn bytes(payload_bytes: usize) -> TypeDescription {
        TypeDescription { name: "bytes".into(), hash: [0; 32], definition: "".into(), payload_bytes }
    }

    fn subscribe(participant: &Arc<Participant>, qos: Qos, payload_bytes: usize) -> Subscription {
        Subscription::new(participant.clone(), "/tester", "/topic", bytes(payload_bytes), qos).unwrap()
    }

    fn publish(participant: &Arc<Participant>, qos: Qos, payload_bytes: usize) -> Publisher {
        let (of_type, options) = (bytes(payload_bytes), PublisherOptions::default());
        let mut publisher = Publisher::new(participant.clone(), "/tester", "/topic", of_type, qos, options).unwrap();
        publisher.subscription_count().unwrap();
        let loan = publisher.loan(payload_bytes).unwrap();
        publisher.publish(loan, SourceTime::now()).unwrap();
        publisher
    }

    fn count(subscription: &mut Subscription) -> u64 {
        std::iter::from_fn(|| subscription.take().unwrap()).count() as u64
    }

    #[test]
    fn the_oldest_publishers_that_left_are_dropped_and_their_samples_counted() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().keep_all().best_effort();
        for payload_bytes in [8, 3 << 20, 20 << 20] {
            for looks in [false, true] {
                let mut subscription = subscribe(&participant, qos, payload_bytes);
                let mut kept = MAX_GONE_PUBLISHERS;
                for _ in 0..PUBLISHERS {
                    let publisher = publish(&participant, qos, payload_bytes);
                    kept = kept.min(MAX_GONE_BYTES / publisher.memory_bytes()).max(1);
                    drop(publisher);
                    assert!(!looks || subscription.is_ready().unwrap());
                }
                subscription.publisher_count().unwrap();
                let (kept, overwritten) = (kept as u64, PUBLISHERS - kept as u64);
                assert_eq!(subscription.losses(), Losses { overwritten, ..Losses::default() }, "{payload_bytes} bytes");
                assert_eq!((subscription.received().unwrap(), count(&mut subscription)), (PUBLISHERS, kept));
            }
        }
    }

    #[test]
    fn a_reader_for_which_publishers_wait_joins_no_more_until_it_has_taken() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().keep_all();
        let mut subscription = subscribe(&participant, qos, 8);
        for number in 1..=MAX_GONE_PUBLISHERS + 2 {
            let is_joined = number <= MAX_GONE_PUBLISHERS;
            assert_eq!(subscription.publisher_count().unwrap_or(0), 0, "the last one has left");
            let mut publisher = publish(&participant, qos, 8);
            let (readers, why) = (publisher.subscription_count().unwrap(), subscription.mismatches());
            assert_eq!((readers, why.is_empty()), (usize::from(is_joined), is_joined), "{number}: {why:?}");
        }
        let kept = MAX_GONE_PUBLISHERS as u64;
        assert_eq!((count(&mut subscription), subscription.losses()), (kept, Losses::default()));
        let mut publisher = publish(&participant, qos, 8);
        assert_eq!((subscription.publisher_count().unwrap(), publisher.subscription_count().unwrap()), (1, 1));
        assert_eq!((count(&mut subscription), subscription.mismatches()), (1, Vec::new()));
    }
}
