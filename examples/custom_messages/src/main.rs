//! Your own messages: a package of `.msg` and `.srv` files, compiled by one call in `build.rs`, published and taken
//! in place.
//!
//! `cargo run -p custom_messages`. For your own project, copy the dependencies in `Cargo.toml`, `build.rs`, the folder
//! `packages` and the line with `include!`. The generated code is `target/*/build/custom_messages-*/out/messages.rs`.
//! Its documentation is shown by `cargo doc -p custom_messages --document-private-items --open`.

#![expect(clippy::print_stdout, reason = "a program prints")]

include!(concat!(env!("OUT_DIR"), "/messages.rs"));

use gantry::{Node, Qos};
use gantry_cdr::{Message, Service};
use gantry_msgs::{geometry_msgs::msg::Point, std_msgs::msg::HeaderShape};
use my_robot::{
    msg::{Obstacle, ObstacleShape},
    srv::ClearObstacles,
};
use std::time::Duration;

fn main() -> gantry::Result<()> {
    let node = Node::new("custom_messages")?;
    let mut publisher = node.create_publisher::<Obstacle>("/obstacles", Qos::default())?;
    let mut subscription = node.create_subscription::<Obstacle>("/obstacles", Qos::default())?;

    // The loan fixes texts and lengths; all other fields are then written in shared memory.
    let header = HeaderShape { frame_id: "map" };
    let mut obstacle = publisher.loan_with(ObstacleShape { header, label: "forklift", outline: 3 })?;
    obstacle.set_kind(Obstacle::VEHICLE);
    for (corner, (x, y)) in obstacle.outline_mut().iter_mut().zip([(4.0, 1.0), (6.0, 1.0), (5.0, 2.5)]) {
        *corner = Point { x, y, z: 0.0 };
    }
    publisher.publish(obstacle)?;

    if subscription.wait(Duration::from_secs(1))? {
        while let Some(obstacle) = subscription.take()? {
            let (label, frame) = (obstacle.label(), obstacle.header().frame_id());
            println!("{label} in {frame}, confidence {}, outline {:?}", obstacle.confidence(), obstacle.outline());
        }
    }

    // `publish_copy` and `take_copy` work with the owned struct. Its `Default` implementation sets the defaults of the
    // definition.
    publisher.publish_copy(&Obstacle { kind: Obstacle::PERSON, label: "worker".into(), ..Obstacle::default() })?;
    if let Some((obstacle, info)) = subscription.take_copy()? {
        println!("message {}: {obstacle:?}", info.sequence);
    }

    let default = <ClearObstacles as Service>::Request::default();
    println!("{}: {default:?}", ClearObstacles::TYPE_NAME);
    println!("{}:\n{}", Obstacle::TYPE_NAME, Obstacle::DEFINITION);
    Ok(())
}
