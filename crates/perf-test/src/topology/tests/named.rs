//! Tests of the topologies that come with the tool. The expected sums are computed from iRobot's files.

use super::super::{Counts, Named, Topology, Trigger, all_named};

fn named(names: &[&str]) -> Topology {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Topology::read(&names).unwrap()
}

fn assert_near(name: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001 * expected, "{name}: {found} {expected}");
}

#[test]
fn robots_have_the_sums_of_the_originals() {
    for (name, nodes, topics, subscriptions, executors, sent_hz, sent_bytes_per_s, received_hz) in [
        ("sierra_nevada", 10, 13, 17, 1, 654.0, 111_916.0, 1054.0),
        ("cedar", 9, 13, 19, 9, 438.0, 108_172.0, 768.0),
        ("mont_blanc", 20, 23, 35, 1, 781.0, 11_713_816.0, 1263.0),
        ("white_mountain", 20, 23, 35, 20, 761.0, 10_149_816.0, 1223.0),
        ("autoware", 24, 23, 29, 1, 285.0, 285.0 * 4080.0, 338.333),
    ] {
        let topology = named(&[name]);
        assert_eq!(topology.notes, Vec::<String>::new(), "{name}");
        let counts = topology.counts();
        let Counts { processes, services, clients, .. } = counts;
        assert_eq!((processes, services, clients), (1, 0, 0), "{name}");
        assert_eq!((counts.nodes, counts.topics, counts.publishers), (nodes, topics, topics), "{name}");
        assert_eq!((counts.subscriptions, counts.executors), (subscriptions, executors), "{name}");
        assert_near(name, counts.sent_hz, sent_hz);
        assert_near(name, counts.sent_bytes_per_s, sent_bytes_per_s);
        assert_near(name, counts.received_hz, received_hz);
    }
}

#[test]
fn a_debugging_node_gets_every_message_of_its_robot() {
    for robot in ["sierra_nevada", "mont_blanc"] {
        let alone = named(&[robot]).counts();
        for reliability in ["reliable", "best_effort"] {
            let both = named(&[robot, &format!("debug_{robot}_{reliability}")]).counts();
            assert_eq!((both.processes, both.nodes), (2, alone.nodes + 1));
            assert_eq!(both.subscriptions, alone.subscriptions + alone.topics);
            assert_near(robot, both.received_hz, alone.received_hz + alone.sent_hz);
        }
    }
}

#[test]
fn each_is_listed_once_and_can_be_read() {
    let mut names: Vec<String> = all_named().into_iter().map(|Named { name, .. }| name).collect();
    assert!(names.iter().all(|name| Topology::read_named(name).is_some()), "{names:?}");
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), count), (30, 30));
}

#[test]
fn halves_fit_together() {
    for size in ["10b", "100kb", "1mb", "4mb"] {
        for publisher in ["pub_", "pub_loaned_"] {
            let system = named(&[&format!("{publisher}{size}"), &format!("sub_{size}")]);
            assert_eq!(system.notes, Vec::<String>::new());
            assert_eq!(system.counts().received_hz, system.counts().sent_hz);
        }
    }
    let service = named(&["cli_srv_10b"]).counts();
    assert_eq!((service.requests_hz, service.sent_hz.to_string()), (1000.0, "0".to_owned()));
}

#[test]
fn autoware_publishes_by_timers_at_its_sensors_and_its_planner_only() {
    let autoware = named(&["autoware"]);
    let publishers = autoware.processes[0].nodes.iter().flat_map(|node| &node.publishers);
    let timed: Vec<&str> = publishers
        .filter(|publisher| matches!(publisher.trigger, Trigger::Timer(_)))
        .map(|publisher| publisher.topic.as_str())
        .collect();
    let sensors = ["/FrontLidarDriver", "/RearLidarDriver", "/PointCloudMap", "/Visualizer", "/Lanelet2Map"];
    assert_eq!(timed, [&sensors[..], &["/EuclideanClusterSettings", "/BehaviorPlanner"]].concat());
}
