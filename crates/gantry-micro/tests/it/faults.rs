//! Tests over lines that lose messages.

use crate::world::{Line, World};
use gantry_micro::{EntityState, Memory, PublishError, Publisher, Qos, Subscription};
use gantry_msgs::{gantry_cdr::Message, std_msgs::msg::UInt32};
use gantry_xrce::wire::ObjectKind;

const MESSAGES: u32 = 300;

#[test]
fn reliable_messages_arrive_once_and_in_order() {
    for loss in [0.0, 0.05, 0.2] {
        let (line, mut memory) = (Line::default(), Memory::<128, 4>::new());
        let (publisher, subscription) = (Publisher::<UInt32>::new(), Subscription::<UInt32, 16, 8>::new());
        let mut world = World::new(&line, &mut memory);
        world.client.create_publisher(&publisher, "up", Qos::DEFAULT).unwrap();
        world.client.create_subscription(&subscription, "down", Qos::DEFAULT).unwrap();
        world.until("all is created", |world| publisher.state() == EntityState::Ready && !world.agent.reads.is_empty());
        line.loss.set(loss);
        let (mut up, mut down, mut taken) = (0, 0, 0);
        world.until("all arrive", |world| {
            match publisher.publish(&mut world.client, &UInt32 { data: up }) {
                Ok(()) if up < MESSAGES => up += 1,
                Ok(()) => {}
                Err(error) => assert!(matches!(error, PublishError::Full { .. }), "{error}"),
            }
            let body = UInt32 { data: down }.to_cdr().unwrap();
            if down < MESSAGES && world.agent.send(ObjectKind::DATA_READER, &[], &body[4..]) {
                down += 1;
            }
            while let Some(message) = subscription.take().unwrap() {
                assert_eq!(message.data, taken);
                taken += 1;
            }
            taken == MESSAGES && world.agent.written.len() > MESSAGES as usize
        });
        for (index, (_, _, data)) in (0..MESSAGES).zip(&world.agent.written) {
            assert_eq!(data, &index.to_le_bytes());
        }
        let counts = subscription.counts();
        assert_eq!((counts.received, counts.overwritten, counts.invalid), (MESSAGES, 0, 0));
        assert!(!world.has_event("Disconnected") && !world.has_event("Loss"), "{:?}", world.events);
    }
}

#[test]
fn lost_best_effort_messages_are_reported() {
    let (line, mut memory) = (Line::default(), Memory::<128, 4>::new());
    let subscription = Subscription::<UInt32, 16, 8>::new();
    let mut world = World::new(&line, &mut memory);
    world.client.create_subscription(&subscription, "down", Qos::SENSOR_DATA).unwrap();
    world.until("it is created", |world| !world.agent.reads.is_empty());
    line.loss.set(0.2);
    for data in 0..100_u32 {
        world.until("the agent has room", |world| world.agent.send(ObjectKind::DATA_READER, &[], &data.to_le_bytes()));
        world.step();
        while subscription.take().unwrap().is_some() {}
    }
    line.loss.set(0.0);
    world.until("the last one is sent", |world| world.agent.send(ObjectKind::DATA_READER, &[], &[0; 4]));
    world.run_ms(5);
    let lost = world.client.counts().best_effort_input.lost;
    assert!(lost > 0 && world.has_event("Loss(BestEffort"));
    assert_eq!(subscription.counts().received + lost, 101);
}
