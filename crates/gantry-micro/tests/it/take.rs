//! Tests of subscriptions.

use crate::world::{Line, World};
use gantry_micro::{EntityState, Memory, Qos, Subscription};
use gantry_msgs::{
    gantry_cdr::Message,
    geometry_msgs::msg::{Twist, Vector3},
    std_msgs::msg::String as Text,
};
use gantry_xrce::wire::ObjectKind;

const READER: ObjectKind = ObjectKind::DATA_READER;

fn twist(x: f64) -> Vec<u8> {
    Twist { linear: Vector3 { x, y: 0.0, z: 0.0 }, ..Twist::default() }.to_cdr().unwrap()[4..].to_vec()
}

fn text(data: &str) -> Vec<u8> {
    Text { data: data.into() }.to_cdr().unwrap()[4..].to_vec()
}

/// Lets the agent send messages one by one, so that none is lost.
fn send(world: &mut World<'_>, bodies: &[Vec<u8>]) {
    for body in bodies {
        world.until("the agent has room", |world| world.agent.send(READER, &[], body));
        world.run_ms(20);
    }
}

#[test]
fn messages_are_taken_in_order_and_in_place() {
    for qos in [Qos::DEFAULT, Qos::SENSOR_DATA] {
        let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
        let subscription = Subscription::<Twist, 4, 48>::new();
        let mut world = World::new(&line, &mut memory);
        world.client.create_subscription(&subscription, "cmd_vel", qos).unwrap();
        world.until("it is created", |world| !world.agent.reads.is_empty());
        assert!(subscription.take().unwrap().is_none());
        send(&mut world, &[twist(1.0), twist(2.0), twist(3.0)]);
        for x in [1.0, 2.0, 3.0] {
            assert_eq!(subscription.take().unwrap().unwrap().linear.x, x);
        }
        assert!(subscription.take().unwrap().is_none());
        assert_eq!((subscription.counts().received, subscription.counts().overwritten), (3, 0));
    }
}

#[test]
fn a_full_queue_keeps_the_last_and_counts() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let subscription = Subscription::<Twist, 2, 48>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_subscription(&subscription, "cmd_vel", Qos::DEFAULT).unwrap();
    world.until("it is created", |world| !world.agent.reads.is_empty());
    send(&mut world, &[twist(1.0), twist(2.0), twist(3.0), twist(4.0), twist(5.0)]);
    assert_eq!((subscription.counts().received, subscription.counts().overwritten), (5, 3));
    let held = subscription.take().unwrap().unwrap();
    assert_eq!(held.linear.x, 4.0);
    // The slot of the message that the test holds is in use, and must not be overwritten.
    send(&mut world, &[twist(6.0)]);
    assert_eq!((subscription.counts().received, subscription.counts().overwritten), (5, 4));
    assert_eq!(held.linear.x, 4.0);
    drop(held);
    send(&mut world, &[twist(7.0)]);
    assert_eq!(subscription.take().unwrap().unwrap().linear.x, 5.0);
    assert_eq!(subscription.take().unwrap().unwrap().linear.x, 7.0);
    assert!(subscription.take().unwrap().is_none());
}

#[test]
fn what_cannot_be_taken_is_counted() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let subscription = Subscription::<Text, 4, 16>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_subscription(&subscription, "chatter", Qos::DEFAULT).unwrap();
    world.until("it is created", |world| !world.agent.reads.is_empty());
    send(&mut world, &[text("more than 16 bytes of text"), vec![255; 8], text("fits")]);
    assert!(subscription.take().is_err());
    assert_eq!(subscription.take().unwrap().unwrap().data(), "fits");
    let counts = subscription.counts();
    assert_eq!((counts.received, counts.too_long, counts.invalid), (2, 1, 1));
}

#[test]
fn fragments_are_assembled_and_oversize_is_reported() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let subscription = Subscription::<Text, 1, 1400>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_subscription(&subscription, "chatter", Qos::DEFAULT).unwrap();
    world.until("it is created", |world| !world.agent.reads.is_empty());
    let long = "x".repeat(1300);
    send(&mut world, &[text(&long)]);
    assert_eq!(subscription.take().unwrap().unwrap().data(), long);
    // The session can assemble messages of up to 3 × 512 bytes, so it loses the first message.
    send(&mut world, &[text(&"y".repeat(1600)), text("after")]);
    assert!(world.has_event("Loss(Oversize { length_bytes: 16"), "{:?}", world.events);
    assert_eq!(subscription.take().unwrap().unwrap().data(), "after");
}

#[test]
fn the_queue_is_filled_while_the_subscription_is_created_again() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let subscription = Subscription::<Twist, 4, 48>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_subscription(&subscription, "cmd_vel", Qos::DEFAULT).unwrap();
    world.until("it is created", |world| !world.agent.reads.is_empty());
    send(&mut world, &[twist(1.0)]);
    world.agent.restart();
    world.until("it is created again", |world| !world.agent.reads.is_empty());
    world.until("the client knows", |_| subscription.state() == EntityState::Ready);
    send(&mut world, &[twist(2.0)]);
    assert_eq!(subscription.take().unwrap().unwrap().linear.x, 1.0);
    assert_eq!(subscription.take().unwrap().unwrap().linear.x, 2.0);
}
