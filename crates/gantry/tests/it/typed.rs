//! Tests of ROS 2 messages of any length between processes (in place and by copying), of loans, and of malformed
//! messages.

use crate::support::*;
use allocations::count;
use gantry::{
    Error, Message, Node, Publisher, Qos, TypeDescription,
    gantry_cdr::{MAX_DEFAULT_BYTES, View},
};
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    example_interfaces::srv::AddTwoInts,
    geometry_msgs::msg::{Point, PoseWithCovariance, Twist, Vector3},
    sensor_msgs::msg::{
        Image, ImageShape, Imu, ImuShape, JointState, JointStateShape, PointCloud2, PointCloud2Shape, PointField,
        PointFieldShape,
    },
    std_msgs::msg::{Header, HeaderShape},
    std_srvs::srv::{SetBool_Request, SetBool_Response, SetBool_ResponseShape},
};

tests![
    messages_of_any_length_come_from_another_process_in_place_and_by_copying,
    a_shape_above_a_bound_is_refused_with_field_and_bound,
    bytes_that_are_no_such_message_are_passed_over_and_named,
    a_copy_is_checked_too,
    a_copy_keeps_its_allocations,
    a_loan_that_could_not_be_published_comes_back_whole,
    a_plain_message_is_assigned_as_a_whole,
    the_data_path_of_messages_of_any_length_allocates_nothing,
    a_loan_of_a_plain_message_starts_from_its_defaults,
    a_loan_of_a_view_starts_from_its_defaults,
    requests_and_responses_on_loan_start_from_their_defaults,
    a_loan_without_defaults_holds_an_older_message,
    a_list_that_does_not_fit_is_an_error_of_the_library,
];

const WIDTH: u32 = 64;
const HEIGHT: u32 = 48;
const NAMES: [&str; 3] = ["hip", "knee", ""];

pub fn image() -> Image {
    Image {
        header: Header { stamp: Time { sec: 5, nanosec: 6 }, frame_id: "camera".into() },
        height: HEIGHT,
        width: WIDTH,
        encoding: "rgb8".into(),
        step: WIDTH * 3,
        data: (0..WIDTH * HEIGHT * 3).map(|place| place as u8).collect(),
        ..Image::default()
    }
}

pub fn cloud() -> PointCloud2 {
    let field = |name: &str, offset| PointField { name: name.into(), offset, datatype: PointField::FLOAT32, count: 1 };
    PointCloud2 {
        header: Header { stamp: Time { sec: -1, nanosec: 999_999_999 }, frame_id: "lidar".into() },
        height: 1,
        width: 100,
        fields: vec![field("x", 0), field("intensity", 4)],
        point_step: 8,
        row_step: 800,
        data: (0..800_u32).map(|place| (place / 3) as u8).collect(),
        is_dense: true,
        ..PointCloud2::default()
    }
}

pub fn joints() -> JointState {
    JointState {
        header: Header { frame_id: "é".into(), ..Header::default() },
        name: NAMES.map(str::to_owned).into(),
        position: vec![0.5, -1.0, f64::MAX],
        velocity: vec![],
        effort: vec![1.0],
    }
}

/// The publishers of the child process. For each line of input, the child publishes all messages: the first two times
/// in place, then by copying.
pub struct Talker {
    images: Publisher<Image>,
    clouds: Publisher<PointCloud2>,
    joints: Publisher<JointState>,
    requests: Publisher<SetBool_Request>,
    responses: Publisher<SetBool_Response>,
}

impl Talker {
    pub fn new(node: &Node, topic: &str) -> Talker {
        Talker {
            images: node.create_publisher(&format!("{topic}/image"), Qos::default()).unwrap(),
            clouds: node.create_publisher(&format!("{topic}/cloud"), Qos::default()).unwrap(),
            joints: node.create_publisher(&format!("{topic}/joints"), Qos::default()).unwrap(),
            requests: node.create_publisher(&format!("{topic}/request"), Qos::default()).unwrap(),
            responses: node.create_publisher(&format!("{topic}/response"), Qos::default()).unwrap(),
        }
    }

