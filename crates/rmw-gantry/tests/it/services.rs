//! Tests of services whose clients do not take their responses.

use crate::ros::*;
use gantry::{GenericClient, Node, Qos, ServiceTypeDescription, TypeDescription};
use rmw_abi::bindings::*;
use std::ffi::CStr;
use test_support::{PATIENCE, eventually, ignore, in_small_tmpfs, say, tests, why_no_small_tmpfs};

tests![
    a_client_that_takes_no_responses_ends_no_server,
    in_a_full_file_system_a_client_that_takes_no_responses_ends_no_server,
];

/// The argument that makes this program a child process, which uses a small file system.
pub const ANSWER: &str = "--answer";

#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn client(node: &Node, service_name: &str) -> GenericClient {
    let of_any_size = |name: &str| TypeDescription {
        name: format!("test_rmw/msg/{name}"),
        hash: [7; 32],
        payload_bytes: usize::MAX,
        ..TypeDescription::default()
    };
    let service_type = ServiceTypeDescription {
        name: "test_rmw/srv/Load".to_owned(),
        request: of_any_size("Point"),
        response: of_any_size("Bytes"),
    };
    let mut client = node.create_generic_client_with_qos(service_name, service_type, Qos::services_default()).unwrap();
    client.set_requires_server(false); // permits more requests than the depth
    eventually("the server is matched", || client.server_count().unwrap() == 1);
    client
}

/// Sends a request, and lets the server respond with these bytes. `number` becomes the first byte of the response.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn answer(client: &mut GenericClient, service: *const rmw_service_t, bytes: &mut [u8], number: u8) {
    client.send_request_copy(&[0; 16]).unwrap();
    // SAFETY: the header has only numbers, which may be 0.
    let (mut header, mut asked, mut taken): (rmw_service_info_t, _, _) =
        (unsafe { std::mem::zeroed() }, Point::default(), false);
    eventually("the request arrives", || {
        // SAFETY: this library made the service; the request has its type, and the other pointers are outputs.
        let code = unsafe { rmw_take_request(service, &raw mut header, (&raw mut asked).cast(), &raw mut taken) };
        assert_eq!(code, RMW_RET_OK);
        taken
    });
    bytes[0] = number;
    let mut response = Bytes { data: bytes.as_mut_ptr(), size: bytes.len(), capacity: bytes.len() };
    // SAFETY: this library made the service; the id is of its request, and the response has its type.
    let code = unsafe { rmw_send_response(service, &raw mut header.request_id, (&raw mut response).cast()) };
    assert_eq!(code, RMW_RET_OK, "response {number}");
}

#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn take_all(client: &mut GenericClient) -> Vec<gantry::GenericResponse> {
    std::iter::from_fn(|| client.take_response().unwrap()).collect()
}

fn a_client_that_takes_no_responses_ends_no_server() {
    // Each response is as large as a map or an image: 22 responses fill the client's limit of 1 GiB.
    outlast_an_idle_client(c"/load", 48_000_000);
}

/// The file system is as small as Docker's shared memory, 64 MB: it has room for twelve responses of this test.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn in_a_full_file_system_a_client_that_takes_no_responses_ends_no_server() {
    let directory = tempfile::tempdir().unwrap();
    if let Some(why) = why_no_small_tmpfs(directory.path()) {
        ignore(why);
    }
    let mut server = in_small_tmpfs(directory.path(), &[ANSWER]);
    let output = server.env("GANTRY_SHM_DIR", directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "lost and counted\n");
}

/// The role of the child: here the file system is full long before the client's limit is reached.
pub fn answer_in_a_small_file_system() {
    outlast_an_idle_client(c"/small", 5_000_000);
    say("lost and counted");
}

/// Sends more responses than memory can hold to a client that takes none, and then answers another client.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn outlast_an_idle_client(service_name: &CStr, response_bytes: usize) {
    let ros = Ros::new();
    // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
    let service = unsafe { rmw_create_service(ros.node, load_type(), service_name.as_ptr(), &DEFAULT_QOS) };
    let domain_id = u32::try_from(ros.context.actual_domain_id).unwrap();
    let node = Node::builder("idler").domain_id(domain_id).build().unwrap();
    let [mut idle, mut other] = [(); 2].map(|()| client(&node, service_name.to_str().unwrap()));
    let mut bytes = vec![0; response_bytes];
    const SENT: u8 = 25;
    (1..=SENT).for_each(|number| answer(&mut idle, service, &mut bytes, number));
    // The newest responses replaced the oldest ones, and the client has counted the lost ones.
    let held = take_all(&mut idle);
    let numbers: Vec<u8> = held.iter().map(|response| response.bytes()[4]).collect();
    assert!((1..SENT.into()).contains(&numbers.len()), "{numbers:?}");
    assert_eq!(numbers, (SENT + 1 - numbers.len() as u8..=SENT).collect::<Vec<_>>());
    assert_eq!(usize::try_from(idle.received().unwrap()).unwrap(), SENT.into(), "the lost ones were counted");
    // The responses that the client holds leave no room, so the next responses are lost.
    (26..=30).for_each(|number| answer(&mut idle, service, &mut bytes, number));
    let more = take_all(&mut idle);
    assert!(more.len() < 5, "{} more", more.len());
    answer(&mut other, service, &mut bytes[..100], 31);
    assert!(other.wait(PATIENCE).unwrap());
    assert_eq!(take_all(&mut other).iter().map(|response| response.bytes()[4]).collect::<Vec<_>>(), [31]);
    drop((held, more));
    answer(&mut idle, service, &mut bytes, 32);
    assert!(idle.wait(PATIENCE).unwrap());
    assert_eq!(take_all(&mut idle).iter().map(|response| response.bytes()[4]).collect::<Vec<_>>(), [32]);
    // SAFETY: this library made the service, which is not used again.
    assert_eq!(unsafe { rmw_destroy_service(ros.node, service) }, RMW_RET_OK);
    ros.end(&[], &[]);
}
