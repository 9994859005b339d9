//! The topics whose lines on the board this process holds.
//!
//! Each endpoint and each watcher holds the line of its topic. All endpoints and watchers of one process share one
//! hold, which is the bit of the control thread among the line's watchers (`protocol::names`, N1). The line is freed
//! when the last process ends its hold. This module is on the control path.

use crate::{
    domain::{
        Domain,
        board::{GRAPH, TopicIndex},
        publisher_mapping::PublisherMapping,
    },
    error::{Error, Result},
    protocol::{
        layout::{GRAPH_TOPIC, line_hash},
        sleep::Side,
    },
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The lines that this process holds.
#[derive(Default)]
pub(crate) struct HeldTopics(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// The line of each held topic and the number of its holders in this process, by the topic's hash.
    topics: HashMap<u64, (TopicIndex, usize)>,
    /// The number of topics in `topics` that hold each line.
    lines: HashMap<TopicIndex, usize>,
}

impl HeldTopics {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A topic's line on the board, which belongs to the topic for as long as this value is kept. The graph has its own
/// line.
pub(crate) struct HeldTopic {
    domain: Arc<Domain>,
    hash: u64,
    pub(crate) index: TopicIndex,
}

impl Domain {
    /// Holds the line of a topic. The caller follows `side` of the topic.
    pub(crate) fn hold_topic(self: &Arc<Domain>, topic: &str, side: Side) -> HeldTopic {
        let (domain, hash) = (self.clone(), line_hash(topic));
        if topic == GRAPH_TOPIC {
            return HeldTopic { domain, hash, index: GRAPH };
        }
        let mut held = self.held_topics.lock();
        let Held { topics, lines } = &mut *held;
        let (index, count) = topics.entry(hash).or_insert_with(|| {
            let index = self.board.hold(hash, side, self.control_waiter, |line| lines.contains_key(&line));
            *lines.entry(index).or_default() += 1;
            (index, 0)
        });
        *count += 1;
        let index = *index;
        drop(held);
        HeldTopic { domain, hash, index }
    }

    /// Checks that this process and the publisher hold the same line for the topic. With different lines, the publisher
    /// would not notice a new reader, and would reclaim slots that the reader reads (board.rs, B3).
    pub(crate) fn check_line(&self, publisher: &PublisherMapping) -> Result<()> {
        let (hash, its_line) = publisher.line;
        let own_line = self.held_topics.lock().topics.get(&hash).map(|(index, _)| index.number());
        if own_line == Some(its_line) {
            return Ok(());
        }
        let found = own_line.map_or("none".to_owned(), |line| line.to_string());
        Err(Error::corrupt(
            "the board",
            "the names of topic lines",
            format!("line {its_line} of a publisher's topic"),
            found,
        ))
    }

    /// The line of a topic, for news to the processes that hold the topic. If no process holds it, the result is the
    /// shared line of its bucket, where news only wakes threads without need.
    pub(crate) fn topic(&self, topic: &str) -> TopicIndex {
        let hash = line_hash(topic);
        self.line_of(topic).unwrap_or_else(|| TopicIndex::shared(hash))
    }

    /// The line of a topic, if a process holds one. If this process holds it, the board is not searched.
    pub(crate) fn line_of(&self, topic: &str) -> Option<TopicIndex> {
        if topic == GRAPH_TOPIC {
            return Some(GRAPH);
        }
        let hash = line_hash(topic);
        let held = self.held_topics.lock().topics.get(&hash).map(|&(index, _)| index);
        held.or_else(|| self.board.find(hash))
    }
}

impl Drop for HeldTopic {
    fn drop(&mut self) {
        if self.index == GRAPH || !self.domain.epoch.is_current() {
            return;
        }
        let mut held = self.domain.held_topics.lock();
        let Held { topics, lines } = &mut *held;
        let Some((_, count)) = topics.get_mut(&self.hash) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        topics.remove(&self.hash);
        let of_line = lines.get_mut(&self.index).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if of_line == 0 {
            lines.remove(&self.index);
            // The line is released under the lock, because another thread of this process that holds the line again
            // sets the same bit.
            self.domain.board.release(self.index, self.domain.control_waiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Collector, Participant, Publisher, PublisherOptions, Qos, Role, SourceTime, Subscription, TypeDescription,
        Watcher,
        domain::process_file::waiter_owner,
        protocol::{layout::NAMED_LINES, sync::Ordering::Relaxed},
        wait::waiter::Waiter,
    };
    use std::{
        path::Path,
        sync::{Barrier, atomic::AtomicU64},
    };

    /// Makes two participants of this process that act as two processes.
    fn two(root: &Path) -> [Arc<Participant>; 2] {
        let other_path = Path::new("/dev/shm/../shm").join(root.file_name().unwrap());
        [root, &other_path].map(|root| Participant::join_under(root, 0).unwrap())
    }

    fn subscription(participant: &Arc<Participant>, topic: &str) -> Subscription {
        let of_type = TypeDescription { payload_bytes: 4096, ..TypeDescription::default() };
        Subscription::new(participant.clone(), "/node", topic, of_type, Qos::default()).unwrap()
    }

    fn publisher(participant: &Arc<Participant>, topic: &str) -> Publisher {
        let (of_type, options) =
            (TypeDescription { payload_bytes: 4096, ..TypeDescription::default() }, PublisherOptions::default());
        Publisher::new(participant.clone(), "/node", topic, of_type, Qos::default(), options).unwrap()
    }

    #[test]
    fn lines_are_free_when_their_last_endpoints_are_gone() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let [one, other] = two(root.path());
        let lines = || one.domain.board.topic_lines();
        for round in 0..3 {
            let endpoints: Vec<_> = (0..1500)
                .map(|topic| format!("/round_{round}/topic_{topic}"))
                .map(|topic| (subscription(&one, &topic), subscription(&other, &topic)))
                .collect();
            assert_eq!(lines(), 1500);
            let (ones, others): (Vec<_>, Vec<_>) = endpoints.into_iter().unzip();
            drop(ones);
            assert_eq!(lines(), 1500, "the other process holds them");
            drop(others);
            assert_eq!(lines(), 0);
        }
    }

    #[test]
    fn the_replies_of_a_service_have_one_line() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let [one, other] = two(root.path());
        let clients = [&one, &other, &one, &other];
        let replies: Vec<_> =
            (0..).zip(clients).map(|(client, home)| subscription(home, &format!("rr/addReply#{client}"))).collect();
        assert_eq!(one.domain.board.topic_lines(), 1);
        drop(replies);
        assert_eq!(one.domain.board.topic_lines(), 0);
    }

    /// The line would never be freed if the watcher's bit stayed set.
    #[test]
    fn a_watcher_without_its_generation_holds_no_line() {
        struct Idle;
        impl Watcher for Idle {
            fn update(&self) {}
            fn due_ns(&self) -> Option<u64> {
                None
            }
        }
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let board = &participant.domain.board;
        let _watcher = participant.watch("/topic", Role::Publisher, |_| Idle).unwrap();
        let bits = board.used_lines().flat_map(|line| &line.publishers_watchers);
        assert_eq!(bits.map(|bits| bits.load(Relaxed)).sum::<u64>(), 0);
        assert_eq!(board.topic_lines(), 0);
    }

    /// With more topics than lines, topics share the last line of a bucket. Both sides of a topic must find the same
    /// line.
    #[test]
    fn more_topics_than_lines_meet() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let [one, other] = two(root.path());
        let topics: Vec<String> = (0..NAMED_LINES + 1000).map(|topic| format!("/topic_{topic}")).collect();
        let held: Vec<_> = topics.iter().map(|topic| one.domain.hold_topic(topic, Side::Readers)).collect();
        // Topics that share a line do not move to lines that become free meanwhile.
        let (leave, stay): (Vec<_>, Vec<_>) = held.into_iter().enumerate().partition(|(topic, _)| topic % 3 == 0);
        drop(leave);
        for (topic, held) in &stay {
            assert_eq!(other.domain.hold_topic(&topics[*topic], Side::Publishers).index, held.index);
        }
        let mut publisher = publisher(&one, &topics[4]);
        let mut subscription = subscription(&other, &topics[4]);
        let loan = publisher.loan(0).unwrap();
        publisher.publish(loan, SourceTime::now()).unwrap();
        assert!(subscription.take().unwrap().is_some());
        drop((stay, publisher, subscription));
        assert_eq!(one.domain.board.topic_lines(), 0);
    }

    #[test]
    fn processes_that_come_and_go_at_once_hold_one_line_for_a_topic() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participants = two(root.path());
        let (barrier, lines) = (Barrier::new(2), [const { AtomicU64::new(u64::MAX) }; 2]);
        std::thread::scope(|scope| {
            for (own, participant) in participants.iter().enumerate() {
                let (barrier, lines) = (&barrier, &lines);
                scope.spawn(move || {
                    for topic in 0..3000 {
                        barrier.wait();
                        let held = participant.domain.hold_topic(&format!("/{topic}"), Side::Readers);
                        lines[own].store(held.index.number(), Relaxed);
                        barrier.wait();
                        assert_eq!(lines[0].load(Relaxed), lines[1].load(Relaxed));
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(participants[0].domain.board.topic_lines(), 0);
    }

    /// The publisher would not notice a reader that joined, and would reclaim slots that the reader reads.
    #[test]
    fn no_reader_joins_a_publisher_that_holds_another_line() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let [one, other] = two(root.path());
        let publisher = publisher(&one, "/topic");
        let line = one.domain.topic("/topic").number() as usize;
        one.domain.board.names[line].fetch_xor(1 << 40, Relaxed); // damage: another name
        let mut subscription = subscription(&other, "/topic");
        let error = subscription.publisher_count().unwrap_err().to_string();
        assert!(error.contains("the names of topic lines"), "{error}");
        drop((publisher, subscription));
    }

    /// Holding more samples than one reader record has pins takes another record, and raises the generation of the
    /// topic.
    #[test]
    fn takes_search_no_names() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let mut publisher = publisher(&participant, "/topic");
        let mut subscription = subscription(&participant, "/topic");
        let searches = || participant.domain.board.searches.load(Relaxed);
        let before = searches();
        let held: Vec<_> = (0..9)
            .map(|_| {
                let loan = publisher.loan(4096).unwrap();
                publisher.publish(loan, SourceTime::now()).unwrap();
                subscription.take().unwrap().unwrap()
            })
            .collect();
        assert_eq!((held.len(), searches()), (9, before));
    }

    /// The cost matters because rclpy makes a wait set for each wait.
    #[test]
    fn wait_sets_and_waiters_go_without_a_look_at_all_topics() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let board = &participant.domain.board;
        let mut subscriptions: Vec<_> = (0..20).map(|n| subscription(&participant, &format!("/{n}"))).collect();
        let own = waiter_owner(participant.domain.process.id());
        let waiters = board.waiters_of(own);
        for _ in 0..10 {
            let mut collector = Collector::new(&participant).unwrap();
            let mut attachments: Vec<_> = subscriptions.iter().map(|it| collector.attach(it).unwrap()).collect();
            attachments.drain(..3).for_each(|attachment| collector.detach(attachment));
            attachments[0..3].iter_mut().for_each(|attachment| collector.mute(attachment));
            let mut waiter = Waiter::new(participant.domain.clone());
            let sets = subscriptions.iter().map(|it| &board.line(it.topic).sleepers);
            waiter.sleep_once(Some(std::time::Instant::now() + std::time::Duration::from_millis(1)), sets, || false);
        }
        assert_eq!(board.withdrawals.load(Relaxed), 0);
        assert_eq!(board.waiters_of(own), waiters);
        let sleepers = subscriptions.iter_mut().flat_map(|it| &board.line(it.topic).sleepers);
        assert_eq!(sleepers.map(|bits| bits.load(Relaxed)).sum::<u64>(), 0, "a later owner would be woken for nothing");
    }
}
