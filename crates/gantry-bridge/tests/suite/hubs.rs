//! Tests of two hosts that two networks connect.

use super::{
    hosts::*,
    two_hosts::{say, string_type, subscription, take},
};
use crate::support::Link;
use gantry::{Publisher, Qos};
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::{Participant, Role, Subscription};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use test_support::eventually;

const NETWORKS: [&str; 2] = ["one", "two"];

fn host() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Starts a bridge to each network in a host. If `hub` contains `--hub`, each bridge shows its network the nodes of the
/// other network.
fn join_networks(links: &[Link; 2], index: usize, host: &Path, hub: &[&str]) -> [Bridge; 2] {
    [0, 1].map(|at| links[at].start_with(index, host, &[hub, &["--network", NETWORKS[at]]].concat()))
}

/// The time to wait for a message before the next message is published.
const PERIOD: Duration = Duration::from_millis(20);

/// Counts the graph entries in a host with this role, node name and topic.
fn count(host: &Arc<Participant>, role: Role, node: &str) -> usize {
    let is_it = |entry: &&gantry_shm::GraphEntry| {
        let found = &entry.description;
        found.role == role && found.node == node && (role == Role::Node || found.topic == "/chatter")
    };
    host.graph().unwrap().iter().filter(is_it).count()
}

/// A stream of numbered messages, and the numbers of the messages that have arrived.
struct Stream {
    publisher: Publisher<Text>,
    listener: Subscription,
    sent: u64,
    heard: Vec<u64>,
}

impl Stream {
    /// Publishes until `count` consecutive messages have arrived.
    fn run(&mut self, count: usize, what: &str) {
        let (begin, mut since) = (self.heard.len(), Instant::now());
        eventually(what, || {
            if self.heard.last() == Some(&self.sent) || since.elapsed() > PERIOD {
                self.sent += 1;
                say(&mut self.publisher, &format!("{:08}", self.sent));
                since = Instant::now();
            }
            while let Some(sample) = self.listener.take().unwrap() {
                self.heard.push(std::str::from_utf8(&sample.bytes()[4..12]).unwrap().parse().unwrap());
            }
            let newest = self.heard.get(begin..).unwrap_or_default().rchunks(count).next().unwrap_or_default();
            newest.len() == count && newest.windows(2).all(|pair| pair[1] == pair[0] + 1)
        });
        let is_once = self.heard.windows(2).all(|pair| pair[1] > pair[0]);
        assert!(is_once, "{what}: each message arrives once, and in order: {:?}", self.heard);
    }
}

#[test]
fn two_hubs_between_the_same_networks_carry_each_message_once() {
    in_host("suite::hubs::two_hubs_between_the_same_networks_carry_each_message_once", |second| {
        let links = [Link::between(3), Link::between(3)];
        let hosts = [host(), host()];
        let hubs = [1, 2].map(|index| join_networks(&links, index, hosts[index - 1].path(), &["--hub"]));
        let _near = links[0].start_with(0, &first_host(), &["--network", NETWORKS[0]]);
        let _far = links[1].start_with(0, second, &["--network", NETWORKS[1]]);
        let (talker, qos) = (node("talker"), Qos::default().keep_last(10));
        let publisher = talker.create_publisher::<Text>("/chatter", qos).unwrap();
        let (near, far) = (join(&first_host()), join(second));
        let _node = far_node(&far, "/far_listener");
        let listener = subscription(&far, "/chatter", &string_type(), qos.keep_last(1000));
        let of_hubs = hosts.each_ref().map(|host| join(host.path()));
        eventually("both hubs have both nodes", || {
            let has_both = |hub| count(hub, Role::Node, "/talker") == 1 && count(hub, Role::Node, "/far_listener") == 1;
            of_hubs.iter().all(has_both)
        });
        let mut stream = Stream { publisher, listener, sent: 0, heard: Vec::new() };
        stream.run(50, "messages over a hub");
        // A node that came back to its own domain would appear twice by now.
        assert_eq!([&near, &far].map(|host| count(host, Role::Node, "/talker")), [1, 1]);
        assert_eq!([&near, &far].map(|host| count(host, Role::Node, "/far_listener")), [1, 1]);
        assert_eq!(count(&far, Role::Publisher, "/talker"), 1);

        let latched = Qos::default().keep_last(2).transient_local();
        let mut map = talker.create_publisher::<Text>("/map", latched).unwrap();
        (0..4).for_each(|number| _ = say(&mut map, &number.to_string()));
        for joiner in 0..2 {
            let mut late = subscription(&far, "/map", &string_type(), latched.keep_last(100));
            let texts: Vec<u8> = take(&mut late, 2).iter().map(|sample| sample.bytes()[4]).collect();
            assert_eq!((texts.as_slice(), late.take().unwrap().is_none()), (&b"23"[..], true), "joiner {joiner}");
        }

        // The hub that started last carries the messages. After its end, the other hub carries them.
        let [_other, carrying] = hubs;
        carrying.into_iter().for_each(|bridge| assert!(bridge.terminate().success()));
        stream.run(50, "messages over the other hub");
    });
}

#[test]
fn two_networks_between_two_hosts_carry_each_message_once() {
    in_host("suite::hubs::two_networks_between_two_hosts_carry_each_message_once", |second| {
        let links = [Link::between(2), Link::between(2)];
        let _near = join_networks(&links, 0, &first_host(), &[]);
        let _far = join_networks(&links, 1, second, &[]);
        let (talker, qos) = (node("talker"), Qos::default().keep_last(10));
        let publisher = talker.create_publisher::<Text>("/chatter", qos).unwrap();
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        let listener = subscription(&far, "/chatter", &string_type(), qos.keep_last(1000));
        let mut stream = Stream { publisher, listener, sent: 0, heard: Vec::new() };
        stream.run(50, "messages over one of two networks");
        assert_eq!(count(&far, Role::Node, "/talker"), 1);
    });
}