    pub fn publish_in_place(&mut self) {
        let message = image();
        let shape =
            ImageShape { header: HeaderShape { frame_id: "camera" }, encoding: "rgb8", data: message.data.len() };
        let mut loan = self.images.loan_with(shape).unwrap();
        loan.header_mut().stamp_mut().sec = 5;
        loan.header_mut().stamp_mut().nanosec = 6;
        loan.set_height(HEIGHT);
        loan.set_width(WIDTH);
        loan.set_step(WIDTH * 3);
        loan.data_mut().copy_from_slice(&message.data);
        self.images.publish(loan).unwrap();

        let message = cloud();
        let fields = [PointFieldShape { name: "x" }, PointFieldShape { name: "intensity" }];
        let shape =
            PointCloud2Shape { header: HeaderShape { frame_id: "lidar" }, fields: &fields, data: message.data.len() };
        let mut loan = self.clouds.loan_with(shape).unwrap();
        *loan.header_mut().stamp_mut() = message.header.stamp;
        loan.set_height(message.height);
        loan.set_width(message.width);
        loan.fields_mut().assign(&message.fields).unwrap();
        loan.set_point_step(message.point_step);
        loan.set_row_step(message.row_step);
        loan.data_mut().copy_from_slice(&message.data);
        loan.set_is_dense(true);
        self.clouds.publish(loan).unwrap();

        let header = HeaderShape { frame_id: "é" };
        let shape = JointStateShape { header, name: &NAMES, position: 3, velocity: 0, effort: 1 };
        let mut loan = self.joints.loan_with(shape).unwrap();
        loan.position_mut().copy_from_slice(&joints().position);
        loan.effort_mut()[0] = 1.0;
        self.joints.publish(loan).unwrap();

        let mut loan = self.requests.loan().unwrap();
        loan.set_data(true);
        self.requests.publish(loan).unwrap();

        let mut loan = self.responses.loan_with(SetBool_ResponseShape { message: "done" }).unwrap();
        loan.set_success(true);
        self.responses.publish(loan).unwrap();
    }

    pub fn publish_copies(&mut self) {
        self.images.publish_copy(&image()).unwrap();
        self.clouds.publish_copy(&cloud()).unwrap();
        self.joints.publish_copy(&joints()).unwrap();
        self.requests.publish_copy(&SetBool_Request { data: true }).unwrap();
        self.responses.publish_copy(&SetBool_Response { success: true, message: "done".into() }).unwrap();
    }
}

/// The type description of a subscription to `T`, for generic endpoints.
fn description<T: Message>() -> TypeDescription {
    TypeDescription {
        name: T::TYPE_NAME.into(),
        hash: T::TYPE_HASH,
        definition: T::DEFINITION.into(),
        payload_bytes: T::MAX_BYTES,
    }
}

fn messages_of_any_length_come_from_another_process_in_place_and_by_copying() {
    let (mut peer, node) = (start_child("message-talker", "/any"), node());
    macro_rules! subscribe {
        ($($name:ident: $message:ty = $topic:literal),*) => {$(
            let mut $name = node.create_subscription::<$message>($topic, Qos::default()).unwrap();
            assert_eq!($name.publisher_count().unwrap(), 1);
        )*};
    }
    subscribe!(images: Image = "/any/image", clouds: PointCloud2 = "/any/cloud", joint_states: JointState = "/any/joints");
    subscribe!(requests: SetBool_Request = "/any/request", responses: SetBool_Response = "/any/response");
    let (request, response) =
        (SetBool_Request { data: true }, SetBool_Response { success: true, message: "done".into() });
    for _ in ["in place", "by copying"] {
        peer.say("");
        macro_rules! check {
            ($($subscription:ident: $expected:expr),*) => {$(
                assert!($subscription.wait(PATIENCE).unwrap());
                let sample = $subscription.take().unwrap().unwrap();
                assert_eq!(*View::to_message(&*sample).unwrap(), $expected);
            )*};
        }
        check!(images: image(), clouds: cloud(), joint_states: joints(), requests: request, responses: response);
    }
    peer.say("");
    macro_rules! check_copies {
        ($($subscription:ident: $expected:expr),*) => {$(
            assert!($subscription.wait(PATIENCE).unwrap());
            let (message, info) = $subscription.take_copy().unwrap().unwrap();
            assert_eq!((*message, info.sequence), ($expected, 3));
        )*};
    }
    check_copies!(images: image(), clouds: cloud(), joint_states: joints(), requests: request, responses: response);
    peer.finish();
}

