//! Tests of TRANSIENT_LOCAL topics with nodes of `hiroz`.

use super::{context, latched};
use crate::{
    messages::{bridge, checksum, next},
    support::{in_host, node},
};
use gantry::Qos;
use gantry_msgs::{
    geometry_msgs::msg::TransformStamped,
    nav_msgs::msg::{MapMetaData, OccupancyGrid},
    tf2_msgs::msg::TFMessage,
};
use hiroz::{Builder, context::ZContext};
use hiroz_msgs::{geometry_msgs, nav_msgs, tf2_msgs};
use std::collections::BTreeSet;
use test_support::PATIENCE;

const CELLS: u32 = 500;
const NAMES: [&str; 5] = ["arm", "base", "camera", "lidar", "wheel"];

/// The cells of the map with this number. Each map has different cells.
fn cells(number: u32) -> Vec<i8> {
    (0..CELLS * CELLS).map(|cell| ((cell * 31 + number) % 101) as i8).collect()
}

fn checksum_of_cells(cells: &[i8]) -> u64 {
    checksum(&cells.iter().map(|cell| cell.cast_unsigned()).collect::<Vec<_>>())
}

#[test]
fn a_late_subscription_gets_the_newest_map_once() {
    in_host("with_hiroz::latched::a_late_subscription_gets_the_newest_map_once", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, context) = (node("here"), context(port));
        let there = context.create_node("there").build().unwrap();
        let qos = Qos::default().keep_last(1).transient_local();
        let mut publisher = here.create_publisher::<OccupancyGrid>("/map", qos).unwrap();
        let far_publisher =
            there.create_pub::<nav_msgs::OccupancyGrid>("/far_map").with_qos(latched(1)).build().unwrap();
        let mut publish = |number: u32| {
            let info = MapMetaData { width: CELLS, height: CELLS, resolution: number as f32, ..MapMetaData::default() };
            publisher.publish_copy(&OccupancyGrid { info, data: cells(number), ..OccupancyGrid::default() }).unwrap();
            let info =
                nav_msgs::MapMetaData { width: CELLS, height: CELLS, resolution: number as f32, ..Default::default() };
            far_publisher
                .publish(&nav_msgs::OccupancyGrid { info, data: cells(number), ..Default::default() })
                .unwrap();
        };
        (1..=3).for_each(&mut publish);
        for joiner in 0..2 {
            let far_late = there.create_sub::<nav_msgs::OccupancyGrid>("/map").with_qos(latched(1)).build().unwrap();
            let mut late = here.create_subscription::<OccupancyGrid>("/far_map", qos).unwrap();
            // The next map arrives next: the latched map must not arrive a second time.
            for number in [3 + joiner, 4 + joiner] {
                let mut found = far_late.recv_timeout(PATIENCE).unwrap();
                // The bridge may still carry earlier maps after the first far subscription has joined.
                while joiner == 0 && found.info.resolution < 3.0 {
                    found = far_late.recv_timeout(PATIENCE).unwrap();
                }
                assert_eq!((found.info.width, found.info.resolution), (CELLS, number as f32));
                assert_eq!(checksum_of_cells(&found.data), checksum_of_cells(&cells(number)), "map {number} there");
                let (found, _) = next(&mut late);
                assert_eq!((found.info.width, found.info.resolution), (CELLS, number as f32));
                assert_eq!(checksum_of_cells(&found.data), checksum_of_cells(&cells(number)), "map {number} here");
                if number == 3 + joiner {
                    publish(number + 1);
                }
            }
        }
    });
}

