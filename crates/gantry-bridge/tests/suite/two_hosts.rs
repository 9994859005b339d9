//! Tests of two hosts, each with a bridge.

use super::hosts::*;
use crate::support::{KEEPS_NUMBERS, Link, network};
use gantry::{Gid, Qos};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use gantry_shm::{
    GraphEntry, Participant, Publisher, PublisherOptions, Role, Sample, SourceTime, Subscription, TypeDescription,
};
use std::sync::Arc;
use test_support::{PATIENCE, eventually};

/// Creates a subscription in a host other than the host of this program.
pub fn subscription(host: &Arc<Participant>, topic: &str, of_type: &TypeDescription, qos: Qos) -> Subscription {
    Subscription::new(host.clone(), "/far_listener", topic, of_type.clone(), qos).unwrap()
}

/// Waits for the next `count` samples, and returns them in order.
#[track_caller]
pub fn take(subscription: &mut Subscription, count: usize) -> Vec<Sample> {
    let mut samples = Vec::new();
    eventually(&format!("{count} samples"), || {
        samples.extend(subscription.take().unwrap());
        samples.len() == count
    });
    samples
}

pub fn string_type() -> TypeDescription {
    use gantry::Message;
    TypeDescription {
        name: Text::TYPE_NAME.to_owned(),
        hash: Text::TYPE_HASH,
        definition: Text::DEFINITION.into(),
        payload_bytes: usize::MAX,
    }
}

pub fn say(publisher: &mut gantry::Publisher<Text>, text: &str) -> u64 {
    let message = publisher.loan_with(StringShape { data: text }).unwrap();
    publisher.publish(message).unwrap()
}

#[test]
fn latched_samples_cross_exactly_once_for_each_late_joiner() {
    in_host("suite::two_hosts::latched_samples_cross_exactly_once_for_each_late_joiner", |second| {
        let link = Link::new();
        let _bridges = [link.start(&first_host()), link.start(second)];
        let qos = Qos::default().keep_last(2).transient_local();
        let nodes: Vec<_> = ["one", "two", "three"].map(node).into();
        let mut publishers: Vec<_> =
            nodes.iter().map(|node| node.create_publisher::<Text>("/tf_static", qos).unwrap()).collect();
        for (index, publisher) in publishers.iter_mut().enumerate() {
            for number in 1..=5 {
                say(publisher, &format!("{index} {number}"));
            }
        }
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        for joiner in 0..3 {
            let mut late =
                subscription(&far, "/tf_static", &string_type(), Qos::default().keep_last(100).transient_local());
            let samples = take(&mut late, 6);
            let mut texts: Vec<_> = samples.iter().map(|sample| sample.bytes()[4..7].to_vec()).collect();
            texts.sort();
            let expected: Vec<_> =
                ["0 4", "0 5", "1 4", "1 5", "2 4", "2 5"].map(|text| text.as_bytes().to_vec()).into();
            assert_eq!(texts, expected, "joiner {joiner}");
            let mut publishers: Vec<Gid> = samples.iter().map(|sample| sample.info().origin().0).collect();
            let is_its = |sample: &Sample| !KEEPS_NUMBERS || [4, 5].contains(&sample.info().origin().1);
            assert!(samples.iter().all(is_its), "the publisher's numbers");
            publishers.sort();
            publishers.dedup();
            assert_eq!(publishers.len(), 3, "one publisher for each original");
            assert!(late.take().unwrap().is_none());
        }
        // An existing subscription must receive each new sample once.
        let mut subscription = subscription(&far, "/tf_static", &string_type(), qos.keep_last(100));
        take(&mut subscription, 6);
        for publisher in &mut publishers {
            say(publisher, "x 6");
        }
        assert!(take(&mut subscription, 3).iter().all(|sample| &sample.bytes()[4..7] == b"x 6"));
        assert!(subscription.take().unwrap().is_none());
    });
}