fn a_shape_above_a_bound_is_refused_with_field_and_bound() {
    use gantry_msgs::performance_test::msg::{BoundedSequence1k, BoundedSequence1kShape};
    let mut publisher = node().create_publisher::<BoundedSequence1k>("bound", Qos::default()).unwrap();
    let most = 1024;
    publisher.loan_with(BoundedSequence1kShape { bounded_sequence: most }).unwrap();
    let told =
        publisher.loan_with(BoundedSequence1kShape { bounded_sequence: most + 1 }).map(drop).unwrap_err().to_string();
    let expected = format!(
        "a performance_test/msg/BoundedSequence1k for /bound cannot be built: `bounded_sequence` at byte 0: its length is {} and \
         may be {most}",
        most + 1
    );
    assert_eq!(told, expected);
    let too_long = BoundedSequence1k { bounded_sequence: vec![0; most + 1], ..BoundedSequence1k::default() };
    assert_eq!(publisher.publish_copy(&too_long).unwrap_err().to_string(), expected);
}

/// The beginning of the error sentence about a malformed sample of this process.
fn a_sample_of_this_process() -> String {
    let program = std::env::current_exe().unwrap();
    let name = program.file_name().unwrap().to_string_lossy();
    format!("a sample of /tester in {name} (pid {})", std::process::id())
}

fn bytes_that_are_no_such_message_are_passed_over_and_named() {
    let (node, qos) = (node(), Qos::default().keep_last(8));
    let mut publisher = node.create_generic_publisher("noise", description::<JointState>(), qos).unwrap();
    let mut subscription = node.create_subscription::<JointState>("noise", qos).unwrap();
    let good = &joints().to_cdr().unwrap()[4..];
    // The offset of the length of the second name. The stamp, the frame_id, the number of names and the first name
    // precede it.
    let at = good.windows(4).position(|window| window == b"hip\0").unwrap() + 4;
    let bad = [&good[..at], &u32::MAX.to_le_bytes(), &good[at + 4..]].concat();
    publisher.publish_copy(&bad).unwrap();
    publisher.publish_copy(&[]).unwrap();
    publisher.publish_copy(good).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
    let error = subscription.take().map(drop).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    let left = good.len() - at - 4;
    assert_eq!(
        error.to_string(),
        format!(
            "{} on /noise is not a valid sensor_msgs/msg/JointState: `name[1]` at byte {}: 4294967295 bytes are needed \
             and {left} are left; the sample was skipped",
            a_sample_of_this_process(),
            at + 4
        )
    );
    assert_eq!(
        subscription.take().map(drop).unwrap_err().to_string(),
        format!(
            "{} on /noise is not a valid sensor_msgs/msg/JointState: `header.stamp` at byte 0: 8 bytes are needed and \
             0 are left; the sample was skipped",
            a_sample_of_this_process()
        )
    );
    assert_eq!(subscription.malformed(), 2);
    let sample = subscription.take().unwrap().unwrap();
    assert!(sample.name().eq(NAMES));
    assert!(subscription.take().unwrap().is_none());
}

fn a_copy_is_checked_too() {
    let (node, qos) = (node(), Qos::default().keep_last(8));
    let mut publisher = node.create_generic_publisher("copies", description::<SetBool_Request>(), qos).unwrap();
    let mut subscription = node.create_subscription::<SetBool_Request>("copies", qos).unwrap();
    for byte in [2, 1] {
        publisher.publish_copy(&[byte]).unwrap();
    }
    assert!(subscription.wait(PATIENCE).unwrap());
    assert_eq!(
        subscription.take_copy().unwrap_err().to_string(),
        format!(
            "{} on /copies is not a valid std_srvs/srv/SetBool_Request: `data` at byte 0: a boolean is 2; it may be 0 \
             or 1; the sample was skipped",
            a_sample_of_this_process()
        )
    );
    assert_eq!(subscription.malformed(), 1);
    assert!(subscription.take_copy().unwrap().unwrap().0.data);
}

fn a_copy_keeps_its_allocations() {
    let (node, qos) = (node(), Qos::default().keep_last(8));
    let mut publisher = node.create_publisher::<Image>("kept_allocations", qos).unwrap();
    let mut subscription = node.create_subscription::<Image>("kept_allocations", qos).unwrap();
    let mut kept = Image::default();
    for number in 0..3 {
        publisher.publish_copy(&image()).unwrap();
        assert!(subscription.wait(PATIENCE).unwrap());
        let counts = count(|| assert!(subscription.take_copy_into(&mut kept).unwrap().is_some()));
        assert_eq!(kept, image());
        assert!(number == 0 || counts.allocations == 0, "{counts:?}");
    }
}

