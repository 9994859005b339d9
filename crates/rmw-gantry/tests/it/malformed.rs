//! Tests of messages that do not have the type of their topic, from a program that breaks the protocol.

use crate::ros::*;
use gantry::{Node, Qos, ServiceTypeDescription, TypeDescription};
use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_void},
    ptr::null_mut,
};
use test_support::{PATIENCE, eventually, tests};

tests![
    a_malformed_message_is_lost_and_the_next_one_comes,
    one_take_passes_over_a_bounded_number_of_malformed_messages,
    a_malformed_message_is_no_loan,
    a_malformed_request_gets_no_answer_and_the_next_one_comes,
    a_malformed_response_is_lost_and_the_next_one_comes,
];

/// Creates a node of `gantry` in the domain of `ros`.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn intruder(ros: &Ros) -> Node {
    let domain_id = u32::try_from(ros.context.actual_domain_id).unwrap();
    Node::builder("intruder").domain_id(domain_id).build().unwrap()
}

/// The type of [`Point`], but with messages of any length, so that `gantry` does not refuse malformed ones.
fn any_size_type() -> TypeDescription {
    TypeDescription {
        name: "test_rmw/msg/Point".to_owned(),
        hash: [7; 32],
        payload_bytes: usize::MAX,
        ..TypeDescription::default()
    }
}

fn ask_of_any_size() -> ServiceTypeDescription {
    ServiceTypeDescription { name: "test_rmw/srv/Ask".to_owned(), request: any_size_type(), response: any_size_type() }
}

/// Publishes bytes on a topic of [`Point`], from another node in the domain of `ros`.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn publish_bytes(ros: &Ros, topic: &str, messages: &[&[u8]]) -> gantry::GenericPublisher {
    let qos = Qos::default().keep_last(10);
    let mut publisher = intruder(ros).create_generic_publisher(topic, any_size_type(), qos).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    for message in messages {
        publisher.publish_copy(message).unwrap();
    }
    publisher
}

fn lost(subscription: *const rmw_subscription_t) -> rmw_event_t {
    // SAFETY: all bits 0 are a valid event, which is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: the event is new, and this library made the subscription.
    let code = unsafe { rmw_subscription_event_init(&raw mut event, subscription, RMW_EVENT_MESSAGE_LOST) };
    assert_eq!(code, RMW_RET_OK);
    event
}

fn lost_count(event: &rmw_event_t) -> usize {
    // SAFETY: the status has only numbers, which may be 0.
    let mut status: rmw_message_lost_status_t = unsafe { std::mem::zeroed() };
    let mut taken = false;
    // SAFETY: this library initialized the event, and the status has the event's type.
    let code = unsafe { rmw_take_event(event, (&raw mut status).cast(), &raw mut taken) };
    assert_eq!((code, taken), (RMW_RET_OK, true));
    status.total_count
}

/// The CDR of a point with this number.
fn point(number: u64) -> Vec<u8> {
    [0f64.to_le_bytes(), number.to_le_bytes()].concat()
}

const TOPIC: &CStr = c"/malformed";

fn a_malformed_message_is_lost_and_the_next_one_comes() {
    let ros = Ros::new();
    let subscription = ros.subscription(TOPIC, &DEFAULT_QOS);
    let event = lost(subscription);
    let (first, last) = (point(1), point(2));
    let _intruder = publish_bytes(&ros, "/malformed", &[&[1, 2, 3], &[], &first, &[9], &last, &[0; 5]]);
    assert_eq!(take_numbers(subscription), [1, 2]);
    assert_eq!(lost_count(&event), 4);
    ros.end(&[], &[subscription]);
}

fn one_take_passes_over_a_bounded_number_of_malformed_messages() {
    let ros = Ros::new();
    let subscription = ros.subscription(TOPIC, &rmw_qos_profile_t { depth: 200, ..DEFAULT_QOS });
    let point = point(7);
    let mut messages = vec![&[1, 2, 3][..]; 100];
    messages.push(&point);
    let _intruder = publish_bytes(&ros, "/malformed", &messages);
    assert!(take(subscription).is_none(), "a call that goes on as long as malformed messages come");
    assert_eq!(take_numbers(subscription), [7]);
    ros.end(&[], &[subscription]);
}