#[test]
fn both_ways_at_once_make_no_loop_and_the_graph_is_whole() {
    in_host("suite::two_hosts::both_ways_at_once_make_no_loop_and_the_graph_is_whole", |second| {
        let link = Link::new();
        let _bridges = [link.start(&first_host()), link.start(second)];
        let here = node("here");
        let qos = Qos::default().keep_last(20);
        let mut publisher = here.create_publisher::<Text>("/chatter", qos).unwrap();
        let mut own = here.create_subscription::<Text>("/chatter", qos).unwrap();
        let far = join(second);
        let options = PublisherOptions::default();
        let mut far_publisher = Publisher::new(far.clone(), "/there", "/chatter", string_type(), qos, options).unwrap();
        let _nodes = ["/there", "/far_listener"].map(|name| far_node(&far, name));
        let mut far_own = subscription(&far, "/chatter", &string_type(), qos);
        // The depth is not compared, because some networks do not announce it.
        let is_there = |entries: &[GraphEntry], role, node: &str| {
            entries.iter().any(|entry| {
                let found = &entry.description;
                found.role == role
                    && found.node == node
                    && (role == Role::Node || Qos { depth: qos.depth, ..found.qos } == qos)
            })
        };
        eventually("each host's graph has the other's", || {
            let (there, near) = (far.graph().unwrap(), join(&first_host()).graph().unwrap());
            is_there(&there, Role::Node, "/here")
                && is_there(&there, Role::Publisher, "/here")
                && is_there(&there, Role::Subscription, "/here")
                && is_there(&near, Role::Publisher, "/there")
                && is_there(&near, Role::Subscription, "/far_listener")
        });
        let near = join(&first_host()).graph().unwrap();
        let is_far = |entry: &&GraphEntry| {
            entry.description.role == Role::Subscription && entry.description.node == "/far_listener"
        };
        let definition = &near.iter().find(is_far).unwrap().description.message_type.definition;
        assert_eq!(&**definition, string_type().definition.as_ref(), "a standard type has its definition");
        assert!(own.wait_for_publishers(2, PATIENCE).unwrap());
        assert!(far_own.wait_for_publishers(2, PATIENCE).unwrap());
        assert!(publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
        assert!(far_publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
        for _ in 0..10 {
            say(&mut publisher, "here");
            let mut loan = far_publisher.loan(10).unwrap();
            loan.bytes_mut().copy_from_slice(&[6, 0, 0, 0, b't', b'h', b'e', b'r', b'e', 0]);
            far_publisher.publish(loan, SourceTime::now()).unwrap();
        }
        let of_far = take(&mut far_own, 20);
        let mut of_own = Vec::new();
        eventually("20 samples here", || {
            of_own.extend(own.take().unwrap().map(|sample| sample.data().to_owned()));
            of_own.len() == 20
        });
        assert_eq!(of_own.iter().filter(|text| *text == "here").count(), 10);
        assert_eq!(of_far.iter().filter(|sample| sample.bytes()[4] == b'h').count(), 10);
        // A later sample has arrived in each direction, so a sample that came back over the network would have arrived,
        // too.
        say(&mut publisher, "last");
        assert_eq!(&take(&mut far_own, 1)[0].bytes()[4..8], b"last");
        assert!(own.wait(PATIENCE).unwrap());
        assert_eq!(own.take().unwrap().map(|sample| sample.data().to_owned()).as_deref(), Some("last"));
        assert!(own.take().unwrap().is_none() && far_own.take().unwrap().is_none());
        let explained = here.explain("/chatter").unwrap();
        let said = |part: &str| explained.iter().any(|connection| connection.to_string().contains(part));
        assert!(said("carries the messages") && said(&format!("/there (from {}", network())), "{explained:?}");
    });
}

#[test]
fn a_reliable_keep_all_topic_loses_nothing() {
    const COUNT: u64 = 3000;
    in_host("suite::two_hosts::a_reliable_keep_all_topic_loses_nothing", |second| {
        let link = Link::new();
        let _bridges = [link.start(&first_host()), link.start(second)];
        let talker = node("talker");
        let qos = Qos::default().reliable().keep_all();
        let mut publisher = talker.create_generic_publisher("/log", string_type(), qos).unwrap();
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        let mut listener = subscription(&far, "/log", &string_type(), qos);
        assert!(listener.wait_for_publishers(1, PATIENCE).unwrap());
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        let taker = std::thread::spawn(move || {
            let number = |sample: &Sample| u64::from_le_bytes(sample.bytes()[..8].try_into().unwrap());
            let numbers = (0..COUNT).map(|_| number(&take(&mut listener, 1)[0])).collect::<Vec<_>>();
            (numbers, listener.take().unwrap().is_none())
        });
        for number in 1..=COUNT {
            let mut message = publisher.loan(1000).unwrap();
            message.bytes_mut()[..8].copy_from_slice(&number.to_le_bytes());
            // `publish` returns the message after its blocking time, and the loop publishes it again.
            while let Err(unpublished) = publisher.publish(message) {
                message = unpublished.loan;
            }
        }
        assert_eq!(taker.join().unwrap(), ((1..=COUNT).collect(), true));
    });
}

#[test]
fn a_domain_has_one_bridge_which_ends_in_order() {
    in_host("suite::two_hosts::a_domain_has_one_bridge_which_ends_in_order", |_| {
        let link = Link::new();
        let bridge = link.start(&first_host());
        let (node, name) = (node("observer"), format!("/_gantry_bridge_{}", network()));
        eventually("the bridge is there", || node.node_names().unwrap().contains(&name));
        let second = link.command().output().unwrap();
        let said = String::from_utf8_lossy(&second.stderr);
        let sentence = format!("is already the bridge of domain 0 to {}", network());
        assert!(!second.status.success() && said.contains(&sentence), "{said}");
        assert!(said.contains("pid "), "{said}");
        assert!(bridge.terminate().success());
        assert_eq!(node.node_names().unwrap(), ["/observer"]);
    });
}