fn a_loan_that_could_not_be_published_comes_back_whole() {
    let node = node();
    let [mut own, mut other] =
        ["own", "other"].map(|topic| node.create_publisher::<SetBool_Response>(topic, Qos::default()).unwrap());
    let mut subscription = node.create_subscription::<SetBool_Response>("own", Qos::default()).unwrap();
    let mut loan = own.loan_with(SetBool_ResponseShape { message: "whole" }).unwrap();
    loan.set_success(true);
    let unpublished = other.publish(loan).unwrap_err();
    assert!(unpublished.to_string().contains("another publisher"), "{unpublished}");
    let loan = unpublished.loan;
    assert_eq!((loan.success(), loan.message()), (true, "whole"));
    assert_eq!(own.publish(loan).unwrap(), 1);
    assert!(subscription.wait(PATIENCE).unwrap());
    let sample = subscription.take().unwrap().unwrap();
    assert_eq!((sample.success(), sample.message()), (true, "whole"));
}

fn a_plain_message_is_assigned_as_a_whole() {
    let node = node();
    let mut publisher = node.create_publisher::<Point>("plain", Qos::default()).unwrap();
    let mut subscription = node.create_subscription::<Point>("plain", Qos::default()).unwrap();
    let mut loan = publisher.loan().unwrap();
    *loan = Point { x: 1.0, y: 2.0, z: 3.0 };
    loan.z += 1.0;
    publisher.publish(loan).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
    assert_eq!(*subscription.take().unwrap().unwrap(), Point { x: 1.0, y: 2.0, z: 4.0 });
}

fn the_data_path_of_messages_of_any_length_allocates_nothing() {
    let node = node();
    let mut publisher = node.create_publisher::<PointCloud2>("quiet", Qos::default()).unwrap();
    let mut subscription = node.create_subscription::<PointCloud2>("quiet", Qos::default()).unwrap();
    assert_eq!((publisher.subscription_count().unwrap(), subscription.publisher_count().unwrap()), (1, 1));
    let fields = [PointFieldShape { name: "x" }, PointFieldShape { name: "intensity" }];
    let message = cloud();
    let mut cycle = |number: usize| {
        let shape = PointCloud2Shape {
            header: HeaderShape { frame_id: &"a frame of some length"[..number % 20] },
            fields: &fields[..number % 3],
            data: 3000 + number % 200,
        };
        let mut loan = publisher.loan_with(shape).unwrap();
        loan.header_mut().stamp_mut().sec = number as i32;
        loan.fields_mut().assign(&message.fields[..number % 3]).unwrap();
        loan.data_mut().fill(number as u8);
        publisher.publish(loan).unwrap();
        let sample = subscription.take().unwrap().unwrap();
        assert_eq!((sample.header().frame_id().len(), sample.fields().len()), (number % 20, number % 3));
        assert!(sample.fields().zip(&message.fields).all(|(got, expected)| got.name() == expected.name));
        assert_eq!((sample.data().len(), sample.header().stamp().sec), (3000 + number % 200, number as i32));
    };
    // All messages of the test fit into slots of one size, because the engine reuses a free slot only for messages of
    // the slot's size.
    (0..5000).for_each(&mut cycle);
    let counts = count(|| (0..20_000).for_each(&mut cycle));
    assert_eq!((counts.allocations, counts.frees), (0, 0));
}

/// The number of messages after which the publisher has used every slot.
const USED: usize = 40;

fn a_loan_of_a_plain_message_starts_from_its_defaults() {
    let node = node();
    let mut publisher = node.create_publisher::<Twist>("fresh/twist", Qos::default()).unwrap();
    let mut subscription = node.create_subscription::<Twist>("fresh/twist", Qos::default().keep_last(1)).unwrap();
    for _ in 0..USED {
        let mut twist = publisher.loan().unwrap();
        twist.angular.z = 9.0;
        publisher.publish(twist).unwrap();
    }
    let mut twist = publisher.loan().unwrap();
    twist.linear.x = 0.5;
    publisher.publish(twist).unwrap();
    assert!(subscription.wait(PATIENCE).unwrap());
    let expected = Twist { linear: Vector3 { x: 0.5, ..Vector3::default() }, ..Twist::default() };
    assert_eq!(*subscription.take().unwrap().unwrap(), expected);

    let mut poses = node.create_publisher::<PoseWithCovariance>("fresh/pose", Qos::default()).unwrap();
    for _ in 0..USED {
        let mut pose = poses.loan().unwrap();
        pose.pose.orientation.w = 0.0;
        pose.pose.position.x = 3.0;
        pose.covariance = [7.0; 36];
        poses.publish(pose).unwrap();
    }
    let pose = poses.loan().unwrap();
    assert_eq!(*pose, PoseWithCovariance::default());
    assert_eq!((pose.pose.orientation.w, pose.covariance), (1.0, [0.0; 36]), "the definition's default");
}