fn a_malformed_message_is_no_loan() {
    let ros = Ros::new();
    let subscription = ros.subscription(TOPIC, &DEFAULT_QOS);
    let event = lost(subscription);
    let only = point(7);
    let _intruder = publish_bytes(&ros, "/malformed", &[&[1, 2, 3], &only, &[0; 17]]);
    for expected in [Some(7), None] {
        let (mut loan, mut taken) = (null_mut::<c_void>(), true);
        // SAFETY: this library made the subscription; the other pointers are outputs.
        let code = unsafe { rmw_take_loaned_message(subscription, &raw mut loan, &raw mut taken, null_mut()) };
        assert_eq!((code, taken), (RMW_RET_OK, expected.is_some()));
        // SAFETY: `loan` is null, or points to a loaned message, which is a point.
        let number = unsafe { loan.cast::<Point>().as_ref() }.map(|point| point.number);
        assert_eq!(number, expected);
        if taken {
            // SAFETY: the message is on loan from this subscription, and is not used again.
            assert_eq!(unsafe { rmw_return_loaned_message_from_subscription(subscription, loan) }, RMW_RET_OK);
        }
    }
    assert_eq!(lost_count(&event), 2);
    ros.end(&[], &[subscription]);
}

fn a_malformed_request_gets_no_answer_and_the_next_one_comes() {
    let (ros, qos) = (Ros::new(), &DEFAULT_QOS);
    // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
    let service = unsafe { rmw_create_service(ros.node, ask_type(), c"/ask".as_ptr(), qos) };
    let mut client = intruder(&ros).create_generic_client("/ask", ask_of_any_size()).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for body in [&[1, 2, 3][..], &point(8), &[]] {
        client.send_request_copy(body).unwrap();
    }
    for expected in [Some(8), None] {
        // SAFETY: the header has only numbers, which may be 0.
        let (mut header, mut asked, mut taken): (rmw_service_info_t, _, _) =
            (unsafe { std::mem::zeroed() }, Point::default(), true);
        // SAFETY: this library made the service; the request has its type, and the other pointers are outputs.
        let code = unsafe { rmw_take_request(service, &raw mut header, (&raw mut asked).cast(), &raw mut taken) };
        assert_eq!((code, taken.then_some(asked.number)), (RMW_RET_OK, expected));
    }
    // SAFETY: this library made the service, which is not used again.
    assert_eq!(unsafe { rmw_destroy_service(ros.node, service) }, RMW_RET_OK);
    ros.end(&[], &[]);
}

fn a_malformed_response_is_lost_and_the_next_one_comes() {
    let (ros, qos) = (Ros::new(), &DEFAULT_QOS);
    // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
    let client = unsafe { rmw_create_client(ros.node, ask_type(), c"/ask".as_ptr(), qos) };
    let mut server = intruder(&ros).create_generic_service("/ask", ask_of_any_size()).unwrap();
    eventually("the server is there", || {
        let mut is_there = false;
        // SAFETY: this library made the node and the client; the last pointer is an output.
        unsafe { rmw_service_server_is_available(ros.node, client, &raw mut is_there) };
        is_there
    });
    let (asked, mut sequence) = (Point::default(), 0);
    for response in [&[1, 2, 3][..], &point(9)] {
        // SAFETY: this library made the client; the request has its type, and the other pointer is an output.
        let code = unsafe { rmw_send_request(client, (&raw const asked).cast(), &raw mut sequence) };
        assert_eq!(code, RMW_RET_OK);
        assert!(server.wait(PATIENCE).unwrap());
        let request = server.take_request().unwrap().unwrap();
        server.send_response_copy(request.id(), response).unwrap();
    }
    for expected in [Some((2, 9)), None] {
        // SAFETY: the header has only numbers, which may be 0.
        let (mut header, mut answer, mut taken): (rmw_service_info_t, _, _) =
            (unsafe { std::mem::zeroed() }, Point::default(), true);
        // SAFETY: this library made the client; the response has its type, and the other pointers are outputs.
        let code = unsafe { rmw_take_response(client, &raw mut header, (&raw mut answer).cast(), &raw mut taken) };
        let found = taken.then_some((header.request_id.sequence_number, answer.number));
        assert_eq!((code, found), (RMW_RET_OK, expected));
    }
    // SAFETY: this library made the client, which is not used again.
    assert_eq!(unsafe { rmw_destroy_client(ros.node, client) }, RMW_RET_OK);
    ros.end(&[], &[]);
}
