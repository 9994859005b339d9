//! Messages of the tests, and the tests' code for Gantry's side of the bridge.

use crate::support::{Bridge, first_host, free_port, start};
use gantry::{Message, Node, Qos, SampleInfo, Subscription};
use gantry_msgs::{
    example_interfaces::srv::{AddTwoInts, AddTwoInts_Request, AddTwoInts_Response},
    rcl_interfaces::srv::{GetParameters, GetParameters_Request},
};
use std::net::TcpStream;
use test_support::{PATIENCE, eventually};
use xxhash_rust::xxh3::xxh3_64;

/// The number of samples that a test sends in each direction.
pub const COUNT: u64 = 20;
/// The number of images that a test sends in each direction.
pub const IMAGES: u64 = 4;
/// The number of calls that a test makes in each direction.
pub const CALLS: i64 = 10;
pub const WIDTH: u32 = 1920;
pub const HEIGHT: u32 = 1440;
/// The bytes of an image row, with three bytes for each pixel. An image has about 8 MB.
pub const STEP: u32 = 3 * WIDTH;

/// Starts the bridge of the test's host, and returns it with the port on which it accepts connections.
pub fn bridge(arguments: &[&str]) -> (Bridge, u16) {
    let port = free_port();
    let bridge = start(&first_host(), port, &[], arguments);
    eventually("the bridge listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    (bridge, port)
}

/// The next sample of a subscription.
#[track_caller]
pub fn next<T: Message>(subscription: &mut Subscription<T>) -> (Box<T>, SampleInfo) {
    assert!(subscription.wait(PATIENCE).unwrap(), "a sample arrives");
    subscription.take_copy().unwrap().expect("the sample that `wait` announced")
}

/// Waits until the far node `there` has one publisher of `/from_there` and one subscription to `/from_here` in the
/// graph, with this QoS. The graph may also have a subscription of the bridge itself to `/from_here`.
pub fn expect_far_endpoints(here: &Node, qos: Qos) {
    eventually("the far endpoints are in the graph, with their QoS", || {
        let publishers = here.publishers_info_by_topic("/from_there").unwrap();
        let subscriptions = here.subscriptions_info_by_topic("/from_here").unwrap();
        [publishers, subscriptions].iter().all(|infos| {
            let far: Vec<_> = infos.iter().filter(|info| info.node_name == "there").collect();
            far.len() == 1 && far[0].qos_profile == qos
        })
    });
}

/// Serves sums on `/add_here`, as long as the node is spun and the result is kept.
pub fn serve_sums(here: &Node) -> impl Sized + use<> {
    let service = here.create_service_with_callback::<AddTwoInts>("/add_here", |service, request| {
        service.send_response_copy(request.id(), &AddTwoInts_Response { sum: request.a + request.b }).unwrap();
    });
    service.unwrap()
}

/// Calls the service `/add_there` of the far side, and checks each sum.
pub fn check_far_sums(here: &Node) {
    let mut client = here.create_client::<AddTwoInts>("/add_there").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for number in 1..=CALLS {
        let response = client.call_copy(&AddTwoInts_Request { a: number, b: 1000 }, PATIENCE).unwrap();
        assert_eq!(response.sum, number + 1000);
    }
}

/// Checks that the parameter `speed` of the far node `there` is 50.
pub fn check_far_speed(here: &Node) {
    let mut client = here.create_client::<GetParameters>("/there/get_parameters").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let request = GetParameters_Request { names: vec!["speed".to_owned()] };
    let response = client.call_copy(&request, PATIENCE).unwrap();
    assert_eq!(response.sample().to_message().unwrap().values[0].integer_value, 50);
}

/// The bytes of the image with this number. Each image has different bytes.
pub fn pixels(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()
    });
    (0..STEP * HEIGHT / 8).flat_map(|_| words.next().unwrap()).collect()
}

/// The checksum of an image's bytes.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
