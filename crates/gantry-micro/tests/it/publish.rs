//! Tests of publishers.

use crate::world::{Line, World};
use gantry_micro::{Durability, EntityState, Memory, PublishError, Publisher, Qos};
use gantry_msgs::{
    gantry_cdr::Message,
    geometry_msgs::msg::{Twist, Vector3},
    sensor_msgs::msg::{Imu, ImuShape, PointCloud2},
    std_msgs::msg::{HeaderShape, String as Text, StringShape},
};
use gantry_xrce::wire::ObjectKind;

/// Serialises a message as the copying methods do, without an encapsulation header.
fn body<M: Message>(message: &M) -> Vec<u8> {
    message.to_cdr().unwrap()[4..].to_vec()
}

#[test]
fn the_agent_is_asked_for_the_objects_of_ros_2() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Imu>::new());
    let mut world = World::new(&line, &mut memory);
    let qos = Qos { durability: Durability::TransientLocal, depth: 3, ..Qos::SENSOR_DATA };
    world.client.create_publisher(&publisher, "/robot/imu", qos).unwrap();
    world.until("the publisher is created", |_| publisher.state() == EntityState::Ready);
    assert_eq!(
        world.agent.created[..4],
        ["motor", "publisher", "subscriber", "rt/robot/imu sensor_msgs::msg::dds_::Imu_"]
    );
    assert!(world.agent.created[4].contains("QosFlags(10), history_depth: Some(3)"), "{:?}", world.agent.created);
    assert!(world.has_event("Created { name: \"/robot/imu\" }"));
}

#[test]
fn a_message_is_built_in_place_at_every_alignment() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<509, 3>::new(), Publisher::<Imu>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "imu", Qos::DEFAULT).unwrap();
    world.until("the publisher is created", |_| publisher.state() == EntityState::Ready);
    for sequence in 0..9 {
        let shape = ImuShape { header: HeaderShape { frame_id: "base" } };
        publisher
            .publish_with(&mut world.client, shape, |imu| {
                imu.header_mut().stamp_mut().sec = sequence;
                imu.linear_acceleration_mut().z = 9.81;
            })
            .unwrap();
        world.until("it arrives", |world| world.agent.written.len() == sequence as usize + 1);
        let mut expected = Imu::default();
        expected.header.frame_id = "base".into();
        expected.header.stamp.sec = sequence;
        expected.linear_acceleration.z = 9.81;
        assert_eq!(world.agent.written.last().unwrap().2, body(&expected));
    }
    assert_eq!(publisher.counts().sent, 9);
}

#[test]
fn a_struct_is_copied() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Twist>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "twist", Qos::SENSOR_DATA).unwrap();
    world.until("the publisher is created", |_| publisher.state() == EntityState::Ready);
    let twist = Twist { linear: Vector3 { x: 1.5, y: 0.0, z: 0.0 }, ..Twist::default() };
    publisher.publish(&mut world.client, &twist).unwrap();
    world.until("it arrives", |world| !world.agent.written.is_empty());
    assert_eq!(world.agent.written[0].0, ObjectKind::DATA_WRITER);
    assert_eq!(world.agent.written[0].2, body(&twist));
}

#[test]
fn a_long_message_goes_in_fragments_if_it_is_reliable() {
    let (line, mut memory) = (Line::default(), Memory::<512, 4>::new());
    let (reliable, best_effort) = (Publisher::<PointCloud2>::new(), Publisher::<PointCloud2>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&reliable, "cloud", Qos::DEFAULT).unwrap();
    world.client.create_publisher(&best_effort, "fast", Qos::SENSOR_DATA).unwrap();
    world.until("both are created", |_| [&reliable, &best_effort].iter().all(|p| p.state() == EntityState::Ready));
    let cloud = |bytes| {
        let cloud = PointCloud2 { data: (0..=255).cycle().take(bytes).collect(), ..PointCloud2::default() };
        body(&cloud)
    };
    // The last CREATE request occupies a slot until the agent acknowledges it.
    world.run_ms(10);
    // The stream has 4 slots of 512 bytes. A fragment has 500 bytes, and the data header 8.
    let longest = cloud(4 * 500 - 8 - cloud(0).len());
    reliable.publish_bytes(&mut world.client, &longest).unwrap();
    world.until("it arrives", |world| !world.agent.written.is_empty());
    assert_eq!(world.agent.written[0].2, longest);
    let too_long = cloud(longest.len());
    let error = PublishError::TooLarge { needed_bytes: too_long.len(), max_bytes: longest.len() };
    assert_eq!(reliable.publish_bytes(&mut world.client, &too_long), Err(error));
    let error = PublishError::TooLarge { needed_bytes: longest.len(), max_bytes: 496 };
    assert_eq!(best_effort.publish_bytes(&mut world.client, &longest), Err(error));
    assert_eq!((reliable.counts().too_long, best_effort.counts().too_long), (1, 1));
}

#[test]
fn several_messages_share_a_message_of_the_transport() {
    let (line, mut memory, publisher) = (Line::default(), Memory::<512, 4>::new(), Publisher::<Text>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_publisher(&publisher, "chatter", Qos::DEFAULT).unwrap();
    world.until("the publisher is created", |_| publisher.state() == EntityState::Ready);
    world.run_ms(50);
    let sent = world.client.counts().reliable_output.sent;
    for text in ["one", "two", "three"] {
        publisher.publish_with(&mut world.client, StringShape { data: text }, |_| {}).unwrap();
    }
    world.until("they arrive", |world| world.agent.written.len() == 3);
    for ((_, _, data), text) in world.agent.written.iter().zip(["one", "two", "three"]) {
        assert_eq!(*data, body(&Text { data: text.into() }));
    }
    assert_eq!(world.client.counts().reliable_output.sent, sent + 1);
}
