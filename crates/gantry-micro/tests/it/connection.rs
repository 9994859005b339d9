//! Tests of connections to agents that come and go.

use crate::world::{Line, World};
use gantry_micro::{EntityState, Memory, PublishError, Publisher, Qos, Subscription};
use gantry_msgs::{geometry_msgs::msg::Twist, std_msgs::msg::Bool};

#[test]
fn a_restart_of_the_agent_is_noticed_within_a_second() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let (publisher, subscription) = (Publisher::<Twist>::new(), Subscription::<Bool, 1, 8>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "twist", Qos::SENSOR_DATA).unwrap();
    world.client.create_subscription(&subscription, "stop", Qos::DEFAULT).unwrap();
    world.until("all is created", |_| {
        publisher.state() == EntityState::Ready && subscription.state() == EntityState::Ready
    });
    let before = world.agent.objects.clone();
    world.agent.restart();
    let restarted_us = world.now_us;
    world.until("the session ends", |world| world.has_event("reason: Unknown"));
    assert_eq!(publisher.publish(&mut world.client, &Twist::default()), Err(PublishError::NotConnected));
    world.until("data flows", |world| {
        let _ = publisher.publish(&mut world.client, &Twist::default());
        !world.agent.written.is_empty()
    });
    assert!(world.now_us - restarted_us < 1_000_000, "{} µs", world.now_us - restarted_us);
    world.until("all is created again", |world| world.agent.objects == before);
}

#[test]
fn an_agent_that_is_away_is_noticed_and_met_again() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Twist>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "twist", Qos::DEFAULT).unwrap();
    world.until("it is created", |_| publisher.state() == EntityState::Ready);
    world.is_agent_away = true;
    publisher.publish(&mut world.client, &Twist::default()).unwrap();
    world.until("the client notices", |world| world.has_event("reason: Silent, forgotten: 1"));
    assert_eq!(publisher.state(), EntityState::Waiting);
    world.run_ms(5_000);
    world.is_agent_away = false;
    world.agent.restart();
    let returned_us = world.now_us;
    world.until("it is created again", |_| publisher.state() == EntityState::Ready);
    assert!(world.now_us - returned_us < 1_000_000, "{} µs", world.now_us - returned_us);
}

#[test]
fn a_closed_client_stays_closed_until_it_is_opened() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Twist>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "twist", Qos::DEFAULT).unwrap();
    world.until("it is created", |_| publisher.state() == EntityState::Ready);
    let now = world.now();
    world.client.close(now);
    world.until("it is closed", |world| world.has_event("reason: Closed"));
    world.run_ms(2_000);
    assert!(!world.client.is_connected() && world.client.deadline().is_none());
    world.client.open();
    world.until("it is created again", |_| publisher.state() == EntityState::Ready);
}

#[test]
fn many_entities_are_created_although_the_session_has_few_slots() {
    let (line, mut memory) = (Line::default(), Memory::<256, 1>::new());
    let publishers: [Publisher<Twist>; 20] = std::array::from_fn(|_| Publisher::new());
    let names: Vec<String> = (0..20).map(|index| format!("topic_{index}")).collect();
    let mut world = World::new(&line, &mut memory);
    for (publisher, name) in publishers.iter().zip(&names) {
        world.client.create_publisher(publisher, name, Qos::DEFAULT).unwrap();
    }
    world.until("all are created", |_| publishers.iter().all(|publisher| publisher.state() == EntityState::Ready));
    assert_eq!(world.agent.objects.len(), 3 + 2 * publishers.len());
}