fn a_loan_of_a_view_starts_from_its_defaults() {
    let node = node();
    let shape = ImuShape { header: HeaderShape { frame_id: "imu" } };
    let mut publisher = node.create_publisher::<Imu>("fresh/imu", Qos::default()).unwrap();
    for _ in 0..USED {
        let mut imu = publisher.loan_with(shape).unwrap();
        imu.orientation_covariance_mut().fill(7.0);
        imu.angular_velocity_mut().x = 1.0;
        publisher.publish(imu).unwrap();
    }
    let imu = publisher.loan_with(shape).unwrap();
    let expected = Imu { header: Header { frame_id: "imu".into(), ..Header::default() }, ..Imu::default() };
    assert_eq!(*View::to_message(&*imu).unwrap(), expected);

    let shape = |data| ImageShape { header: HeaderShape { frame_id: "" }, encoding: "mono8", data };
    let mut publisher = node.create_publisher::<Image>("fresh/image", Qos::default()).unwrap();
    for _ in 0..USED {
        let mut image = publisher.loan_with(shape(MAX_DEFAULT_BYTES + 1)).unwrap();
        image.data_mut().fill(7);
        publisher.publish(image).unwrap();
    }
    let image = publisher.loan_with(shape(MAX_DEFAULT_BYTES)).unwrap();
    assert!(image.data().iter().all(|byte| *byte == 0), "a small sequence starts from zeros");
}

fn requests_and_responses_on_loan_start_from_their_defaults() {
    let node = node();
    let mut service = node.create_service::<AddTwoInts>("fresh/add").unwrap();
    let mut client = node.create_client::<AddTwoInts>("fresh/add").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for _ in 0..USED {
        let mut request = client.loan_request().unwrap();
        assert_eq!((request.a, request.b), (0, 0));
        (request.a, request.b) = (1, 2);
        client.send_request(request).unwrap();
        assert!(service.wait(PATIENCE).unwrap());
        let request = service.take_request().unwrap().unwrap();
        let mut response = service.loan_response(request.id()).unwrap();
        assert_eq!(response.sum, 0);
        response.sum = request.a + request.b;
        service.send_response(request.id(), response).unwrap();
        assert!(client.wait(PATIENCE).unwrap());
        assert_eq!(client.take_response().unwrap().unwrap().sum, 3);
    }
}

fn a_loan_without_defaults_holds_an_older_message() {
    let node = node();
    let mut publisher = node.create_publisher::<Twist>("older/twist", Qos::default()).unwrap();
    let mut old = publisher.loan_uninit().unwrap();
    *old = Twist { linear: Vector3::default(), angular: Vector3 { x: 0.0, y: 0.0, z: 9.0 } };
    publisher.publish(old).unwrap();
    let mut loans: Vec<_> = (0..USED).map(|_| publisher.loan_uninit().unwrap()).collect();
    assert!(loans.iter().any(|loan| loan.angular.z == 9.0), "nothing was written to the slot");
    loans.clear();
    let mut publisher = node.create_publisher::<JointState>("older/joints", Qos::default()).unwrap();
    let shape = JointStateShape { position: 3, effort: 1, ..JointStateShape::DEFAULT };
    let mut joints = publisher.loan_uninit_with(shape).unwrap();
    joints.position_mut().fill(1.0);
    assert_eq!((joints.position(), joints.effort().len()), (&[1.0; 3][..], 1));
}

fn a_list_that_does_not_fit_is_an_error_of_the_library() {
    fn publish(publisher: &mut Publisher<PointCloud2>, fields: &[PointField]) -> gantry::Result<()> {
        let shape = PointCloud2Shape { fields: &[PointFieldShape { name: "x" }][..], ..PointCloud2Shape::DEFAULT };
        let mut cloud = publisher.loan_with(shape)?;
        cloud.fields_mut().assign(fields)?;
        publisher.publish(cloud)?;
        Ok(())
    }
    let mut publisher = node().create_publisher::<PointCloud2>("misfit", Qos::default()).unwrap();
    let field = |name: &str| PointField { name: name.into(), ..PointField::default() };
    publish(&mut publisher, &[field("y")]).unwrap();
    let error = publish(&mut publisher, &[field("intensity")]).unwrap_err();
    assert!(matches!(error, Error::Cdr(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "`fields[0].name` of sensor_msgs/msg/PointCloud2: its length is 9 and was fixed as 1 when the message was built"
    );
    let error = publish(&mut publisher, &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "`fields` of sensor_msgs/msg/PointCloud2: its length is 0 and was fixed as 1 when the message was built"
    );
}
