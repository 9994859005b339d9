//! Tests of services between local nodes and plain Zenoh sessions.

use crate::support::*;
use gantry::{ServiceType, ServiceTypeDescription};
use gantry_msgs::{
    rcl_interfaces::srv::{GetParameters, GetParameters_Request},
    std_srvs::srv::{SetBool, SetBool_Response},
};
use test_support::{PATIENCE, eventually};
use zenoh::{
    Wait,
    query::{ConsolidationMode, QueryTarget},
};

/// The type name and the hash of SetBool, as keys and tokens have them.
fn set_bool() -> String {
    let digits: String = SetBool::TYPE_HASH.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("std_srvs::srv::dds_::SetBool_/RIHS01_{digits}")
}

/// A response of SetBool: encapsulation and CDR body.
fn response(text: &str) -> Vec<u8> {
    let body = [&[1, 0, 0, 0], &(text.len() as u32 + 1).to_le_bytes()[..], text.as_bytes(), &[0]].concat();
    [&[0, 1, 0, 0], &body[..]].concat()
}

#[test]
fn a_far_client_calls_a_local_server() {
    in_host("services::a_far_client_calls_a_local_server", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        let arm = node("arm");
        let mut service = arm.create_service::<SetBool>("/arm/enable").unwrap();
        let type_and_hash = set_bool();
        tokens.expect(&format!("/SS/%/%/arm/%arm%enable/{type_and_hash}/::,10:,:,:,,"));

        let key = format!("0/arm/enable/{type_and_hash}");
        let of_client = token(&raw, 1, "SC", "asker", &format!("%arm%enable/{type_and_hash}/::,10:,:,:,,"));
        // The first call has no delay, because rmw_zenoh's clients call as soon as they see the server's token.
        let _token = raw.liveliness().declare_token(of_client.clone()).wait().unwrap();
        for number in 1..=3 {
            let sent = attachment(number, 1_700_000_000_000_000_000, gid(&of_client));
            let builder = raw.get(&key).target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
            let replies = builder.payload(vec![0, 1, 0, 0, 1]).attachment(sent.clone()).wait().unwrap();
            assert!(service.wait(PATIENCE).unwrap());
            let request = service.take_request().unwrap().expect("the request arrives");
            assert!(request.data());
            let answer = SetBool_Response { success: true, message: format!("call {number}") };
            service.send_response_copy(request.id(), &answer).unwrap();
            let reply = replies.recv_timeout(PATIENCE).unwrap().expect("a reply");
            let sample = reply.result().unwrap();
            assert_eq!(sample.key_expr().as_str(), key);
            assert_eq!(sample.payload().to_bytes(), response(&format!("call {number}")));
            let found = sample.attachment().unwrap().to_bytes().into_owned();
            assert_eq!((&found[..8], &found[16..]), (&sent[..8], &sent[16..]), "the request's number and GID");
            assert_ne!(found[8..16], sent[8..16], "the reply's time");
            assert!(replies.recv().is_err(), "one reply");
        }
        assert!(service.take_request().unwrap().is_none());
        drop(service);
        eventually("the server is gone", || tokens.find("/SS/").is_none());
    });
}

#[test]
fn a_call_reaches_a_server_whose_type_has_no_known_hash() {
    in_host("services::a_call_reaches_a_server_whose_type_has_no_known_hash", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        let arm = node("arm");
        let mut of_action = ServiceTypeDescription::for_service::<SetBool>();
        of_action.name = "demo/action/Walk_CancelGoal".to_owned();
        of_action.request.name = format!("{}_Request", of_action.name);
        of_action.response.name = format!("{}_Response", of_action.name);
        let mut service = arm.create_generic_service("/walk/_action/cancel", of_action).unwrap();
        let of_type = "demo::action::dds_::Walk_CancelGoal_";
        let shown = format!("/SS/%/%/arm/%walk%_action%cancel/{of_type}/");
        tokens.expect(&format!("{shown}TypeHashNotSupported"));

        // A client of rmw_zenoh calls as soon as it sees the server's token. Its own token may arrive later.
        let hash = format!("RIHS01_{}", "5a".repeat(32));
        let key = format!("0/walk/_action/cancel/{of_type}/{hash}");
        let of_client = token(&raw, 1, "SC", "asker", &format!("%walk%_action%cancel/{of_type}/{hash}/::,10:,:,:,,"));
        let mut client = None;
        for number in 1..=3 {
            let builder = raw.get(&key).target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
            let sent = attachment(number, 1_700_000_000_000_000_000, gid(&of_client));
            let replies = builder.payload(vec![0, 1, 0, 0, 1]).attachment(sent).wait().unwrap();
            assert!(service.wait(PATIENCE).unwrap());
            let request = service.take_request().unwrap().expect("the request arrives");
            service.send_response_copy(request.id(), &response("walked")[4..]).unwrap();
            let reply = replies.recv_timeout(PATIENCE).unwrap().expect("a reply");
            let sample = reply.result().unwrap();
            assert_eq!(
                (sample.key_expr().as_str(), sample.payload().to_bytes().len()),
                (&*key, response("walked").len())
            );
            client.get_or_insert_with(|| raw.liveliness().declare_token(of_client.clone()).wait().unwrap());
            tokens.expect(&format!("{shown}{hash}"));
        }
    });
}