/// Creates a node of `hiroz` for each name, with a publisher of latched transforms.
fn far_publishers(contexts: &[ZContext]) -> Vec<impl Fn(u32) + use<>> {
    NAMES
        .into_iter()
        .zip(contexts.iter().cycle())
        .map(|(name, context)| {
            let node = context.create_node(name).build().unwrap();
            let publisher = node.create_pub::<tf2_msgs::TFMessage>("/tf_static").with_qos(latched(1)).build().unwrap();
            move |number: u32| {
                let _node = &node;
                let header = hiroz_msgs::std_msgs::Header { frame_id: number.to_string(), ..Default::default() };
                let child_frame_id = name.to_owned();
                let transform = geometry_msgs::TransformStamped { header, child_frame_id, ..Default::default() };
                publisher.publish(&tf2_msgs::TFMessage { transforms: vec![transform] }).unwrap();
            }
        })
        .collect()
}

/// The set of transforms that the publishers of all names send with this number.
fn expected(number: u32) -> BTreeSet<(String, String)> {
    NAMES.map(|name| (name.to_owned(), number.to_string())).into()
}

/// Checks that a late local subscription gets the transform of each far publisher once.
fn check_far_transforms(contexts: &[ZContext]) {
    let publishers = far_publishers(contexts);
    (1..=2).for_each(|number| publishers.iter().for_each(|publish| publish(number)));
    let here = node("here");
    let qos = Qos::default().keep_last(100).transient_local();
    let mut late = here.create_subscription::<TFMessage>("/tf_static", qos).unwrap();
    for number in 2..=3 {
        let samples = NAMES.map(|_| next(&mut late));
        let found = samples.iter().map(|(message, _)| {
            let transform = &message.transforms[0];
            (transform.child_frame_id.clone(), transform.header.frame_id.clone())
        });
        assert_eq!(found.collect::<BTreeSet<_>>(), expected(number), "each publisher's transform once");
        let gids: BTreeSet<_> = samples.iter().map(|(_, info)| info.origin().0).collect();
        assert_eq!(gids.len(), NAMES.len(), "a GID for each publisher");
        publishers.iter().for_each(|publish| publish(number + 1));
    }
}

#[test]
fn tf_static_of_five_processes_arrives_here() {
    in_host("with_hiroz::latched::tf_static_of_five_processes_arrives_here", |_| {
        let (_bridge, port) = bridge(&[]);
        check_far_transforms(&NAMES.map(|_| context(port)));
    });
}

#[test]
fn tf_static_of_five_nodes_of_one_process_arrives_here() {
    in_host("with_hiroz::latched::tf_static_of_five_nodes_of_one_process_arrives_here", |_| {
        let (_bridge, port) = bridge(&[]);
        check_far_transforms(&[context(port)]);
    });
}

#[test]
fn tf_static_of_five_local_publishers_arrives_there() {
    in_host("with_hiroz::latched::tf_static_of_five_local_publishers_arrives_there", |_| {
        let (_bridge, port) = bridge(&[]);
        let context = context(port);
        let there = context.create_node("there").build().unwrap();
        let qos = Qos::default().keep_last(1).transient_local();
        let nodes = NAMES.map(node);
        let mut publishers =
            nodes.each_ref().map(|node| node.create_publisher::<TFMessage>("/tf_static", qos).unwrap());
        let mut publish = |number: u32| {
            for (name, publisher) in NAMES.iter().zip(&mut publishers) {
                let mut transform =
                    TransformStamped { child_frame_id: (*name).to_owned(), ..TransformStamped::default() };
                transform.header.frame_id = number.to_string();
                publisher.publish_copy(&TFMessage { transforms: vec![transform] }).unwrap();
            }
        };
        (1..=2).for_each(&mut publish);
        let late = there.create_sub::<tf2_msgs::TFMessage>("/tf_static").with_qos(latched(100)).build().unwrap();
        for number in 2..=3 {
            let found = NAMES.map(|_| {
                let transform = late.recv_timeout(PATIENCE).unwrap().transforms.swap_remove(0);
                (transform.child_frame_id, transform.header.frame_id)
            });
            assert_eq!(BTreeSet::from(found), expected(number), "each publisher's transform once");
            publish(number + 1);
        }
    });
}
