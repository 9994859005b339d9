//! Tests of the errors that functions return to the application.

use crate::world::{Line, World};
use gantry_micro::{CreateError, EntityState, Memory, PublishError, Publisher, Qos, StatusValue, Subscription};
use gantry_msgs::{
    geometry_msgs::msg::Twist,
    std_msgs::msg::{String as Text, StringShape},
};

#[test]
fn without_a_session_nothing_is_published() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Twist>::new());
    let mut world = World::new(&line, &mut memory);
    assert_eq!(publisher.publish(&mut world.client, &Twist::default()), Err(PublishError::NotConnected));
    world.client.create_publisher(&publisher, "twist", Qos::DEFAULT).unwrap();
    assert_eq!(publisher.publish(&mut world.client, &Twist::default()), Err(PublishError::NotConnected));
}

#[test]
fn a_full_session_refuses_and_takes_again() {
    for qos in [Qos::DEFAULT, Qos::SENSOR_DATA] {
        let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Text>::new());
        let mut world = World::new(&line, &mut memory);
        world.client.create_publisher(&publisher, "chatter", qos).unwrap();
        world.until("it is created", |_| publisher.state() == EntityState::Ready);
        world.run_ms(50);
        line.is_busy.set(true);
        let text = "x".repeat(400);
        let shape = StringShape { data: &text };
        let mut accepted = 0;
        let error = loop {
            match publisher.publish_with(&mut world.client, shape, |_| {}) {
                Ok(()) => accepted += 1,
                Err(error) => break error,
            }
            world.step();
        };
        assert_eq!(error, PublishError::Full { needed_slots: 1, free_slots: 0 });
        assert_eq!(publisher.counts().full, 1);
        assert!(world.client.deadline().unwrap() < world.now(), "a message waits for the line");
        line.is_busy.set(false);
        world.until("all arrive", |world| world.agent.written.len() == accepted);
        world.until("there is room again", |world| publisher.publish_with(&mut world.client, shape, |_| {}).is_ok());
    }
}

#[test]
fn a_message_that_never_fits_is_refused_with_its_length() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Text>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "chatter", Qos::DEFAULT).unwrap();
    world.until("it is created", |_| publisher.state() == EntityState::Ready);
    let text = "x".repeat(600);
    let error = publisher.publish_with(&mut world.client, StringShape { data: &text }, |_| {}).unwrap_err();
    assert_eq!(error, PublishError::TooLarge { needed_bytes: 605, max_bytes: 496 });
    assert!(error.to_string().contains("605 bytes and may have 496"), "{error}");
}

#[test]
fn a_refusal_of_the_agent_reaches_the_caller() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let (good, bad) = (Publisher::<Twist>::new(), Publisher::<Twist>::new());
    let mut world = World::new(&line, &mut memory);
    world.agent.refused = Some("rt/bad");
    world.client.create_publisher(&good, "good", Qos::DEFAULT).unwrap();
    world.client.create_publisher(&bad, "bad", Qos::DEFAULT).unwrap();
    world.until("both are answered", |_| ![&good, &bad].iter().any(|p| p.state() == EntityState::Waiting));
    assert_eq!(good.state(), EntityState::Ready);
    assert_eq!(bad.state(), EntityState::Refused(StatusValue::DENIED));
    assert!(world.has_event("Refused { name: \"bad\""));
    let error = bad.publish(&mut world.client, &Twist::default()).unwrap_err();
    assert_eq!(error, PublishError::Refused(StatusValue::DENIED));
    good.publish(&mut world.client, &Twist::default()).unwrap();
}

#[test]
fn a_record_is_created_once_and_its_name_fits() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let (publisher, subscription) = (Publisher::<Twist>::new(), Subscription::<Twist, 1, 48>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "twist", Qos::DEFAULT).unwrap();
    assert_eq!(world.client.create_publisher(&publisher, "twist", Qos::DEFAULT), Err(CreateError::AlreadyCreated));
    let name: &'static str = "a".repeat(400).leak();
    assert_eq!(
        world.client.create_subscription(&subscription, name, Qos::DEFAULT),
        Err(CreateError::NameTooLong { name_bytes: 400 })
    );
    world.client.create_subscription(&subscription, "twist", Qos::DEFAULT).unwrap();
    world.until("it is created", |_| subscription.state() == EntityState::Ready);
}

#[test]
fn a_description_that_is_longer_than_the_memory_is_refused() {
    let (line, mut memory) = (Line::default(), Memory::<63, 1>::new());
    let publisher = Publisher::<Twist>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "a_name_that_does_not_fit", Qos::DEFAULT).unwrap();
    world.until("it is refused", |_| publisher.state() == EntityState::Refused(StatusValue::RESOURCES));
    assert!(world.has_event("Refused { name: \"a_name_that_does_not_fit\""));
}