#[test]
fn a_local_client_calls_a_far_server() {
    in_host("services::a_local_client_calls_a_far_server", |_| {
        let port = free_port();
        let _bridge = start(&first_host(), port, &[], &[]);
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        let type_and_hash = set_bool();
        let key = format!("0/arm/enable/{type_and_hash}");
        let queries = raw.declare_queryable(&key).complete(true).wait().unwrap();
        let of_server = token(&raw, 1, "SS", "arm", &format!("%arm%enable/{type_and_hash}/::,10:,:,:,,"));
        let server = raw.liveliness().declare_token(of_server).wait().unwrap();

        let asker = node("asker");
        eventually("the far server is in the graph", || {
            asker.node_names().unwrap().contains(&"/arm".to_owned())
                && asker.count_services("/arm/enable").unwrap() == 1
        });
        let mut client = asker.create_client::<SetBool>("/arm/enable").unwrap();
        let of_client = tokens.expect(&format!("/SC/%/%/asker/%arm%enable/{type_and_hash}/::,10:,:,:,,"));
        assert!(client.wait_for_service(PATIENCE).unwrap());
        for number in 1..=3 {
            let mut request = client.loan_request().unwrap();
            request.set_data(true);
            let id = client.send_request(request).unwrap();
            let query = queries.recv_timeout(PATIENCE).unwrap().expect("the request arrives");
            assert_eq!(query.payload().unwrap().to_bytes(), [0, 1, 0, 0, 1].as_slice());
            let sent = query.attachment().unwrap().to_bytes().into_owned();
            assert_eq!((&sent[..8], &sent[17..]), (&i64::to_le_bytes(number)[..], &gid(&of_client)[..]));
            for text in ["first", "second"] {
                query.reply(&key, response(text)).attachment(sent.clone()).wait().unwrap();
            }
            drop(query);
            assert!(client.wait(PATIENCE).unwrap());
            let response = client.take_response().unwrap().expect("a response");
            assert_eq!((response.id(), response.message()), (id, "first"));
        }
        assert!(client.take_response().unwrap().is_none(), "one response for each request");
        server.undeclare().wait().unwrap();
        eventually("the server is gone", || !client.service_is_ready().unwrap());
    });
}

#[test]
#[ignore = "a program of the test below"]
fn robot() {
    let robot = node("robot");
    robot.declare_parameter("rate_hz", 5.0).unwrap();
    let answer = robot.create_service_with_callback::<SetBool>("/robot/enable", |service, request| {
        let answer = SetBool_Response { success: request.data(), message: "from far away".to_owned() };
        service.send_response_copy(request.id(), &answer).unwrap();
    });
    let _service = answer.unwrap();
    gantry::spin(&robot).unwrap();
}

#[test]
fn services_and_parameters_cross_two_bridges() {
    in_host("services::services_and_parameters_cross_two_bridges", |second| {
        let (a, b) = (free_port(), free_port());
        let _bridges = [start(&first_host(), a, &[], &[]), start(second, b, &[a], &[])];
        let _robot = in_other_host("services::robot", second, &[]);
        let asker = node("asker");
        let mut client = asker.create_client::<SetBool>("/robot/enable").unwrap();
        assert!(client.wait_for_service(PATIENCE).unwrap());
        for is_on in [true, false, true] {
            let mut request = client.loan_request().unwrap();
            request.set_data(is_on);
            let response = client.call(request, PATIENCE).unwrap();
            assert_eq!((response.success(), response.message()), (is_on, "from far away"));
        }
        let mut parameters = asker.create_client::<GetParameters>("/robot/get_parameters").unwrap();
        assert!(parameters.wait_for_service(PATIENCE).unwrap());
        let request = GetParameters_Request { names: vec!["rate_hz".to_owned()] };
        let response = parameters.call_copy(&request, PATIENCE).unwrap();
        assert_eq!(response.sample().to_message().unwrap().values[0].double_value, 5.0);
    });
}

#[test]
fn a_client_calls_a_server_over_a_hub() {
    in_host("services::a_client_calls_a_server_over_a_hub", |second| {
        let [of_server, of_hub, port] = [(); 3].map(|()| free_port());
        let _near = start(&first_host(), of_server, &[of_hub], &["--network", "one"]);
        let _hub = [
            start(second, of_hub, &[of_server], &["--network", "one", "--hub"]),
            start(second, port, &[], &["--network", "two", "--hub"]),
        ];
        let arm = node("arm");
        let mut service = arm.create_service::<SetBool>("/arm/enable").unwrap();
        let raw = session(port);
        let tokens = Tokens::watch(&raw);
        let type_and_hash = set_bool();
        let of_client = token(&raw, 1, "SC", "asker", &format!("%arm%enable/{type_and_hash}/::,10:,:,:,,"));
        let _token = raw.liveliness().declare_token(of_client.clone()).wait().unwrap();
        tokens.expect(&format!("/SS/%/%/arm/%arm%enable/{type_and_hash}/"));
        for number in 1..=3 {
            let builder = raw.get(format!("0/arm/enable/{type_and_hash}")).target(QueryTarget::AllComplete);
            let builder = builder.consolidation(ConsolidationMode::None).payload(vec![0, 1, 0, 0, 1]);
            let replies = builder.attachment(attachment(number, 1, gid(&of_client))).wait().unwrap();
            assert!(service.wait(PATIENCE).unwrap());
            let request = service.take_request().unwrap().expect("the request arrives");
            let answer = SetBool_Response { success: true, message: format!("call {number}") };
            service.send_response_copy(request.id(), &answer).unwrap();
            let reply = replies.recv_timeout(PATIENCE).unwrap().expect("a reply");
            assert_eq!(reply.result().unwrap().payload().to_bytes(), response(&format!("call {number}")));
            assert!(replies.recv().is_err(), "one reply");
            assert!(service.take_request().unwrap().is_none(), "one request");
        }
    });
}
