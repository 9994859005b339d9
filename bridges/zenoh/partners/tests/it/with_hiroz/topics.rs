//! VOLATILE topics.

use super::{context, expect_in_graph, keep_last, runtime};
use crate::{
    messages::{COUNT, HEIGHT, IMAGES, STEP, WIDTH, bridge, checksum, expect_far_endpoints, next, pixels},
    support::{in_host, node},
};
use gantry::Qos;
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    sensor_msgs::msg::Image,
    std_msgs::msg::{Header, String as Text},
};
use hiroz::{Builder, ZBuf, entity::EndpointKind};
use hiroz_msgs::{builtin_interfaces, sensor_msgs, std_msgs};
use test_support::{PATIENCE, eventually};
use zenoh::bytes::ZBytes;

#[test]
fn texts_cross_both_ways_and_the_graphs_are_whole() {
    in_host("with_hiroz::topics::texts_cross_both_ways_and_the_graphs_are_whole", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, context) = (node("here"), context(port));
        let there = context.create_node("there").with_namespace("/far").build().unwrap();
        let depth = COUNT as usize;
        let far_publisher =
            there.create_pub::<std_msgs::String>("/from_there").with_qos(keep_last(depth)).build().unwrap();
        let far_listener =
            there.create_sub::<std_msgs::String>("/from_here").with_qos(keep_last(depth)).build().unwrap();
        let qos = Qos::default().keep_last(COUNT as u32);
        let mut publisher = here.create_publisher::<Text>("/from_here", qos).unwrap();
        let mut listener = here.create_subscription::<Text>("/from_there", qos).unwrap();

        eventually("the far node is in the graph", || here.node_names().unwrap().contains(&"/far/there".to_owned()));
        expect_far_endpoints(&here, qos);
        expect_in_graph(&context, "here", EndpointKind::Publisher, "/from_here");
        expect_in_graph(&context, "here", EndpointKind::Subscription, "/from_there");

        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=COUNT {
            assert_eq!(publisher.publish_copy(&Text { data: format!("here {number}") }).unwrap(), number);
        }
        for number in 1..=COUNT {
            assert_eq!(far_listener.recv_timeout(PATIENCE).unwrap().data, format!("here {number}"));
        }
        assert!(runtime().block_on(far_publisher.wait_for_subscription(1, PATIENCE)));
        for number in 0..COUNT {
            far_publisher.publish(&std_msgs::String { data: format!("there {number}") }).unwrap();
        }
        let samples: Vec<_> = (0..COUNT).map(|_| next(&mut listener)).collect();
        for (number, (text, info)) in (0..).zip(&samples) {
            // hiroz counts its samples from 0.
            assert_eq!((text.data.as_str(), info.origin().1), (format!("there {number}").as_str(), number));
            assert_eq!(info.origin().0, samples[0].1.origin().0, "one publisher");
        }
        assert!(listener.take().unwrap().is_none() && !far_listener.is_ready());
        drop(there);
    });
}

#[test]
fn images_of_8_mb_cross_both_ways() {
    in_host("with_hiroz::topics::images_of_8_mb_cross_both_ways", |_| {
        let (_bridge, port) = bridge(&[]);
        let (here, context) = (node("here"), context(port));
        let there = context.create_node("there").build().unwrap();
        let depth = IMAGES as usize;
        let far_camera =
            there.create_pub::<sensor_msgs::Image>("/from_there").with_qos(keep_last(depth)).build().unwrap();
        let far_viewer =
            there.create_sub::<sensor_msgs::Image>("/from_here").with_qos(keep_last(depth)).build().unwrap();
        let qos = Qos::default().keep_last(IMAGES as u32);
        let mut camera = here.create_publisher::<Image>("/from_here", qos).unwrap();
        let mut viewer = here.create_subscription::<Image>("/from_there", qos).unwrap();

        assert!(camera.wait_for_subscriptions(1, PATIENCE).unwrap());
        for number in 1..=IMAGES {
            let stamp = Time { sec: number as i32, nanosec: 7 };
            let header = Header { stamp, frame_id: "camera".to_owned() };
            let (encoding, is_bigendian, data) = ("rgb8".to_owned(), 0, pixels(number));
            let image = Image { header, height: HEIGHT, width: WIDTH, encoding, is_bigendian, step: STEP, data };
            camera.publish_copy(&image).unwrap();
        }
        for number in 1..=IMAGES {
            let image = far_viewer.recv_timeout(PATIENCE).unwrap();
            let header = (image.header.stamp.sec, image.header.stamp.nanosec, image.header.frame_id.as_str());
            assert_eq!(header, (number as i32, 7, "camera"));
            assert_eq!((image.width, image.height, image.step, image.encoding.as_str()), (WIDTH, HEIGHT, STEP, "rgb8"));
            let data = ZBytes::from(image.data.into_inner());
            assert_eq!(checksum(&data.to_bytes()), checksum(&pixels(number)), "image {number}");
        }
        assert!(runtime().block_on(far_camera.wait_for_subscription(1, PATIENCE)));
        for number in 1..=IMAGES {
            let stamp = builtin_interfaces::Time { sec: number as i32, nanosec: 7 };
            let image = sensor_msgs::Image {
                header: std_msgs::Header { stamp, frame_id: "camera".to_owned() },
                height: HEIGHT,
                width: WIDTH,
                encoding: "rgb8".to_owned(),
                is_bigendian: 0,
                step: STEP,
                data: ZBuf::from(pixels(number)),
            };
            far_camera.publish(&image).unwrap();
        }
        for number in 1..=IMAGES {
            let (image, info) = next(&mut viewer);
            assert_eq!((image.header.stamp.sec, info.origin().1), (number as i32, number - 1));
            assert_eq!((image.width, image.height, image.step, image.encoding.as_str()), (WIDTH, HEIGHT, STEP, "rgb8"));
            assert_eq!(checksum(&image.data), checksum(&pixels(number)), "image {number}");
        }
        assert!(viewer.take().unwrap().is_none() && !far_viewer.is_ready());
    });
}
