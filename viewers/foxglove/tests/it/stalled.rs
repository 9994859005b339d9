//! Tests of feeds whose viewers are stalled. Most of these tests have the feed in their own process, and play the
//! thread that writes to the viewer's socket: so they choose when the viewer reads.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::{GenericPublisher, Node, Qos};
use gantry_foxglove::{domain::Feed, outbox::Item, protocol::Channel, viewer::Viewer as FeedViewer};
use std::{
    mem,
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

tests![
    a_feed_does_not_wait_for_messages_while_its_viewers_are_stalled,
    a_paused_feed_skips_the_messages_of_all_publishers_at_once,
    a_viewer_that_reads_gets_each_message_beside_a_stalled_one,
    the_history_of_a_latched_topic_misses_no_message_of_a_stalled_viewer,
    a_stalled_viewer_gets_the_newest_message_and_misses_none_without_a_count,
];

/// The room of a viewer's outbox: five messages.
const ROOM_BYTES: usize = 6000;
const MESSAGE_BYTES: usize = 1000;

/// A feed in this process, and the publisher of its topic.
struct World {
    node: Node,
    publisher: GenericPublisher,
    feed: Arc<Feed>,
    lost: Arc<AtomicU64>,
    /// The number of messages that were published.
    published: u64,
}

impl World {
    fn new(domain_id: u32, qos: Qos, latched: Option<u32>) -> World {
        let node = node_in(domain_id, "talker");
        let publisher = publisher(&node, "/topic", qos);
        let lost = Arc::new(AtomicU64::new(0));
        let channel = Channel { id: 1, topic: "/topic".into(), message_type: bytes_type() };
        World { feed: Arc::new(Feed::new(channel, latched, lost.clone())), node, publisher, lost, published: 0 }
    }

    fn viewer(&mut self, id: u64) -> Arc<FeedViewer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let viewer = Arc::new(FeedViewer::new(id, format!("viewer {id}"), stream, ROOM_BYTES));
        self.feed.add(&self.node, &viewer, 1).unwrap();
        wait_for(&mut self.publisher, 1);
        viewer
    }

    fn publish(&mut self, count: u64) {
        for _ in 0..count {
            self.published += 1;
            self.publisher.publish_copy(&bytes_message(self.published, MESSAGE_BYTES)).unwrap();
        }
    }

    /// Publishes messages until the feed has dropped enough of them that the viewer is stalled.
    fn stall(&mut self, viewer: &FeedViewer) {
        self.publish(5);
        while !viewer.outbox.is_stalled(1) {
            let before = dropped(viewer);
            self.publish(1);
            eventually("a message is dropped", || dropped(viewer) > before);
        }
    }

    /// Whether a thread sleeps until a message is published: it costs the publisher a system call.
    fn has_sleepers(&self) -> bool {
        let report = gantry_shm::inspect(self.node.domain_id()).unwrap().unwrap();
        !report.topics["/topic"].is_empty()
    }
}

fn dropped(viewer: &FeedViewer) -> u64 {
    viewer.outbox.dropped().values().sum()
}

/// Reads the next message of a viewer; returns its number.
fn read(viewer: &FeedViewer) -> u64 {
    match viewer.outbox.next() {
        Some(Item::Message(message)) => u64::from_le_bytes(message.cdr[4..12].try_into().unwrap()),
        other => panic!("{other:?}"),
    }
}

fn a_feed_does_not_wait_for_messages_while_its_viewers_are_stalled() {
    let mut world = World::new(41, Qos::default(), None);
    let viewer = world.viewer(1);
    eventually("the feed waits for messages", || world.has_sleepers());
    world.stall(&viewer);
    eventually("the feed has found that its viewer is stalled", || !world.has_sleepers());
    for _ in 0..5 {
        world.publish(30);
        // The feed holds the newest message. It skips all older ones, also those that left the history meanwhile, and
        // the skipped ones displace the messages in the outbox.
        eventually("all other messages are dropped", || dropped(&viewer) == world.published - 1);
        assert!(!world.has_sleepers(), "the publisher must wake the feed");
    }
    assert_eq!(read(&viewer), world.published);
    world.publish(3);
    assert_eq!([(); 3].map(|()| read(&viewer)), [2, 1, 0].map(|ago| world.published - ago));
    eventually("the feed waits for messages", || world.has_sleepers());
    assert_eq!((dropped(&viewer) + 4, world.lost.load(Relaxed)), (world.published, 0));

    world.stall(&viewer);
    eventually("the feed has found that its viewer is stalled", || !world.has_sleepers());
    let (next, second) = (world.published + 1, world.viewer(2));
    world.publish(1);
    eventually("a viewer that comes during the pause ends it", || world.has_sleepers());
    assert!([next - 1, next].contains(&read(&second)) && dropped(&second) == 0);
    world.feed.remove(1, None);
    world.feed.remove(2, None);
    wait_for(&mut world.publisher, 0);
}

