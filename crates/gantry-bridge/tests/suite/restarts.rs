//! Tests of bridges that are killed and started again.

use super::{
    hosts::*,
    two_hosts::{say, string_type, subscription, take},
};
use crate::support::Link;
use gantry::Qos;
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::Sample;

/// The number of kills, which `BRIDGE_TEST_ROUNDS` may set.
fn rounds() -> u64 {
    std::env::var("BRIDGE_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

#[test]
fn each_late_joiner_gets_the_latched_samples_once_after_each_kill() {
    in_host("suite::restarts::each_late_joiner_gets_the_latched_samples_once_after_each_kill", |second| {
        let link = Link::new();
        let (start_a, start_b) = (|| link.start(&first_host()), || link.start(second));
        let (mut bridge_a, mut bridge_b) = (start_a(), start_b());
        let talker = node("talker");
        let qos = Qos::default().keep_last(3).transient_local();
        let mut publisher = Some(talker.create_publisher::<Text>("/map", qos).unwrap());
        let far = join(second);
        let _node = far_node(&far, "/far_listener");
        for round in 0..rounds() {
            match round % 3 {
                0 => {
                    bridge_a.kill();
                    bridge_a = start_a();
                }
                1 => {
                    bridge_b.kill();
                    bridge_b = start_b();
                }
                _ => publisher = None,
            }
            let publisher = publisher.get_or_insert_with(|| talker.create_publisher::<Text>("/map", qos).unwrap());
            let mut say_next = |number| _ = say(publisher, &format!("{round:04} {number}"));
            (0..4).for_each(&mut say_next);
            let text = format!("{round:04}").into_bytes();
            // Samples from earlier rounds may still arrive, and are ignored.
            let of_round = |samples: Vec<Sample>| -> Vec<u8> {
                let found = samples.into_iter().filter(|sample| sample.bytes()[4..8] == text);
                found.map(|sample| sample.bytes()[9]).collect()
            };
            let mut joiners = Vec::new();
            for _ in 0..2 {
                let qos = Qos::default().keep_last(100).transient_local();
                let mut late = subscription(&far, "/map", &string_type(), qos);
                let mut found = Vec::new();
                while found.last() != Some(&b'3') {
                    found.extend(of_round(take(&mut late, 1)));
                }
                // The oldest samples may be missing: they may still have been under way when the subscription joined.
                assert!(found.len() >= 3 && b"0123".ends_with(&found), "round {round}: {found:?}");
                joiners.push(late);
            }
            // A sample that is delivered twice would arrive before the next sample.
            say_next(4);
            for late in &mut joiners {
                let mut found = Vec::new();
                while found.is_empty() {
                    found.extend(of_round(take(late, 1)));
                }
                assert_eq!(found, b"4", "round {round}");
            }
        }
        drop((bridge_a, bridge_b));
    });
}