fn a_paused_feed_skips_the_messages_of_all_publishers_at_once() {
    let mut world = World::new(45, Qos::default(), None);
    let viewer = world.viewer(1);
    world.stall(&viewer);
    eventually("the feed is paused", || !world.has_sleepers());
    let mut others: Vec<GenericPublisher> = (0..30).map(|_| publisher(&world.node, "/topic", Qos::default())).collect();
    others.iter_mut().for_each(|other| wait_for(other, 1));
    for other in &mut others {
        (0..10).for_each(|_| _ = other.publish_copy(&bytes_message(0, MESSAGE_BYTES)).unwrap());
        world.published += 10;
    }
    // The feed may look at the messages while they are published, and once afterwards.
    let (mut looks, mut seen) = (0, dropped(&viewer));
    eventually("all other messages are dropped", || {
        let now = dropped(&viewer);
        looks += u64::from(now > mem::replace(&mut seen, now));
        now == world.published - 1
    });
    assert!(looks <= 2, "{looks} looks took {} messages", world.published);
}

fn a_viewer_that_reads_gets_each_message_beside_a_stalled_one() {
    let mut world = World::new(42, Qos::default(), None);
    let (stalled, awake) = (world.viewer(1), world.viewer(2));
    for number in 1..=50 {
        world.publish(1);
        assert_eq!(read(&awake), number);
    }
    assert!(stalled.outbox.is_stalled(1) && dropped(&awake) == 0);
    assert_eq!(([(); 5].map(|()| read(&stalled)), dropped(&stalled)), ([46, 47, 48, 49, 50], 45));
    world.feed.remove(1, None);
    world.feed.remove(2, None);
}

fn the_history_of_a_latched_topic_misses_no_message_of_a_stalled_viewer() {
    let qos = Qos::default().keep_last(4).transient_local();
    let mut world = World::new(43, qos, Some(4));
    let stalled = world.viewer(1);
    for _ in 0..10 {
        world.publish(5);
        eventually("all but the newest five messages are dropped", || dropped(&stalled) == world.published - 5);
    }
    let second = world.viewer(2);
    assert_eq!([(); 4].map(|()| read(&second)), [3, 2, 1, 0].map(|ago| world.published - ago));
    world.feed.remove(1, None);
    world.feed.remove(2, None);
}

fn a_stalled_viewer_gets_the_newest_message_and_misses_none_without_a_count() {
    const IMAGE_BYTES: usize = 500_000;
    let node = node_in(44, "camera");
    let mut images = publisher(&node, "/image", Qos::default());
    let mut server = Server::start(44, &["--queue", "4M"]);
    let mut viewer = Viewer::new(&server);
    viewer.subscribe(1, "/image");
    wait_for(&mut images, 1);
    let mut published = 0;
    let mut publish = |count: u64| {
        (0..count).for_each(|_| {
            images.publish_copy(&bytes_message(published, IMAGE_BYTES)).unwrap();
            published += 1;
        });
        published
    };
    publish(200);
    server.line_with("is slower than its topics");
    publish(200);
    let last = publish(1) - 1;
    let mut got = 0;
    let mut read = |viewer: &mut Viewer, until: u64| {
        loop {
            let number = u64::from_le_bytes(viewer.message(1).1[4..12].try_into().unwrap());
            got += 1;
            if number == until {
                break got;
            }
        }
    };
    read(&mut viewer, last);
    let got = (1..=5).map(|_| publish(1) - 1).map(|number| read(&mut viewer, number)).last().unwrap();
    viewer.close();
    viewer.read_to_end();
    assert!(!viewer.has_passed(|message| matches!(message, ServerMessage::MessageData(_))));
    let line = server.line_with("is gone");
    let dropped = line.split("; ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap();
    let output = server.interrupt();
    let late =
        output.split("the server took ").nth(1).map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap());
    assert_eq!(got + dropped + late, last + 1 + 5, "{line}{output}");
}
